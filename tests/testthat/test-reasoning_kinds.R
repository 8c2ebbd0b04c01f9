test_that("texts of two kinds are never put together, and what is left out is said", {
  data <- data.frame(
    reasoning_text = c("one", "two", "three", NA), reasoning_kind = c("raw", "summary", NA, "none"),
    stringsAsFactors = FALSE
  )
  of_kind <- texts_of_one_kind(data)
  expect_identical(of_kind$data$reasoning_text, c("one", NA, "three", NA))
  expect_warning(say_of_kind(of_kind), '1 text left out, which are of the kind "summary"')
  expect_identical(texts_of_one_kind(data, wanted = "summary")$data$reasoning_text, c(NA, "two", NA, NA))
})

test_that("summaries alone are taken, and called so", {
  data <- data.frame(reasoning_text = c("one", "two"), reasoning_kind = "summary", stringsAsFactors = FALSE)
  of_kind <- texts_of_one_kind(data)
  expect_identical(of_kind$data, data)
  expect_message(say_of_kind(of_kind), "summaries that their providers wrote")
})

test_that("data without the column are left as they are, and another kind than these is refused", {
  data <- data.frame(reasoning_text = "one")
  expect_identical(texts_of_one_kind(data)$data, data)
  expect_error(texts_of_one_kind(data, wanted = "encrypted"), "reasoning_kind")
})

test_that("a topic model of mixed texts is that of the raw ones", {
  skip_without_stm()
  trials <- made_talk()
  trials$reasoning_kind <- rep(c("raw", "raw", "summary"), length.out = nrow(trials))
  found <- fit_talk(trials)
  expect_match(found$messages$text, "left out, which are of the kind", all = FALSE)
  expect_equal(found$tables$topics, fit_talk(subset(trials, reasoning_kind == "raw"))$tables$topics)
})
