coded_again <- function(share_equal, n = 50) {
  occasion <- seq_along(share_equal)
  data.frame(
    occasion = rep(occasion, each = n), is_equal = stats::rbinom(n * length(occasion), 1, rep(share_equal, each = n))
  )
}

test_that("a CUSUM of normal numbers runs as long as in print before it gives a false alarm", {
  runs <- function(limit, looks) sum(1 - c(0, passing_by_look(.5, limit, looks)))
  expect_equal(runs(4, 5000), 335, tolerance = .005) # Montgomery (2009), table 9.4: two sides 168 and 465
  expect_equal(runs(5, 14000), 930, tolerance = .005)
})

test_that("a coder that does not change gives an alarm in at most 5 % of series, and one that changes gives one", {
  withr::local_seed(4)
  is_alarm <- function(share) any(code_drift(coded_again(share))$is_alarm)
  expect_lte(sum(replicate(100, is_alarm(rep(.8, 25)))), 9) # more than 9 of 100 has p < .03 at 5 %
  expect_gte(sum(replicate(20, is_alarm(rep(c(.9, .7), c(8, 17))))), 19)
  expect_false(is_alarm(rep(1, 25)))
})

test_that("each occasion is compared with all before it, and the limit is for all series together", {
  rows <- data.frame(occasion = rep(1:3, each = 10), is_equal = rep(c(1, 0, 1, 0), c(18, 2, 6, 4)))
  found <- code_drift(rows)
  middle <- phyper(3, 10, 20, 6) + dhyper(4, 10, 20, 6) / 2
  expect_equal(found$quantile[[3]], qnorm(middle))
  expect_equal(found$cusum_falls[[3]], max(0, found$cusum_falls[[2]] + qnorm(middle) - .5))
  expect_equal(found$agreement, c(1, .8, .6))
  both <- code_drift(rbind(cbind(rows, code = "a"), cbind(rows, code = "b")), by = "code", looks = 12)
  expect_equal(unique(4 * passing_by_look(.5, both$decision_limit[[1]], 12)[[12]]), .05, tolerance = 1e-4)
  expect_match(code_drift(transform(rows, is_equal = 2))$messages, "0 or 1")
})
