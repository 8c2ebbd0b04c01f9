decisions <- function() {
  withr::local_seed(4)
  d <- round(runif(80, -1, 1), 2)
  data.frame(model = rep(c("a", "b"), each = 40), d = d, decision_bias = rbinom(80, 1, plogis(.3 + d)))
}

test_that("coefficients, Wald's z and intervals are those of R's glm", {
  data <- decisions()
  found <- fit_logistic(data, "decision_bias ~ d", by = "model")
  direct <- glm(decision_bias ~ d, binomial, data[data$model == "b", ])
  own <- found$estimates[found$estimates$model == "b", ]
  expect_identical(own$term, c("intercept", "d"))
  expect_identical(own$estimate, unname(coef(direct)))
  expect_identical(own$statistic, unname(summary(direct)$coefficients[, "z value"]))
  expect_equal(own$conf_high, unname(confint.default(direct)[, 2]))
  expect_identical(found$fits$aic[[2]], AIC(direct))
})

test_that("the test against the intercept alone is R's own", {
  data <- decisions()
  tests <- fit_logistic(data, "decision_bias ~ d")$tables$tests
  models <- lapply(list(decision_bias ~ 1, decision_bias ~ d), glm, binomial, data)
  direct <- anova(models[[1]], models[[2]], test = "Chisq")
  expect_equal(tests$p_value, direct$`Pr(>Chi)`[[2]])
  expect_equal(tests$null_log_lik, as.numeric(logLik(models[[1]])))
  expect_equal(tests$pseudo_r_squared, 1 - as.numeric(logLik(models[[2]])) / as.numeric(logLik(models[[1]])))
})

test_that("with a cluster the same coefficients have standard errors over clusters, with those of rows beside them", {
  skip_if_not_installed("clubSandwich")
  data <- decisions()
  data$test <- rep(1:8, 10)
  found <- fit_logistic(data, "decision_bias ~ d", cluster = "test")
  plain <- fit_logistic(data, "decision_bias ~ d")
  expect_identical(found$tables$clustered$std_error_rows, plain$estimates$std_error)
  expect_identical(found$tables$tests$p_value_rows, plain$tables$tests$p_value)
  expect_identical(found$estimates$std_error, found$tables$clustered$std_error) # what is shown
  expect_equal(found$tables$tests$p_value[[1]], found$estimates$p_value[[2]]) # of one coefficient, F is t squared
  direct <- clubSandwich::coef_test(glm(decision_bias ~ d, binomial, data), "CR2", cluster = data$test)
  clustered <- found$tables$clustered
  expect_equal(clustered[c("std_error", "df")], data.frame(std_error = direct$SE, df = direct$df_Satt))
  half_width <- qt(.975, clustered$df[[2]]) * clustered$std_error[[2]]
  expect_equal(clustered$conf_high[[2]], clustered$estimate[[2]] + half_width)
  few <- fit_logistic(transform(data, test = test %% 2), "decision_bias ~ d", cluster = "test")
  expect_equal(nrow(few$tables$clustered), 0)
  expect_match(few$messages$text, "fewer than three of \"test\"", all = FALSE)
})

test_that("undecided rows are left out and counted, never zeros", {
  data <- decisions()
  data$decision_bias[1:7] <- NA
  found <- fit_logistic(data, "decision_bias ~ d")
  expect_equal(c(found$fits$n, found$fits$n_missing), c(73, 7))
})

test_that("what can't be estimated is said", {
  data <- decisions()
  expect_match(fit_logistic(transform(data, decision_bias = 1), "decision_bias ~ d")$fits$error, "is 1 in all 80 rows")
  expect_match(fit_logistic(transform(data, d = .5), "decision_bias ~ d")$fits$error, "does not vary")
  apart <- fit_logistic(transform(data, decision_bias = as.integer(d > 0)), "decision_bias ~ d")
  expect_match(apart$fits$messages, "0 or 1")
})

test_that("wrong arguments are one sentence", {
  expect_error(fit_logistic(decisions(), "decision_bias ~ d + (1 | model)"), "no random effect")
  one <- transform(decisions(), model = "a")
  expect_error(fit_logistic(one, "decision_bias ~ model"), "\"model\" needs at least two")
  expect_error(fit_logistic(decisions(), "decision_bias ~ bias"), "\"bias\" is not a column")
})
