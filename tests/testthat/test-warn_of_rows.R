# What a fit says of the rows that it is given: of all engines, for they share the loop over groups.

spoken <- function(rows, ...) effect_size(rows, levels = conditions, ...)$messages

test_that("refusals that are taken for answers are counted in a warning", {
  trials <- transform(made_trials(), is_refusal = seq_len(240) <= 3)
  said <- spoken(trials)
  expect_equal(said$kind, "warning")
  expect_equal(said$text, paste(
    "Trials without an answer are taken for answers: 3 of 240 rows.", "Without them: subset(data, !is_refusal)."
  ))
  expect_equal(nrow(spoken(subset(trials, !is_refusal))), 0)
  of_refusals <- run_fit("welch", transform(trials, is_refusal = rep(c(TRUE, FALSE), 120)))
  expect_equal(nrow(of_refusals$messages), 0)
})

test_that("rows that repeat another one, trial_id and all, are counted in a warning", {
  trials <- transform(made_trials(), trial_id = as.character(seq_len(240)))
  expect_match(spoken(rbind(trials, trials[1:7, ]))$text, "7 of 247 rows repeat another one, trial_id and all")
  expect_equal(nrow(spoken(trials)), 0)
  pairs <- rbind(transform(trials, word = "a"), transform(trials, word = "b"))
  expect_equal(nrow(spoken(pairs)), 0)
})

test_that("a count of class integer64 is refused, for R would read it as another number", {
  trials <- made_trials()
  class(trials$tokens) <- "integer64"
  expect_error(spoken(trials), "the column \"tokens\" is of class \"integer64\".*as.numeric\\(data\\$tokens\\)")
})

test_that("a data.table becomes a plain data frame, for its brackets mean something else in sourced functions", {
  class_of <- function(data, codes) {
    check_arguments()
    c(class(data), class(codes))
  }
  table <- structure(made_trials(), class = c("data.table", "data.frame"))
  expect_equal(class_of(table, table), c("data.frame", "data.frame"))
})

test_that("a tibble without columns that slant's own data have gives the fits of the data frame, without a warning", {
  skip_if_not_installed("dplyr")
  set.seed(1)
  rows <- data.frame(person = rep(1:20, 8), chosen = rep(0:1, 80), gender = sample(c("man", "woman"), 160, TRUE))
  fits <- lapply(list(rows, dplyr::as_tibble(rows)), amce, "chosen", "gender", cluster = "person")
  expect_equal(fits[[2]]$estimates, fits[[1]]$estimates)
  expect_equal(fits[[2]]$fits$status, "ok")
})

test_that("a folder that is not there costs the file with the models, not the fit", {
  nowhere <- file.path(withr::local_tempdir(), "gone", "fit.rds")
  expect_message(
    fit <- effect_size(made_trials(), levels = conditions, save_to = nowhere), "fit.rds could not be stored"
  )
  expect_equal(fit$fits$status, "ok")
})
