test_that("stage A asks whether an answer is valid, stage B whether a valid one is consistent", {
  skip_without_stan()
  rows <- few_trials()
  a <- short_fit(rows, "valid")
  b <- short_fit(rows, "consistent")
  expect_equal(a$tables$model$formula, "is_valid ~ condition * model * test + (1 | item)")
  expect_equal(b$tables$model$formula, "is_consistent ~ condition * model * test + (1 | item)")
  expect_equal(c(a$fits$n, b$fits$n), c(nrow(rows), sum(rows$is_valid)))
  expect_equal(a$tables$model$reference, "condition = congruent; model = claude-sonnet-4; test = gender_career")
})

test_in_full("one model only: the formula drops the factor and says so", {
  skip_without_stan()
  fit <- short_fit(subset(few_trials(), model == "gpt-5"))
  expect_match(said_by(fit), "All rows are of one model, gpt-5: the formula is now is_consistent ~ condition \\* test")
  expect_equal(unique(fit$tables$contrasts$model), "gpt-5")
  expect_equal(nrow(fit$tables$predictions), 8)
})

test_in_full("one test and one model: what is left is the condition", {
  skip_without_stan()
  fit <- short_fit(subset(few_trials(), model == "gpt-5" & test == "gender_science"))
  expect_equal(fit$tables$model$formula, "is_consistent ~ condition + (1 | item)")
  expect_equal(fit$estimates$term, c("intercept", "conditionincongruent", "sd_item"))
  expect_equal(unique(fit$tables$contrasts$test), "gender_science")
})

test_in_full("one condition missing: the fit goes on, and says that there is no difference of conditions", {
  skip_without_stan()
  fit <- short_fit(subset(few_trials(), condition == "congruent"))
  expect_match(said_by(fit), "No difference between conditions can be had: all rows are of the condition \"congruent\"")
  expect_equal(NROW(fit$tables$contrasts), 0)
  expect_equal(unique(fit$tables$predictions$condition), "congruent")
  some <- short_fit(subset(few_trials(), !(model == "gpt-5" & condition == "incongruent")))
  expect_match(said_by(some), "in 2 of 6 combinations of model and test")
  expect_false("gpt-5" %in% some$tables$contrasts$model)
})

test_in_full("all valid: the priors decide, and a warning says so", {
  skip_without_stan()
  fit <- short_fit(transform(few_trials(), is_valid = TRUE), "valid")
  expect_match(said_by(fit), "All 144 values of is_valid are 1: what is estimated rests on the priors alone")
  expect_equal(fit$fits$status, "warned")
  expect_true(all(fit$tables$predictions$estimate > .9))
})

test_in_full("none valid: stage B can't be fitted, stage A can", {
  skip_without_stan()
  rows <- transform(few_trials(), is_valid = FALSE, is_consistent = NA)
  expect_error(short_fit(rows), "none of the 144 is valid")
  expect_match(said_by(short_fit(rows, "valid")), "All 144 values of is_valid are 0")
})

test_in_full("perfect separation: the priors hold it, and a message counts the cells", {
  skip_without_stan()
  rows <- transform(few_trials(), is_consistent = condition == "congruent", is_valid = TRUE)
  fit <- short_fit(rows)
  expect_match(said_by(fit), "Complete separation by \"condition\": \"is_consistent.*kept finite by the priors: all")
  expect_true(all(abs(fit$estimates$estimate) < 10))
  expect_gt(min(subset(fit$tables$contrasts, scale == "delta_p")$estimate), .1)
})

test_in_full("an item that was asked in one condition only takes part, and is counted", {
  skip_without_stan()
  rows <- few_trials()
  fit <- short_fit(subset(rows, !(item == item[1] & condition == "congruent")), "valid")
  expect_match(said_by(fit), "1 of 24 items is in one condition only")
  expect_equal(fit$fits$n_groups, 24)
})

skip_without_brms()

test_that("a trial that stands there twice is an error, a row that looks like another a warning", {
  rows <- few_trials()
  expect_error(fit_forced_choice(rbind(rows, rows[1:2, ])), "of 146 rows, 2 repeat the trial")
  rows$trial_id <- NULL
  expect_warning(check_no_duplicates(rbind(rows, rows[1:2, ])), "2 rows have the same .*model, test, condition, item")
  expect_silent(check_no_duplicates(rows))
})

test_that("repetitions are put together with a message", {
  rows <- few_trials(repetitions = 2)
  expect_message(say_repetitions(rows, "item"), "2 repetitions are put together.*\"repetition\"")
  expect_silent(say_repetitions(rows, c("item", "repetition")))
  expect_message(kept <- varying_columns(few_trials(), c("item", "repetition")), "No random effect of repetition")
  expect_equal(kept, "item")
})

test_in_full("answers to the same question are said to be taken as independent", {
  rows <- few_trials(repetitions = 2)
  parts <- brms_parts(rows, "is_valid ~ condition * model * test + (1 | item) + (1 | repetition)")
  said <- "288 rows answer 144 questions \\(one item, the same model, test, condition\\).*too narrow.*1 \\| item:model"
  expect_message(say_repeated_trials(parts), said)
  apart <- brms_parts(rows, "is_valid ~ condition * model * test + (1 | item) + (1 | item:model:test:condition)")
  expect_silent(say_repeated_trials(apart))
  expect_silent(say_repeated_trials(brms_parts(few_trials(), "is_valid ~ condition * model * test + (1 | item)")))
})

test_in_full("three rows are enough for a right answer", {
  skip_without_stan()
  rows <- few_trials()
  three <- rows[c(which(rows$condition == "congruent")[1:2], which(rows$condition == "incongruent")[1]), ]
  three[c("model", "test")] <- list("gpt-5", "gender_career")
  fit <- short_fit(transform(three, is_valid = TRUE, is_consistent = c(TRUE, FALSE, TRUE)))
  expect_equal(fit$fits$n, 3)
  expect_equal(nrow(fit$tables$contrasts), 4)
  expect_true(all(is.finite(fit$estimates$estimate)))
})

test_in_full("very many rows are refused with an estimate of the time", {
  rows <- few_trials()
  many <- rows[rep(seq_len(nrow(rows)), length.out = 3e5), ]
  many$trial_id <- seq_len(3e5)
  expect_error(suppressMessages(fit_forced_choice(many, "valid", cores = 2)), "Won't fit 300,000 rows.*about 2 hours")
})

test_that("a column that is missing, or a condition of another name, is named", {
  rows <- few_trials()
  without <- rows[setdiff(names(rows), c("condition", "block"))]
  expect_error(fit_forced_choice(without), "have no column \"condition\"")
  usual <- list(condition = c("congruent", "incongruent"))
  other <- transform(rows, condition = "both")
  expect_error(fit_forced_choice(other, levels = usual), "\"condition\" holds \"both\", which is not among")
})
