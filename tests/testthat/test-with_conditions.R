test_that("warnings, messages and output are kept in their order, and the value comes back", {
  heard <- expect_silent(with_conditions(function() {
    message("first")
    warning("second")
    print("printed")
    message("third")
    42
  }))
  expect_equal(heard$value, 42)
  expect_equal(heard$conditions$kind, c("message", "warning", "message"))
  expect_equal(heard$conditions$text, c("first", "second", "third"))
  expect_equal(heard$output, "[1] \"printed\"")
})

test_that("an error is kept as the last row and the value is NULL", {
  heard <- with_conditions(function() {
    warning("before")
    stop("no more")
  })
  expect_null(heard$value)
  expect_equal(heard$conditions, data.frame(kind = c("warning", "error"), text = c("before", "no more")))
})

test_that("a quiet function has no rows and no output", {
  heard <- with_conditions(function() NULL)
  expect_equal(nrow(heard$conditions), 0)
  expect_equal(heard$output, "")
  expect_named(heard$conditions, c("kind", "text"))
})

test_that("warnings stay warnings when R is told to turn them into errors", {
  withr::local_options(warn = 2)
  heard <- with_conditions(function() {
    warning("only this")
    "done"
  })
  expect_equal(heard$value, "done")
  expect_equal(heard$conditions$kind, "warning")
})
