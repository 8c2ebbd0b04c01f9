with_refusals <- function(n_compatible, n_incompatible, effect = 30) {
  trials <- transform(made_trials(effect), is_refusal = FALSE)
  trials$is_refusal[which(trials$condition == "compatible")[seq_len(n_compatible)]] <- TRUE
  trials$is_refusal[which(trials$condition == "incompatible")[seq_len(n_incompatible)]] <- TRUE
  trials
}

d_of_sides <- function(trials) effect_size(trials)$estimates$estimate

test_that("the bounds are d with refused trials at the extremes of the answered ones", {
  trials <- with_refusals(5, 40)
  found <- check_refusals(trials)
  answered <- trials[!trials$is_refusal, ]
  filled <- function(compatible, incompatible) {
    trials$tokens[trials$is_refusal] <- ifelse(
      trials$condition[trials$is_refusal] == "compatible", compatible, incompatible
    )
    d_of_sides(trials)
  }
  low <- min(answered$tokens)
  high <- max(answered$tokens)
  expect_equal(found$d, d_of_sides(answered))
  expect_equal(found$d_as_counted, d_of_sides(trials))
  expect_equal(found$d_all_smallest, filled(low, low))
  expect_equal(found$d_all_largest, filled(high, high))
  expect_equal(c(found$d_lowest, found$d_highest), c(filled(high, low), filled(low, high)))
  expect_equal(c(found$n_refused_reference, found$n_refused_other), c(5, 40))
})

test_that("at the tipping point the means are equal", {
  trials <- with_refusals(10, 30)
  found <- check_refusals(trials)
  means <- tapply(trials$tokens[!trials$is_refusal], trials$condition[!trials$is_refusal], mean)
  against <- c(compatible = 1, incompatible = -1) * found$tipping_tokens
  trials$tokens[trials$is_refusal] <- (means + against)[trials$condition[trials$is_refusal]]
  after <- tapply(trials$tokens, trials$condition, mean)
  expect_equal(after[["compatible"]], after[["incompatible"]])
  expect_equal(found$tipping_sd, found$tipping_tokens * found$d / diff(means)[[1]])
})

test_that("few refusals leave the sign certain, many do not, and none need no tipping point", {
  expect_true(check_refusals(with_refusals(2, 2))$is_sign_certain)
  expect_false(check_refusals(with_refusals(10, 90))$is_sign_certain)
  none <- check_refusals(with_refusals(0, 0))
  expect_equal(none[c("d_lowest", "d_highest")], data.frame(d_lowest = none$d, d_highest = none$d))
  expect_equal(c(none$tipping_tokens, none$tipping_sd), c(NA_real_, NA))
})

test_that("a cell with one side refused altogether is one row that says why", {
  found <- check_refusals(with_refusals(0, 120))
  expect_equal(found$status, "failed")
  expect_match(found$messages, "\"incompatible\" in at least two rows")
})
