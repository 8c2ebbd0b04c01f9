test_that("a random intercept of the judges comes out as in ordinal's vignette", {
  fit <- fit_clmm(wine(), "rating ~ temp + contact + (1 | judge)", levels = wine_levels)
  expect_equal(round(fit$estimates$estimate, 5), c(-1.62367, 1.51337, 4.22853, 6.08877, 3.06300, 1.83488))
  expect_equal(round(fit$estimates$std_error[5:6], 5), c(.59538, .51253))
  expect_equal(round(fit$variances$variance, 5), 1.27946)
  expect_equal(round(fit$fits$log_lik, 5), -81.56541)
  expect_equal(c(fit$fits$n_groups, fit$variances$n_groups), c(9L, 9L))
})

test_that("with ten points of quadrature the likelihood is that of the vignette", {
  fit <- fit_clmm(wine(), "rating ~ temp + contact + (1 | judge)", levels = wine_levels, n_agq = 10)
  expect_equal(round(fit$fits$log_lik, 5), -81.53246)
  expect_match(fit$fits$optimiser, "nAGQ = 10")
})

test_that("numbers are fitted in standard deviations and reported per unit", {
  data <- transform(wine(), sips = 1000 * as.integer(bottle))
  fit <- fit_clmm(data, "rating ~ temp * sips + (1 | judge)", levels = wine_levels["temp"])
  direct <- ordinal::clmm(
    rating ~ temp * sips + (1 | judge),
    data = transform(data, rating = factor(rating), temp = factor(temp), judge = factor(judge), sips = sips / 1000)
  )
  expect_equal(fit$estimates$estimate, unname(coef(direct)) / c(1, 1, 1, 1, 1, 1000, 1000), tolerance = 1e-3)
})

test_in_full("a variance of 0 and a correlation of 1 are singular", {
  data <- wine()
  shuffled <- withr::with_seed(2, transform(data, nobody = sample(rep(1:9, 8))))
  none <- fit_clmm(shuffled, "rating ~ temp + (1 | nobody)", levels = wine_levels["temp"])
  expect_equal(none$fits$status, "singular")
  plain <- fit_clm(data, "rating ~ temp", levels = wine_levels["temp"])
  expect_equal(none$estimates$std_error, plain$estimates$std_error, tolerance = 1e-4)
  slope <- fit_clmm(data, "rating ~ temp + (1 + temp | judge)", levels = wine_levels["temp"])
  expect_equal(slope$fits$status, "singular")
  expect_equal(slope$variances$term, c("intercept", "tempwarm"))
})

test_that("what clmm can't fit is a sentence", {
  data <- wine()
  fit <- function(formula, ...) fit_clmm(data, formula, levels = wine_levels["temp"], ...)
  expect_error(fit("rating ~ temp + (1 + temp || judge)"), "does not know \\|\\|")
  expect_error(fit("rating ~ temp"), "the engine is clm")
  expect_error(fit("rating ~ temp + (1 | judge) + (1 | bottle)", n_agq = 10), "for one random intercept")
  expect_error(fit("rating ~ temp + (1 | judge)", n_agq = 0), "a whole number from 1")
})
