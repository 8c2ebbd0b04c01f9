# Arguments that are right alone and not together: each call ends in a sentence, before anything is fitted or drawn.
# Those of any one argument are in tests/project/r_mistakes.R.

test_that("arguments that contradict each other are refused in a sentence", {
  rows <- simulate_trials(n_wordings = 2)
  answered <- simulate_forced_choice(n_words = 2)
  games <- simulate_structured_games(p = .5, n_games = 2)
  pairs <- quote(list(
    effect_size(rows, by = "condition"),
    fit_crossed(rows, by = "condition"),
    fit_lme4(rows, "tokens ~ condition + (1 | wording)", by = "wording"),
    fit_lme4(rows, "tokens ~ condition + (1 | wording)", by = "condition"),
    fit_lme4(rows, "tokens ~ condition + (1 | wording)", levels = c("none", "other")),
    fit_brms(answered, "is_valid ~ block", iterations = 100, warmup = 200),
    fit_brms(answered, "is_valid ~ block", family = "gaussian", step = 64),
    calibrate(answered, "is_valid ~ block", iterations = 100, warmup = 200),
    recover_contrasts(n = 1, iterations = 100, warmup = 200),
    plan_power(list(word = 1, residual = 1, game = 2)),
    simulate_structured_games(.3, n_groups = 3, class_sizes = c(1, 1)),
    controlled_indices(.3, n_groups = 3, class_sizes = c(1, 1)),
    compare_games(games, between = "experiment", by = "experiment"),
    convergent_validity(rows, by = "item"),
    collect_trials("rmiat", "openai/o3-mini", tempfile(), simulated = TRUE, pilot = 3, again = 3),
    collect_trials("rmiat", "openai/o3-mini", tempfile(), simulated = TRUE, batch = TRUE)
  ))
  for (call in as.list(pairs)[-1]) {
    expect_error(suppressMessages(eval(call)), class = "slant_error", label = deparse1(call))
  }
})
