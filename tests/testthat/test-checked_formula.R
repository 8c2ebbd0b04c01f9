columns <- c("tokens", "condition", "wording", "model")

test_that("the formulas of the papers pass as they are", {
  for (text in c(
    "tokens ~ condition + (1 | wording)", "tokens ~ condition * model + (1 + condition || wording)",
    "log(tokens) ~ poly(wording, 2) + I(wording^2):model - 1 + (0 + condition | wording)",
    "log1p(tokens) ~ scale(wording, center = TRUE) / condition", "~ condition * model"
  )) {
    expect_equal(deparse1(checked_formula(text, columns)), deparse1(as.formula(text)))
  }
})

test_that("whatever could run code is refused, and named", {
  hostile <- c(
    "tokens ~ system('touch /tmp/owned')" = "\"system\" is not allowed",
    "tokens ~ `system`(wording)" = "\"system\" is not allowed",
    "tokens ~ base::system(wording)" = "\"base::system\" is not allowed",
    "tokens ~ base::I(wording)" = "\"base::I\" is not allowed",
    "tokens ~ I(eval(wording))" = "\"eval\" is not allowed",
    "tokens ~ (function() 1)()" = "is not allowed",
    "tokens ~ (\\(x) x)(wording)" = "is not allowed",
    "tokens ~ wording[[1]]" = "\"[[\" is not allowed",
    "tokens ~ wording$a" = "\"$\" is not allowed",
    "tokens ~ {wording}" = "\"{\" is not allowed",
    "tokens ~ (wording <- 1)" = "\"<-\" is not allowed",
    "tokens ~ \"wording\"" = "is not allowed",
    "tokens ~ condition ~ model" = "\"~\" is not allowed",
    "tokens ~ 1i" = "0+1i is not allowed",
    "tokens ~ log(, 2)" = "an argument is missing",
    "tokens ~ ." = "\".\" is not a column"
  )
  for (text in names(hostile)) {
    expect_error(checked_formula(text, columns), hostile[[text]], fixed = TRUE)
  }
})

test_that("hostile code is not run while it is refused", {
  file <- withr::local_tempfile()
  expect_error(checked_formula(sprintf("tokens ~ I(file.create('%s'))", file), columns), "file.create")
  expect_false(file.exists(file))
})

test_that("what is no formula is refused", {
  expect_error(checked_formula("tokens + condition", columns), "it has no ~")
  expect_error(checked_formula("tokens ~ condition; tokens ~ 1", columns), "exactly one R expression")
  expect_error(checked_formula("tokens ~ (condition", columns), "exactly one R expression")
  expect_error(checked_formula("", columns), "exactly one R expression")
  expect_error(checked_formula(c("tokens ~ 1", "tokens ~ 2"), columns), "one string")
  expect_error(checked_formula(NA_character_, columns), "one string")
  expect_error(checked_formula(strrep("(", 3000), columns), "at most 2,000 bytes")
})

test_that("an unknown column is named, with the nearest one", {
  expect_error(checked_formula("tokens ~ conditon", columns), "Did you mean \"condition\"?", fixed = TRUE)
})

test_that("a column may hide a function's name, and a strange name needs backticks", {
  expect_silent(checked_formula("tokens ~ system", c("tokens", "system")))
  expect_silent(checked_formula("tokens ~ `my column`", c("tokens", "my column")))
})

test_that("a formula object is checked alike, and forgets where it came from", {
  secret <- "mine"
  formula <- checked_formula(tokens ~ condition, columns)
  expect_false(exists("secret", envir = environment(formula), inherits = FALSE))
  expect_identical(parent.env(environment(formula)), baseenv())
  expect_error(checked_formula(tokens ~ get("secret"), columns), "\"get\" is not allowed")
})

test_that("what R would multiply out for hours is refused at once", {
  hostile <- c(
    "tokens ~ wording^1e8" = "a power of terms must be a whole number from 1 to 10",
    "tokens ~ condition + (1 | wording^1e8)" = "a power of terms",
    "tokens ~ (condition + wording)^-1" = "a power of terms",
    "tokens ~ wording^2.5" = "a power of terms",
    "tokens ~ wording^wording" = "a power of terms",
    "tokens ~ wording^TRUE" = "a power of terms"
  )
  for (text in names(hostile)) expect_error(checked_formula(text, columns), hostile[[text]], fixed = TRUE)
  factors <- sprintf("x%d", 1:25)
  for (text in c(
    paste("tokens ~", paste(factors, collapse = " * ")), sprintf("tokens ~ (%s)^10", paste(factors, collapse = " + ")),
    sprintf("~ ((((%s)^10)^10)^10)^10", paste(factors, collapse = " + "))
  )) {
    expect_error(checked_formula(text, c("tokens", factors)), "it has more than 500 terms", fixed = TRUE)
  }
})

test_that("powers of numbers, and of a few terms, pass", {
  for (text in c(
    "tokens^0.5 ~ I(wording^25)", "tokens ~ (condition + wording + model)^3", "tokens ~ log(I(wording^1e3))"
  )) {
    expect_s3_class(checked_formula(text, columns), "formula")
  }
})
