formula <- "is_consistent ~ condition * model * test + (1 | item)"
conditions <- list(condition = c("congruent", "incongruent"))
fit_both <- function(trials, ...) fit_lme4(trials, formula, levels = conditions, family = "binomial", ...)

test_that("estimates are those of glmer called directly, with Wald's z and interval", {
  trials <- simulate_forced_choice(n_words = 8, parameters = transform(forced_choice_parameters(), p_consistent = .7))
  found <- fit_lme4(trials, "is_consistent ~ condition + (1 | item)", levels = conditions, family = "binomial")
  trials$condition <- factor(trials$condition)
  control <- lme4::glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5))
  model <- lme4::glmer(is_consistent ~ condition + (1 | item), trials, family = binomial(), control = control)
  table <- coef(summary(model))
  expect_equal(found$estimates$estimate, unname(table[, "Estimate"]))
  expect_equal(found$estimates$p_value, unname(table[, "Pr(>|z|)"]))
  expect_equal(found$estimates$conf_high, unname(table[, "Estimate"] + qnorm(.975) * table[, "Std. Error"]))
  expect_true(all(is.na(found$estimates$df)))
  expect_equal(found$fits$log_lik, as.numeric(logLik(model)))
  expect_match(found$fits$optimiser, "Wald z")
  expect_equal(found$variances$group, "item")
})

test_that("a cell in which all answers are alike is named by the term that it separates, and the fit is not ok", {
  trials <- simulate_forced_choice(n_words = 8)
  trials$is_consistent[trials$is_valid] <- seq_len(sum(trials$is_valid)) %% 4 > 0
  is_cell <- trials$model == "gpt-5" & trials$test == "gender_science" & trials$condition == "congruent"
  trials$is_consistent[is_cell] <- TRUE
  found <- fit_both(trials, n_agq = 0)
  warned <- found$messages$text[found$messages$kind == "warning"]
  named <- grep("separation", warned, value = TRUE)
  expect_length(named, 1)
  expect_match(named, "Quasi-complete separation by .*condition:model:test")
  expect_match(named, "without error in 32 of \\d+ rows")
  expect_true(found$fits$status %in% c("warned", "singular"))
})

test_that("one model only leaves the factor out of the formula, says so, and keeps its name in the tables", {
  trials <- subset(simulate_forced_choice(n_words = 8), model == "claude-sonnet-4")
  found <- fit_both(trials, n_agq = 0)
  expect_match(found$fits$messages, "All rows are of one model, claude-sonnet-4")
  expect_equal(unique(found$tables$contrasts$model), "claude-sonnet-4")
  expect_false(any(grepl("model", found$estimates$term)))
})

test_that("one condition only has probabilities and no contrast", {
  trials <- subset(simulate_forced_choice(n_words = 8), condition == "congruent")
  formula <- sub("is_consistent", "is_valid", formula)
  found <- fit_lme4(trials, formula, levels = conditions, family = "binomial", n_agq = 0)
  expect_equal(unique(found$tables$predictions$condition), "congruent")
  expect_equal(nrow(found$tables$contrasts), 0)
})

test_that("all valid is one sentence, and so is an outcome that is no yes or no", {
  trials <- transform(simulate_forced_choice(n_words = 8), is_valid = TRUE)
  fit <- function(...) fit_lme4(trials, ..., levels = conditions, family = "binomial")$fits
  expect_match(fit("is_valid ~ condition + (1 | item)")$error, "TRUE in all 384 rows: there is nothing to explain")
  expect_match(fit("position ~ condition + (1 | item)")$error, "must be TRUE or FALSE, or 1 or 0")
  expect_error(fit_lme4(trials, "is_valid ~ condition + (1 | item)", family = "poisson"), "`family` must be")
})

test_that("groups that are fitted apart have their own tables", {
  trials <- simulate_forced_choice(n_words = 20)
  found <- fit_lme4(
    trials, "is_valid ~ condition + (1 | item)", by = "model", levels = conditions, family = "binomial", n_agq = 0
  )
  expect_equal(unique(found$tables$predictions$model), unique(trials$model))
  expect_equal(nrow(found$tables$predictions), 3 * 2 * 2)
})
