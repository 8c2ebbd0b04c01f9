slopes_at_random <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"

# Items and wordings each with an intercept and an effect of the condition of their own.
crossed_trials <- function(seed, n_items = 16, n_wordings = 10, effect = 30, slope_sd = 20) {
  set.seed(seed)
  trials <- expand.grid(item = seq_len(n_items), wording = seq_len(n_wordings), condition = conditions)
  trials$condition <- as.character(trials$condition)
  of <- function(group, sd) stats::rnorm(max(group), sd = sd)[group]
  difference <- effect + of(trials$item, slope_sd) + of(trials$wording, slope_sd)
  trials$tokens <- 300 + of(trials$item, 25) + of(trials$wording, 15) +
    ifelse(trials$condition == conditions[[2]], .5, -.5) * difference + stats::rnorm(nrow(trials), sd = 40)
  trials
}

test_that("a factor's slopes are uncorrelated, as if its contrast of -1/2 and 1/2 were typed", {
  trials <- crossed_trials(1)
  levels <- list(condition = conditions)
  fit <- fit_lme4(trials, slopes_at_random, levels = levels, df_method = "satterthwaite")
  trials$half <- ifelse(trials$condition == conditions[[2]], .5, -.5)
  trials$condition <- factor(trials$condition, levels = conditions)
  typed <- lmerTest::lmer(
    tokens ~ condition + (1 | wording) + (0 + half | wording) + (1 | item) + (0 + half | item), trials,
    control = sharp
  )
  expect_equal(fit$estimates$estimate, unname(lme4::fixef(typed)))
  expect_equal(fit$estimates$p_value, unname(coef(summary(typed))[, "Pr(>|t|)"]), tolerance = 1e-5)
  expect_equal(fit$variances$variance, as.data.frame(lme4::VarCorr(typed))$vcov, tolerance = 1e-6)
  shown <- paste(sub("[.]1$", "", fit$variances$group), fit$variances$term)
  expect_setequal(
    shown, c(paste(rep(c("item", "wording"), each = 2), c("intercept", "conditionincompatible")), "residual residual")
  )
})

test_that("which condition is the reference changes nothing but the sign", {
  trials <- crossed_trials(2)
  one <- fit_lme4(trials, slopes_at_random, levels = list(condition = conditions))
  other <- fit_lme4(trials, slopes_at_random, levels = list(condition = rev(conditions)))
  expect_equal(one$fits$log_lik, other$fits$log_lik, tolerance = 1e-7)
  expect_equal(one$estimates$estimate[[2]], -other$estimates$estimate[[2]], tolerance = 1e-6)
  expect_equal(one$estimates$df[[2]], other$estimates$df[[2]], tolerance = 1e-3)
})

test_that("three levels, interactions, numbers and odd names each get their columns", {
  data <- data.frame(
    f = factor(c("a", "b c", "d")), g = factor(c("x", "y", "x")), n = 1:3
  )
  shown <- function(text) deparse1(uncorrelated_slopes(stats::as.formula(text), data)[[3]])
  expect_equal(shown("y ~ (1 + n || w)"), "(1 | w) + (0 + n | w)")
  expect_equal(shown("y ~ (0 + f || w)"), paste(
    "(0 + level_contrast(f, \"b c\") | w) + (0 + level_contrast(f, \"d\") |", "w)"
  ))
  expect_match(shown("y ~ (f * g || w)"), "0 + level_contrast(f, \"d\"):level_contrast(g, \"y\") | w", fixed = TRUE)
  expect_equal(slope_name("level_contrast(f, \"b c\"):level_contrast(g, \"y\")"), "fb c:gy")
  expect_equal(level_contrast(data$f, "d"), c(-1, -1, 2) / 3)
})

test_that("a formula without a double bar is left as it is", {
  formula <- tokens ~ condition + (1 + condition | wording)
  expect_identical(uncorrelated_slopes(formula, data.frame()), formula)
})

test_that("logistic models, too, take slopes of a factor apart", {
  trials <- simulate_forced_choice(n_words = 8, seed = 3)
  trials <- trials[trials$is_valid & trials$test == trials$test[[1]] & trials$model == trials$model[[1]], ]
  set.seed(5)
  trials$is_consistent <- stats::runif(nrow(trials)) < .7
  conditions <- list(condition = c("congruent", "incongruent"))
  formula <- "is_consistent ~ condition + (1 + condition || item)"
  fit <- fit_lme4(trials, formula, levels = conditions, family = "binomial")
  expect_equal(fit$variances$term, c("intercept", "conditionincongruent"))
  expect_equal(nrow(fit$tables$contrasts), 3)
})

test_that("leaving out one word at a time takes the same model", {
  trials <- crossed_trials(4, n_items = 5, n_wordings = 5)
  fit <- fit_leave_one_out(trials, slopes_at_random, levels = list(condition = conditions), group = "item")
  whole <- fit_lme4(trials, slopes_at_random, levels = list(condition = conditions))
  expect_equal(fit$estimates$estimate[[1]], whole$estimates$estimate[[2]])
  expect_equal(nrow(fit$estimates), 6)
})
