test_that("the difference is that of the medians, and the interval that of the drawn ones", {
  trials <- made_trials()
  found <- median_difference(trials, n_draws = 500)
  medians <- tapply(trials$tokens, trials$condition, median)
  expect_equal(found$estimates$estimate, medians[["incompatible"]] - medians[["compatible"]])
  drawn <- with_seed(20250930, drawn_medians(split(trials$tokens, trials$condition), 500))
  expect_equal(c(found$estimates$conf_low, found$estimates$conf_high), unname(quantile(drawn, c(.025, .975))))
  expect_equal(found$estimates$p_value, 1 / 500)
})

test_that("the same seed gives the same draws, and the session's random numbers stay", {
  trials <- made_trials()
  withr::local_seed(3)
  before <- .Random.seed
  first <- median_difference(trials, n_draws = 50)$estimates
  expect_identical(.Random.seed, before)
  expect_identical(median_difference(trials, n_draws = 50)$estimates, first)
  expect_false(identical(median_difference(trials, n_draws = 50, seed = 2)$estimates, first))
})

test_that("without an effect p is far from 0, and half of the ties count", {
  trials <- made_trials(effect = 0)
  expect_gt(median_difference(trials, n_draws = 200)$estimates$p_value, .05)
  same <- data.frame(condition = rep(conditions, each = 20), tokens = rep(c(64, 64, 64, 128), 10))
  found <- median_difference(same, n_draws = 200)
  expect_equal(found$estimates$p_value, 1)
  expect_match(found$fits$messages, "differ by the same in nearly all draws")
})

test_that("wrong arguments are one sentence", {
  said <- "`n_draws` must be a whole number from 2, but is 1.5"
  expect_error(median_difference(made_trials(), n_draws = 1.5), said)
})
