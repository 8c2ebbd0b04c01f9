formula_of_stage_b <- "is_consistent ~ condition * model * test + (1 | item)"

trials_to_permute <- function(...) {
  trials <- simulate_forced_choice(seed = 3, ...)
  trials[trials$is_valid, ]
}

levels_to_permute <- function() {
  list(
    condition = c("congruent", "incongruent"), model = c("claude-sonnet-4", "gemini-2.5-pro", "gpt-5"),
    test = c("gender_career", "gender_science")
  )
}

by_glmer <- function(trials, permutations = 3, ...) {
  permutation_test(
    trials, formula_of_stage_b, permutations,
    engine = "lme4", levels = levels_to_permute(), ...
  )
}

test_in_full("neither processes nor the order of rows change a number", {
  trials <- trials_to_permute(n_words = 5)
  one <- by_glmer(trials)
  expect_identical(by_glmer(trials, cores = 2), one)
  expect_identical(by_glmer(trials[rev(seq_len(nrow(trials))), ])$cells, one$cells)
  all_rows <- simulate_forced_choice(seed = 3, n_words = 5)
  expect_identical(by_glmer(all_rows)$cells, one$cells)
  expect_equal(nrow(one$cells), 4 * 6)
  expect_identical(one$tests$model[1:2], rep("claude-sonnet-4", 2))
})

test_that("number 0 is glmer()'s own fit of the data", {
  trials <- trials_to_permute()
  found <- refit_permutation(trials, formula_of_stage_b, 0, engine = "lme4", levels = levels_to_permute())$cells
  trials[c("condition", "test", "model")] <- lapply(trials[c("condition", "test", "model")], factor)
  fit <- suppressMessages(suppressWarnings(lme4::glmer(
    is_consistent ~ condition * model * test + (1 | item), trials, stats::binomial(),
    nAGQ = 0
  )))
  rows <- expand.grid(condition = levels(trials$condition), test = levels(trials$test), model = levels(trials$model))
  at <- function(...) matrix(predict(fit, rows, type = "response", ...), nrow = 2)
  expected <- at(re.form = NA)
  expect_equal(found$delta_p, expected[1, ] - expected[2, ], tolerance = 1e-4)
})

test_that("items are averaged over as in the main fit: those of the test, in whatever model they were answered", {
  # Words that differ much, and a model that has no valid answer to the harder ones.
  parameters <- transform(forced_choice_parameters(), p_consistent = p_consistent - .2, sd_item_consistent = 2)
  trials <- trials_to_permute(parameters = parameters)
  is_harder <- trials$item %in% trials$item[!trials$is_consistent & trials$model != "gpt-5"]
  trials <- trials[trials$model != "gpt-5" | !is_harder | trials$test != "gender_career", ]
  found <- refit_permutation(trials, formula_of_stage_b, 0, engine = "lme4", levels = levels_to_permute())$cells
  fit <- suppressMessages(suppressWarnings(lme4::glmer(
    is_consistent ~ condition * model * test + (1 | item), trials, stats::binomial(),
    nAGQ = 0
  )))
  items <- unique(trials$item[trials$test == "gender_career"])
  p <- function(condition) {
    rows <- data.frame(item = items, condition = condition, model = "gpt-5", test = "gender_career")
    mean(predict(fit, rows, type = "response"))
  }
  its <- found[found$model == "gpt-5" & found$test == "gender_career", ]
  expect_equal(its$delta_p_items, p("congruent") - p("incongruent"), tolerance = 1e-3)
})

test_that("one model alone is permuted without it, one condition alone is reported", {
  trials <- trials_to_permute()
  alone <- by_glmer(trials[trials$model == "claude-sonnet-4", ], permutations = 1)
  expect_equal(nrow(alone$tests), 2 * 3)
  expect_error(by_glmer(trials[trials$condition == "congruent", ]), "exactly two labels")
  expect_error(by_glmer(trials, permutations = 0), "a whole number from 1")
})

test_in_full("an effect of the condition is found, and none if labels were drawn at random", {
  trials <- expand.grid(
    condition = c("congruent", "incongruent"), item = sprintf("word %02d", 1:40), model = "a", test = "d",
    stringsAsFactors = FALSE
  )
  trials$is_consistent <- trials$condition == "congruent" | seq_len(nrow(trials)) %% 3 == 0
  test <- function(trials) {
    permutation_test(trials, "is_consistent ~ condition + (1 | item)", 39, engine = "lme4")$tests$p_one_sided
  }
  expect_equal(test(trials)[[1]], 1 / 40)
  expect_gt(min(test(permute_labels(trials, 5))), .05)
})

test_in_full("brms refits without compiling again, coded as the fit, alike with one seed, and counts doubts", {
  skip_without_stan()
  trials <- trials_to_permute(n_words = 3)
  refit <- function(number, ...) {
    refit_permutation(
      trials, formula_of_stage_b, number,
      levels = levels_to_permute(), chains = 1, iterations = 120, warmup = 60, ...
    )
  }
  one <- refit(1)
  expect_identical(refit(1), one)
  expect_false(identical(refit(1, coding = "sum")$cells$delta_p, one$cells$delta_p))
  expect_false(identical(refit(2)$cells$delta_p, one$cells$delta_p))
  expect_equal(nrow(one$cells), 6)
  expect_true(all(is.finite(one$cells$delta_p_items_mcse)))
  expect_true(one$refit$status %in% c("ok", "divergent", "unconverged"))
  few <- refit(1, adapt_delta = .1)
  expect_true(few$refit$status %in% c("divergent", "unconverged"))
})
