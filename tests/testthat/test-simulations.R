varied <- list(wording = 100, word = 400, residual = 14400, wording_intercept = 64, word_intercept = 100)

test_that("a study ends at the first look at which its interval is narrow enough, and else with the last", {
  stopped <- function(until_width) {
    stopped_coverage(3, 8, 6, until_width, c(1, 2, 4), effect = 10, variances = varied, seed = 1)
  }
  at_once <- stopped(Inf)
  never <- stopped(1e-6)
  expect_equal(c(at_once$repetitions, at_once$saved, at_once$narrow), c(1, .75, 1))
  expect_equal(c(never$repetitions, never$saved, never$narrow), c(4, 0, 0))
  expect_equal(never$coverage, never$coverage_whole)
  between <- stopped((at_once$half_width + never$half_width) / 2)
  expect_gt(between$repetitions, 1)
  expect_lt(between$half_width, at_once$half_width)
})

test_in_full("intervals at the stop hold the effect in 95 of 100 studies, and a third of the trials is saved", {
  stopped <- stopped_coverage(200, 24, 12, 15, c(2, 4, 6, 8), effect = 10, variances = varied, seed = 1)
  # 93 to 97 %, and what 200 data sets leave open.
  expect_gt(stopped$coverage, .93 - 2 * stopped$monte_carlo_error)
  expect_lt(stopped$coverage, .97 + 2 * stopped$monte_carlo_error)
  expect_gt(stopped$narrow, .8)
  expect_gt(stopped$saved, .25)
  expect_lt(stopped$saved, .5)
})
