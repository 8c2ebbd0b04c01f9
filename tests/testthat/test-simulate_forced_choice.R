test_that("the same seed gives the same trials, and the session's random numbers go on untouched", {
  set.seed(5)
  expected <- stats::runif(1)
  set.seed(5)
  trials <- simulate_forced_choice(n_words = 2)
  expect_equal(stats::runif(1), expected)
  expect_identical(simulate_forced_choice(n_words = 2), trials)
  expect_false(identical(simulate_forced_choice(n_words = 2, seed = 2)$word, trials$word))
})

test_that("they are the paper's 960 trials: 160 words, each in both conditions of every model", {
  trials <- simulate_forced_choice()
  expect_equal(unname(c(table(trials$model, trials$test))), rep(160, 6))
  expect_length(unique(trials$item), 160)
  expect_true(all(table(trials$item, trials$condition, trials$model) == 1))
  expect_equal(unname(c(table(trials$consistent_letter))), c(480, 480))
  expect_equal(unique(trials$source), "simulated")
})

test_that("the option that counts as consistent is the one with the word's category, in both conditions", {
  trials <- subset(simulate_forced_choice(n_words = 4), is_valid)
  chosen <- ifelse(trials$chosen_letter == "A", trials$option_a, trials$option_b)
  expect_identical(mapply(grepl, trials$category, chosen, fixed = TRUE, USE.NAMES = FALSE), trials$is_consistent)
  pairs <- unique(trials[trials$test == "gender_science" & trials$condition == "incongruent", "option_a"])
  expect_setequal(pairs, c("Male + Arts", "Female + Science"))
})

test_that("shares come out at the known probabilities, and an invalid answer is neither consistent nor not", {
  parameters <- forced_choice_parameters()
  parameters$sd_item_valid <- parameters$sd_item_consistent <- 0
  trials <- simulate_forced_choice(parameters, n_words = 500)
  expect_identical(is.na(trials$is_consistent), !trials$is_valid)
  formula <- cbind(is_valid, is_consistent) ~ condition + test + model
  found <- stats::aggregate(formula, trials, mean, na.action = na.pass, na.rm = TRUE)
  both <- merge(found, parameters)
  expect_equal(both$is_valid, both$p_valid, tolerance = .005)
  expect_equal(both$is_consistent, both$p_consistent, tolerance = .015)
})

test_that("they come back from a database as they went in", {
  skip_if_not_installed("duckdb")
  path <- withr::local_tempfile(fileext = ".duckdb")
  trials <- simulate_forced_choice(n_words = 2, db = path)
  opened <- open_trials(path, view = "forced_choice_trials")
  expect_identical(as.data.frame(opened), trials)
  close_trials(opened)
})

test_that("a test that the study does not have ends in a sentence", {
  parameters <- forced_choice_parameters()
  parameters$test[[1]] <- "gender_sports"
  expect_error(simulate_forced_choice(parameters), "there is no test \"gender_sports\"")
})
