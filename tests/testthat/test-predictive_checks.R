made_draws <- function(y, sigma = NULL, n = 400) {
  predictors <- withr::with_seed(2, matrix(stats::rnorm(n * length(y), rep(y, each = n), .2), n))
  list(predictors = predictors, sigma = if (!is.null(sigma)) rep(sigma, n), chain = rep(1:2, each = n / 2))
}

skip_without_brms()

test_that("leave-one-out of numbers is that of loo with the normal density", {
  y <- withr::with_seed(1, stats::rnorm(12))
  used <- made_draws(0 * y, .9)
  densities <- vapply(seq_along(y), function(place) {
    stats::dnorm(y[[place]], used$predictors[, place], used$sigma, log = TRUE)
  }, numeric(400))
  ours <- leave_one_out(used, y, bayes_family("gaussian"))
  theirs <- loo::loo(densities, r_eff = loo::relative_eff(exp(densities), chain_id = used$chain))
  expect_equal(ours$elpd_loo, theirs$estimates["elpd_loo", "Estimate"], tolerance = 1e-10)
})

test_that("a family is checked by what it has: shares of choices, means and spread of numbers", {
  item <- factor(rep(1:4, 6))
  cell <- rep(1:2, each = 12)
  numbers <- withr::with_seed(1, stats::rnorm(24))
  of_numbers <- predictive_checks(made_draws(0 * numbers, 1), numbers, cell, item, 1, bayes_family("gaussian"))
  expect_equal(of_numbers$statistic, c("mean", "mean", "mean", "sd", "item_sd"))
  expect_equal(of_numbers$observed[4], stats::sd(numbers))
  expect_true(all(of_numbers$conf_low < of_numbers$observed & of_numbers$observed < of_numbers$conf_high))
  of_choices <- predictive_checks(made_draws(numbers), rep(0:1, 12), cell, item, 1)
  expect_equal(of_choices$statistic, c("share", "share", "share", "item_sd"))
})
