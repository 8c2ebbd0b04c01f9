test_that("the same seed gives the same trials, and the session's random numbers go on untouched", {
  set.seed(5)
  expected <- stats::runif(2)
  set.seed(5)
  first <- stats::runif(1)
  trials <- simulate_trials(n_wordings = 2)
  expect_equal(c(first, stats::runif(1)), expected)
  RNGkind(sample.kind = "Rejection")
  expect_identical(simulate_trials(n_wordings = 2), trials)
  expect_false(identical(simulate_trials(n_wordings = 2, seed = 2)$tokens, trials$tokens))
})

test_that("simulated trials say that they are, and have the columns of a database's", {
  trials <- simulate_trials(n_wordings = 1)
  expect_equal(nrow(trials), 64)
  expect_equal(unique(trials$source), "simulated")
  expect_match(trials$reasoning_text, "^Simulated: ")
  expect_false(anyDuplicated(trials[c("model", "test", "condition", "item", "wording")]) > 0)
  is_right <- ifelse(trials$is_refusal, !trials$answer %in% c(trials$option_a, trials$option_b), TRUE)
  expect_true(all(is_right))
})

test_that("the effect that was asked for is found in the first model, and in it only", {
  fit <- fit_lme4(simulate_trials(effect = 60), "tokens ~ condition + (1 | wording)",
    by = c("model", "test"), levels = list(condition = conditions)
  )
  condition <- fit$estimates[fit$estimates$term == "conditionincompatible", ]
  expect_equal(condition$conf_low > 30, c(TRUE, TRUE, FALSE, FALSE))
})

test_that("they come back from a database as they went in, and never replace a file", {
  skip_if_not_installed("duckdb")
  path <- withr::local_tempfile(fileext = ".duckdb")
  trials <- simulate_trials(n_wordings = 2, db = path)
  opened <- open_trials(path)
  expect_identical(as.data.frame(opened), trials)
  close_trials(opened)
  expect_error(simulate_trials(n_wordings = 1, db = path), "the file already exists")
})
