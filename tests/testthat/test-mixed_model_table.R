test_that("a row has the nine numbers of the paper's tables, as published of o3-mini (Table S6)", {
  fit <- fit_lme4(
    transform(published_trials("o3-mini", "flowers_insects"), model = "o3-mini"), "tokens ~ condition + (1 | prompt)",
    by = "model", levels = list(condition = conditions)
  )
  row <- mixed_model_table(fit)
  expect_equal(row$model, "o3-mini")
  found <- round(unlist(row[c("intercept", "intercept_std_error", "condition", "condition_std_error")]), 2)
  expect_equal(unname(found), c(63.94, 2.51, 62.34, 2.65))
  expect_equal(row$stars, "***")
  expect_equal(round(c(row$var_prompt, row$var_residual, row$log_lik), 2), c(55.91, 3516.52, -11008.05))
  expect_equal(c(row$n, fit$fits$n_groups), c(2000, 20))
})

test_that("rows stand in the order of the fits, and a failed one is there without numbers", {
  trials <- simulate_trials(n_wordings = 3)
  trials$tokens[trials$model == "simulated-a" & trials$test == "gender_career"] <- 64L
  fit <- fit_lme4(trials, "tokens ~ condition + (1 | wording)",
    by = c("test", "model"), levels = list(condition = conditions)
  )
  table <- mixed_model_table(fit)
  expect_equal(table[c("test", "model")], fit$fits[c("test", "model")])
  expect_equal(is.na(table$condition), fit$fits$status == "failed")
  is_condition <- fit$estimates$term == "conditionincompatible"
  expect_identical(table$condition[!is.na(table$condition)], fit$estimates$estimate[is_condition])
})
