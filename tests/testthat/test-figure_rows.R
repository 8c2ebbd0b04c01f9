test_figure("what a fit returned is drawn as its table is", {
  trials <- simulate_trials(n_wordings = 2)
  sizes <- effect_size(trials, by = c("model", "test"))
  drawn <- plot_effect_sizes(sizes)$data
  expect_equal(unique(drawn$outcome), "tokens")
  expect_equal(drawn[names(drawn) != "outcome"], plot_effect_sizes(sizes$estimates)$data)
})

test_figure("an effect size of all rows, or of each model, needs no columns added to be drawn", {
  trials <- simulate_trials(n_wordings = 2)
  expect_equal(levels(plot_effect_sizes(effect_size(trials))$data$test_shown), "All tests")
  by_model <- plot_effect_sizes(effect_size(trials, by = "model"))$data
  expect_equal(levels(by_model$model_shown), unique(trials$model_label))
})

test_figure("a logistic mixed model's contrasts and predictions are drawn from the fit", {
  trials <- simulate_forced_choice(n_words = 5)
  levels <- list(condition = c("congruent", "incongruent"))
  fit <- fit_lme4(
    trials, "is_consistent ~ condition * model + (1 | item)",
    levels = levels, family = "binomial", n_agq = 0
  )
  expect_equal(levels(plot_condition_contrasts(fit)$data$test_shown), "All tests")
  expect_s3_class(plot_compliance(fit), "ggplot")
})

test_that("a list without the table says what it has", {
  expect_error(
    figure_rows(list(fits = data.frame()), "estimates"),
    "has no table \"estimates\".*Tables there are: fits"
  )
})

test_that("a lazy table is read", {
  skip_if_not(is_installed("dbplyr") && is_installed("duckdb"), "R package dbplyr is not here")
  path <- withr::local_tempfile(fileext = ".duckdb")
  simulate_trials(n_wordings = 2, db = path)
  trials <- open_trials(path)
  on.exit(close_trials(trials))
  expect_equal(nrow(figure_rows(trials)), nrow(as.data.frame(trials)))
})
