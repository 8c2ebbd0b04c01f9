test_that("both fits stand side by side, and a lost conclusion is said", {
  paper <- data.frame(test = c("a", "b", "c"), term = "x", estimate = c(5, 5, -5), std_error = 1)
  paper$p_value <- c(.01, .01, .2)
  words <- paper[c(3, 1), ]
  words$std_error <- 2
  words$p_value <- c(.01, .2)
  found <- check_word_effects(paper, words, by = "test")
  expect_equal(found$changes_conclusion, c(TRUE, NA, TRUE))
  expect_equal(found$std_error_ratio, c(2, NA, 2))
})

test_that("an effect that differs by word has a wider standard error, as lmerTest's own", {
  trials <- made_trials()
  trials$tokens <- trials$tokens + 10 * (trials$item - 6) * (trials$condition == "incompatible")
  levels <- list(condition = conditions)
  slopes <- "tokens ~ condition + (1 | wording) + (1 | item) + (1 | item:condition)"
  found <- check_word_effects(fit_made(trials)$estimates, fit_lme4(trials, slopes, levels = levels)$estimates)
  direct <- lmerTest::lmer(as.formula(slopes), data = transform(trials, item = factor(item), wording = factor(wording)))
  expect_equal(found$p_words, coef(summary(direct))[2, "Pr(>|t|)"], tolerance = 1e-3)
  expect_gt(found$std_error_ratio, 1.5)
})
