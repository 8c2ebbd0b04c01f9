test_that("without trimming it is Welch's test", {
  trials <- made_trials()
  found <- trimmed_difference(trials, trim = 0)$estimates
  welch <- t.test(tokens ~ factor(condition, rev(conditions)), trials)
  expect_equal(found$estimate, unname(welch$estimate[[1]] - welch$estimate[[2]]))
  expect_equal(found$df, unname(welch$parameter))
  expect_equal(found$p_value, welch$p.value)
  expect_equal(c(found$conf_low, found$conf_high), as.numeric(welch$conf.int))
})

test_that("the trimmed means are R's, and Yuen's standard error is the one worked out by hand", {
  trials <- data.frame(condition = rep(conditions, each = 10), tokens = c(1:9, 1000, 2 * (1:9), 21))
  found <- trimmed_difference(trials, trim = .2)
  expect_equal(found$estimates$estimate, mean(c(2 * (1:9), 21), trim = .2) - mean(c(1:9, 1000), trim = .2))
  winsorised <- c(3, 3, 3, 4, 5, 6, 7, 8, 8, 8)
  expect_equal(found$variances$variance, c(var(winsorised), var(2 * winsorised)))
  expect_equal(found$estimates$std_error, sqrt(9 * sum(found$variances$variance) / (6 * 5)))
})

test_that("a few very long answers hardly move it", {
  trials <- made_trials()
  before <- trimmed_difference(trials)$estimates$estimate
  trials$tokens[1:5] <- 1e6
  expect_lt(abs(trimmed_difference(trials)$estimates$estimate - before), 3)
})

test_that("groups, too few rows and wrong arguments are rows or sentences", {
  trials <- transform(made_trials(), model = ifelse(wording < 3, "few", "many"))
  trials <- subset(trials, model == "many" | item < 2 & wording < 2)
  fits <- trimmed_difference(trials, by = "model")$fits
  expect_equal(fits$status, c("failed", "ok"))
  expect_match(fits$error[[1]], "in at least two rows, but it is in 1")
  expect_error(trimmed_difference(trials, trim = .5), "of at least 0 and below .5")
})
