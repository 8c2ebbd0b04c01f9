carrying <- function() {
  withr::with_seed(5, {
    rows <- expand.grid(respondent = 1:60, item = letters[1:4], stringsAsFactors = FALSE)
    trait <- stats::rnorm(60)[rows$respondent]
    rows$rating <- pmin(7, pmax(1, round(4 + ifelse(rows$item == "d", -1, 1) * trait + stats::rnorm(240))))
    rows$scale <- "trait"
    rows$key <- ifelse(rows$item == "d", "-1", "1") # a column of text, as attributes are
    cbind(rows, low = 1, high = 7)
  })
}
keys <- data.frame(scale = "trait", item = letters[1:4], key = c(1, 1, 1, -1))

test_that("rows that carry their keys have the reliability of these keys", {
  found <- run_fit("reliability", carrying(), list(outcome = "rating"))
  direct <- scale_reliability(carrying(), keys, c(1, 7))
  expect_equal(found$tables$scales$alpha_raw, direct$scales$alpha_raw)
  expect_equal(found$tables$items$item_rest_r, direct$items$item_rest_r)
  expect_equal(found$tables$scores$score, direct$scores$score)
  expect_equal(found$estimates$estimate[[1]], direct$scales$alpha_raw)
  expect_equal(found$estimates$term[[1]], "trait: alpha")
})

test_that("a key that was not applied is a doubt of the fit, and scales of two lengths are no scale", {
  found <- run_fit("reliability", transform(carrying(), key = 1), list(outcome = "rating"))
  expect_equal(found$fits$status, "warned")
  expect_match(found$fits$messages, "Against the rest of the scale: \"d\"")
  mixed <- transform(carrying(), high = ifelse(respondent > 30, 5, 7))
  expect_match(run_fit("reliability", mixed, list(outcome = "rating"))$fits$error, "Scales of different lengths")
})

test_that("checks take limits and keys from columns, too", {
  of_columns <- check_acquiescence(carrying(), keys = c("scale", "item", "key"), limits = c("low", "high"))
  expect_equal(of_columns, check_acquiescence(carrying(), keys, c(1, 7)))
  expect_equal(check_scale_use(carrying(), limits = c("low", "high"))$n_points, 7)
})
