held <- function(n_held, n = 100) {
  truth <- rep(c(0, 5), c(n_held, n - n_held))
  data.frame(model = "m", test = "d", truth = truth, conf_low = -1, conf_high = 1)
}

test_that("shares and their bands are those of the binomial distribution", {
  counts <- interval_coverage(held(93), band = .95)
  expect_equal(counts[c("n", "n_held", "coverage")], data.frame(n = 100L, n_held = 93L, coverage = .93))
  expect_equal(c(counts$band_low, counts$band_high), qbinom(c(.025, .975), 100, .95) / 100)
})

test_that("too many and too few are both out of the band", {
  few <- interval_coverage(held(85))
  many <- interval_coverage(held(400, n = 400))
  expect_equal(c(few$is_in_band, interval_coverage(held(95))$is_in_band, many$is_in_band), c(FALSE, TRUE, FALSE))
})

test_that("groups are counted apart, in the order of the rows", {
  both <- rbind(transform(held(95), model = "z"), transform(held(80), model = "a"))
  expect_equal(interval_coverage(both)$model, c("z", "a"))
  expect_equal(interval_coverage(both, by = character())$n, 200L)
})
