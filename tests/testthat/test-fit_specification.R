sides_of <- list(condition = conditions)
paper <- list(formula = "tokens ~ condition + (1 | wording)", levels = sides_of)
choice_levels <- list(condition = c("congruent", "incongruent"))
one_condition <- list(
  formula = "is_consistent ~ condition * model + (1 | item)", levels = choice_levels, family = "binomial", n_agq = 0
)

test_that("the number of a mixed model is its coefficient, and d its part of the standard deviation", {
  trials <- made_trials()
  found <- fit_specification(trials, "lme4", paper)$estimates
  coefficient <- fit_made(trials)$estimates[2, ]
  expect_equal(found$estimate, coefficient$estimate)
  expect_equal(found$conf_low, coefficient$conf_low)
  expect_equal(c(found$estimand, found$unit), c("difference of means", "tokens"))
  sd <- sqrt(mean(tapply(trials$tokens, trials$condition, var)))
  expect_equal(c(found$d, found$d_low), c(coefficient$estimate, coefficient$conf_low) / sd)
  expect_equal(found$d, effect_size(trials)$estimates$estimate, tolerance = 1e-6)
})

test_that("a logarithm gives a ratio, called so, and d of logarithms", {
  trials <- made_trials()
  logged <- modifyList(paper, list(formula = "log1p(tokens) ~ condition + (1 | wording)"))
  found <- fit_specification(trials, "lme4", logged)$estimates
  fit <- fit_lme4(transform(trials, y = log1p(tokens)), "y ~ condition + (1 | wording)", levels = sides_of)$estimates
  expect_equal(found$estimate, exp(fit$estimate[[2]]))
  expect_equal(c(found$conf_low, found$conf_high), exp(c(fit$conf_low[[2]], fit$conf_high[[2]])))
  expect_equal(c(found$estimand, found$unit), c("ratio of geometric means of tokens + 1", "ratio"))
  expect_equal(found$d, effect_size(transform(trials, tokens = log1p(tokens)))$estimates$estimate, tolerance = 1e-6)
})

test_that("counts in steps give a ratio of medians, and d of logarithms", {
  skip_if_not_installed("survival")
  trials <- transform(made_trials(), tokens = 16 * (tokens %/% 16))
  arguments <- list(outcome = "tokens", levels = conditions, step = 16)
  found <- fit_specification(trials, "censored", arguments)$estimates
  effect <- run_fit("censored", trials, arguments)$tables$effects
  expect_equal(c(found$estimate, found$conf_low, found$p_value), unlist(effect[c("ratio", "ratio_low", "p_value")]),
               ignore_attr = TRUE)
  expect_equal(c(found$estimand, found$unit), c("ratio of medians", "ratio"))
  sd <- sqrt(mean(tapply(log(trials$tokens + 8), trials$condition, var)))
  expect_equal(c(found$d, found$d_high), log(c(effect$ratio, effect$ratio_high)) / sd)
})

test_that("a Bayesian model of counts gives its ratio, whatever the family, and none where it failed", {
  trials <- made_trials()
  arguments <- list(formula = "tokens ~ condition", levels = sides_of)
  effects <- data.frame(ratio = 1.2, ratio_low = 1.1, ratio_high = 1.3, p_above = .99, step = 1)
  found <- of_ratios(list(tables = list(effects = effects)), trials, arguments, "condition", NULL)
  expect_equal(c(found$estimate, found$conf_high, found$p_positive), c(1.2, 1.3, .99))
  expect_equal(found$d_low, log(1.1) / sqrt(mean(tapply(log(trials$tokens + .5), trials$condition, var))))
  expect_equal(nrow(of_ratios(list(tables = list()), trials, arguments, "condition", NULL)), 0)
})

test_that("over words and wordings it is the coefficient of that fit", {
  trials <- transform(made_trials(), item = wording %% 4)
  arguments <- list(formula = crossed_formula, contrast = "condition", levels = conditions)
  found <- fit_specification(trials, "crossed", arguments)$estimates
  expect_equal(found$estimate, fit_crossed(trials, levels = conditions)$tables$effects$estimate)
  expect_equal(c(found$estimand, found$unit), c("difference of means", "tokens"))
})

test_that("rows are left out by flags and outcomes, and counted", {
  trials <- transform(made_trials(), is_refusal = wording == 1, outcome = ifelse(wording == 2, "truncated", "answered"))
  n <- function(...) fit_specification(trials, "lme4", paper, ...)$estimates[c("n", "n_left_out")]
  expect_equal(unlist(n(), use.names = FALSE), c(240, 0))
  expect_equal(unlist(n(drop_flags = "is_refusal"), use.names = FALSE), c(216, 24))
  expect_equal(unlist(n(drop_flags = "is_refusal", drop_outcomes = "truncated"), use.names = FALSE), c(192, 48))
})

test_that("what is missing counts as what is said", {
  trials <- simulate_forced_choice(n_words = 8)
  found <- function(...) fit_specification(trials, "lme4", one_condition, contrast = "condition", ...)$estimates
  expect_equal(found()$n[[1]], sum(trials$is_valid))
  as_wrong <- found(missing_as = list(is_consistent = FALSE))
  expect_equal(as_wrong$n[[1]], nrow(trials))
  expect_false(isTRUE(all.equal(as_wrong$estimate, found()$estimate)))
  expect_equal(as_wrong$model, unique(trials$model))
})

test_that("every group has a row, also one that can't be fitted", {
  trials <- rbind(
    transform(made_trials(), model = "bad", tokens = 64), transform(made_trials(), model = "good")
  )
  for (engine in c("lme4", "trimmed_difference")) {
    arguments <- if (engine == "lme4") paper else list(levels = sides_of)
    found <- fit_specification(trials, engine, arguments, by = "model")$estimates
    expect_equal(found$model, c("bad", "good"))
    expect_equal(found$status, c("failed", "ok"))
    expect_equal(is.na(found$estimate), c(TRUE, FALSE))
    expect_match(found$error[[1]], "nothing to explain")
  }
})

test_that("one condition only is a row that says that there is nothing to compare", {
  trials <- transform(subset(simulate_forced_choice(n_words = 8), condition == "congruent"))
  trials$is_consistent[1:9] <- FALSE
  found <- fit_specification(trials, "lme4", one_condition, contrast = "condition")$estimates
  expect_true(is.na(found$estimate))
  expect_match(found$error, "no two levels of \"condition\"")
})

test_that("hostile formulas run nothing", {
  file <- withr::local_tempfile()
  for (text in c(
    sprintf("tokens ~ condition + (1 | wording) + I(writeLines('x', '%s'))", file),
    sprintf("log1p(system('touch %s')) ~ condition + (1 | wording)", file)
  )) {
    expect_error(
      fit_specification(made_trials(), "lme4", list(formula = text, levels = sides_of)), "not allowed|not a column"
    )
  }
  expect_false(file.exists(file))
  expect_error(fit_specification(made_trials(), "lme4", c(paper, list(sabotage = 1))), "takes no argument \"sabotage\"")
})
