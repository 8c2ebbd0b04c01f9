with_refusals <- function(n_compatible, n_incompatible, effect = 30) {
  trials <- transform(made_trials(effect), is_refusal = FALSE)
  trials$is_refusal[which(trials$condition == "compatible")[seq_len(n_compatible)]] <- TRUE
  trials$is_refusal[which(trials$condition == "incompatible")[seq_len(n_incompatible)]] <- TRUE
  trials
}

d_of_sides <- function(trials) effect_size(trials)$estimates$estimate

# The difference of means in standard deviations of the answered trials, with these counts for the refused ones.
standardised_with <- function(trials, refused_tokens) {
  answered <- trials[!trials$is_refusal, ]
  variances <- tapply(answered$tokens, answered$condition, var)
  n <- table(answered$condition)
  trials$tokens[trials$is_refusal] <- refused_tokens
  means <- tapply(trials$tokens, trials$condition, mean)
  unname(diff(means) / sqrt(sum((n - 1) * variances) / (sum(n) - 2)))
}

test_that("the bounds are the effect with refused trials at the extremes, by the spread of the answered ones", {
  trials <- with_refusals(5, 40)
  found <- check_refusals(trials)
  filled <- function(compatible, incompatible) {
    standardised_with(trials, ifelse(trials$condition == "compatible", compatible, incompatible)[trials$is_refusal])
  }
  low <- min(trials$tokens)
  high <- max(trials$tokens)
  expect_equal(found$d, d_of_sides(trials[!trials$is_refusal, ]))
  expect_equal(found$d_as_counted, standardised_with(trials, trials$tokens[trials$is_refusal]))
  expect_equal(found$d_all_smallest, filled(low, low))
  expect_equal(found$d_all_largest, filled(high, high))
  expect_equal(c(found$d_lowest, found$d_highest), c(filled(high, low), filled(low, high)))
  expect_equal(c(found$n_refused_reference, found$n_refused_other), c(5, 40))
})

test_that("whatever refused trials are given from the smallest to the largest count lies inside the bounds", {
  withr::local_seed(1)
  is_inside <- replicate(200, {
    trials <- with_refusals(sample(0:80, 1), sample(0:80, 1), effect = sample(c(-30, 0, 30, 200), 1))
    trials$tokens[trials$is_refusal] <- round(runif(sum(trials$is_refusal), 0, 400))
    found <- check_refusals(trials)
    imputed <- sample(min(trials$tokens):max(trials$tokens), sum(trials$is_refusal), replace = TRUE)
    within <- c(found$d, found$d_as_counted, found$d_all_smallest, found$d_all_largest,
                standardised_with(trials, imputed))
    all(within >= found$d_lowest - 1e-9 & within <= found$d_highest + 1e-9)
  })
  expect_true(all(is_inside))
})

test_that("refused trials without a count are refused all the same, answered ones are left out with a message", {
  trials <- with_refusals(5, 40)
  expected <- check_refusals(trials)
  uncounted <- trials
  uncounted$tokens[which(trials$is_refusal)[c(1, 20)]] <- NA
  found <- check_refusals(uncounted)
  expect_equal(found[c("n_answered", "n_refused_reference", "n_refused_other", "d")],
               expected[c("n_answered", "n_refused_reference", "n_refused_other", "d")])
  expect_equal(found$d_as_counted, NA_real_)
  uncounted$tokens[which(!trials$is_refusal)[1:3]] <- NA
  found <- check_refusals(uncounted)
  expect_equal(found$n_answered, expected$n_answered - 3)
  expect_match(found$messages, "3 rows without tokens left out")
})

test_that("answers that do not vary within conditions fail with the sentence of effect_size()", {
  trials <- transform(with_refusals(5, 40), tokens = ifelse(condition == "compatible", 64, 128))
  said <- effect_size(trials)$fits$error
  for (found in list(check_refusals(trials), check_equivalence(trials), check_skew(trials))) {
    expect_equal(found$status, "failed")
    expect_equal(found$messages, said)
  }
  trials$tokens[trials$is_refusal] <- 100
  expect_equal(check_refusals(trials)$messages, said)
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
  expect_true(check_refusals(with_refusals(2, 2))$is_sign_kept_by_missing)
  expect_false(check_refusals(with_refusals(10, 90))$is_sign_kept_by_missing)
  none <- check_refusals(with_refusals(0, 0))
  expect_equal(none[c("d_lowest", "d_highest")], data.frame(d_lowest = none$d, d_highest = none$d))
  expect_equal(c(none$tipping_tokens, none$tipping_sd), c(NA_real_, NA))
})

test_that("a cell with one side refused altogether is one row that says why", {
  found <- check_refusals(with_refusals(0, 120))
  expect_equal(found$status, "failed")
  expect_match(found$messages, "\"incompatible\" in at least two rows")
})
