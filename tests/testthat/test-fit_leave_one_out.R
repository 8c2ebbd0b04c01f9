leave_out <- function(trials, ...) {
  fit_leave_one_out(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = conditions), ...)
}

test_that("each model is the one that lmerTest fits without that prompt, that of all prompts fit_lme4()'s", {
  trials <- made_trials()
  found <- leave_out(trials)$estimates
  expect_equal(found$term, c("all", paste("without", 1:10)))
  for (wording in c(1, 10)) {
    kept <- transform(trials[trials$wording != wording, ], wording = factor(wording))
    direct <- coef(summary(lmerTest::lmer(tokens ~ condition + (1 | wording), data = kept)))[2, ]
    row <- found[found$term == paste("without", wording), ]
    expect_equal(row$estimate, direct[["Estimate"]], tolerance = 1e-6)
    expect_equal(row$std_error, direct[["Std. Error"]], tolerance = 1e-4)
    expect_equal(row$df, direct[["df"]], tolerance = .01)
    expect_equal(row$p_value, direct[["Pr(>|t|)"]], tolerance = .01)
  }
  found <- leave_out(trials)
  paper <- fit_made(trials)
  expect_identical(found$estimates$p_value[[1]], paper$estimates$p_value[[2]])
  expect_identical(found$variances, paper$variances)
  expect_identical(found$fits[c("n", "log_lik", "singular")], paper$fits[c("n", "log_lik", "singular")])
})

test_that("what R says of many refits is said once, with their number", {
  found <- leave_out(made_trials(wording_sd = 0, seed = 5))
  skip_if_not(found$fits$singular, "this machine's lme4 finds a variance here")
  expect_match(found$messages$text, "Without one, in \\d+ of 10 fits: boundary", all = FALSE)
  expect_lt(nrow(found$messages), 4)
})
