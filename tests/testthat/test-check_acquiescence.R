keys <- data.frame(scale = "calm", item = c("calm", "relaxed", "tense", "nervous"), key = c(1, 1, -1, -1))
answers <- function(agreement = 0) {
  withr::with_seed(6, {
    trait <- rep(sample(2:4, 40, TRUE), 4)
    item <- rep(keys$item, each = 40)
    plain <- ifelse(item %in% c("calm", "relaxed"), trait, 8 - trait) + sample(-1:1, 160, TRUE)
    data.frame(respondent = rep(1:40, 4), item = item, rating = pmin(7, plain + agreement))
  })
}

test_that("agreement with everything is found, and leaves the balanced mean as it is", {
  plain <- check_acquiescence(answers(), keys, c(1, 7))
  agreeing <- check_acquiescence(answers(1), keys, c(1, 8))
  expect_gt(plain$p_value, .05)
  expect_equal(agreeing$acquiescence - plain$acquiescence, .5, tolerance = .2)
  turned <- check_acquiescence(transform(answers(), rating = rating + (rating < 6)), keys, c(1, 7))
  expect_lt(turned$p_value, .001)
})

test_that("half the difference of the halves is tested over respondents", {
  rows <- answers()
  found <- check_acquiescence(rows, keys, c(1, 7))
  half <- function(items, turn) tapply(rows$rating[rows$item %in% items], rows$respondent[rows$item %in% items], mean)
  difference <- (half(keys$item[1:2]) - (8 - half(keys$item[3:4]))) / 2
  expect_equal(found$p_value, stats::t.test(difference)$p.value)
  expect_equal(found$balanced_mean, (found$mean_positive + found$mean_negative) / 2)
})

test_that("a scale whose items are all worded one way has no halves", {
  found <- check_acquiescence(answers(), transform(keys, key = 1), c(1, 7))
  expect_match(found$messages, "no items of both keys")
})

test_that("p of all scales and models are corrected together", {
  rows <- expand.grid(respondent = 1:8, item = c("up", "down"), model = c("a", "b"), stringsAsFactors = FALSE)
  rows$rating <- withr::with_seed(1, sample(1:7, nrow(rows), TRUE))
  keys <- data.frame(scale = "s", item = c("up", "down"), key = c(1, -1))
  found <- check_acquiescence(rows, keys, c(1, 7), by = "model")
  expect_equal(found$p_holm, stats::p.adjust(found$p_value, "holm"))
  expect_equal(found$detectable, minimum_detectable_effect(found$std_error, rep(7, 2)))
})
