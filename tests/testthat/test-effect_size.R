d_by_hand <- function(compatible, incompatible) {
  n <- c(length(compatible), length(incompatible))
  pooled <- sqrt(((n[1] - 1) * sd(compatible)^2 + (n[2] - 1) * sd(incompatible)^2) / (sum(n) - 2))
  d <- (mean(incompatible) - mean(compatible)) / pooled
  half_width <- qt(.975, sum(n) - 2) * sqrt(sum(n) / prod(n) + d^2 / (2 * sum(n)))
  c(d, d - half_width, d + half_width)
}

test_that("d and its interval are those of the formula", {
  trials <- made_trials()
  found <- effect_size(trials)$estimates
  by_hand <- d_by_hand(trials$tokens[trials$condition == "compatible"], trials$tokens[trials$condition != "compatible"])
  expect_equal(unlist(found[c("estimate", "conf_low", "conf_high")], use.names = FALSE), by_hand)
  expect_equal(found$df, 238)
})

test_that("d needs no package, and says what it is", {
  found <- effect_size(made_trials())
  expect_equal(found$versions$package, "R")
  expect_equal(found$fits$optimiser, "Cohen's d, pooled variance")
})

test_that("the published effect of o3-mini on flowers and insects comes out (Table S3)", {
  found <- effect_size(published_trials("o3-mini", "flowers_insects"))$estimates
  expect_equal(round(c(found$estimate, found$conf_low, found$conf_high), 2), c(1.04, .95, 1.14))
})

test_that("levels may be given by the name of the column, as fit_lme4() takes them", {
  trials <- made_trials()
  expect_identical(effect_size(trials, levels = list(condition = conditions)), effect_size(trials))
  turned <- effect_size(trials, levels = list(condition = rev(conditions)))$estimates
  expect_equal(turned$estimate, -effect_size(trials)$estimates$estimate)
})

test_that("one group that can't be computed is one row that says why", {
  trials <- rbind(
    transform(made_trials(), test = "good"),
    transform(subset(made_trials(), condition == "compatible"), test = "one side"),
    transform(made_trials(), tokens = 64 * (condition == "compatible"), test = "no variation")
  )
  fits <- effect_size(trials, by = "test")$fits
  expect_equal(fits$status, c("ok", "failed", "failed"))
  expect_match(fits$error[[2]], "must be \"incompatible\" in at least two rows, but it is in 0")
  expect_match(fits$error[[3]], "does not vary within the conditions")
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(effect_size(made_trials(), outcome = "token"))
    write_error(effect_size(made_trials(), levels = "compatible"))
  })
})
