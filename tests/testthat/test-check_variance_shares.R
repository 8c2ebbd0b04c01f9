test_that("shares are those of lme4's own variances and add up to 1", {
  trials <- made_trials()
  fit <- fit_lme4(trials, "tokens ~ condition + (1 | wording) + (1 | item)", levels = list(condition = conditions))
  found <- check_variance_shares(fit$variances)
  model <- lme4::lmer(tokens ~ condition + (1 | wording) + (1 | item), data = trials)
  variances <- as.data.frame(lme4::VarCorr(model))
  by_hand <- setNames(variances$vcov / sum(variances$vcov), variances$grp)
  expect_equal(sum(found$share), 1)
  expect_equal(found$share[found$group == "wording"], by_hand[["wording"]], tolerance = 1e-5)
  expect_equal(found$share[found$group == "residual"], by_hand[["Residual"]], tolerance = 1e-5)
})

test_that("each group has shares of its own, and random slopes are refused", {
  variances <- data.frame(test = rep(c("a", "b"), each = 2), group = c("w", "residual"), variance = c(1, 3, 2, 2))
  variances$term <- c("intercept", "residual")
  expect_equal(check_variance_shares(variances, by = "test")$share, c(.25, .75, .5, .5))
  expect_error(check_variance_shares(transform(variances, term = "conditionincompatible")), "random slopes")
})
