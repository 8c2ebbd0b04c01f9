skewness_by_hand <- function(x) sum((x - mean(x))^3) / length(x) / (sum((x - mean(x))^2) / length(x))^(3 / 2)

test_that("residuals are those of lmerTest called directly", {
  trials <- made_trials()
  found <- check_residuals(trials)
  model <- lmerTest::lmer(tokens ~ condition + (1 | wording), data = transform(trials, wording = factor(wording)))
  residual <- resid(model)
  expect_equal(found$n, 240)
  expect_equal(found$residual_sd, sigma(model))
  expect_equal(found$skewness, skewness_by_hand(residual), tolerance = 1e-6)
  expect_equal(found$share_beyond_3, mean(abs(residual) / sigma(model) > 3))
  sds <- tapply(residual, trials$condition, sd)
  expect_equal(found$sd_ratio, sds[["incompatible"]] / sds[["compatible"]], tolerance = 1e-6)
  expect_equal(found$qq_correlation, cor(sort(residual), qqnorm(sort(residual), plot.it = FALSE)$x), tolerance = 1e-6)
})

test_that("a long tail and an uneven spread are seen, and their absence too", {
  trials <- made_trials()
  is_incompatible <- trials$condition == "incompatible"
  tailed <- transform(trials, tokens = tokens + ifelse(is_incompatible, 3, 1) * withr::with_seed(1, rexp(240, .02)))
  expect_gt(check_residuals(tailed)$skewness, 1)
  expect_gt(check_residuals(tailed)$sd_ratio, 1.5)
  expect_lt(abs(check_residuals(trials)$skewness), .5)
})

test_that("a group that can't be fitted is one row that says why, and warnings are kept", {
  trials <- rbind(transform(made_trials(), test = "good"), transform(made_trials(), tokens = 64, test = "flat"))
  found <- check_residuals(transform(trials, source = ifelse(item == 1, "imported", "simulated")), by = "test")
  expect_equal(found$status, c("warned", "failed"))
  expect_match(found$messages[[1]], "more than one source are put together: imported, simulated")
  expect_match(found$messages[[2]], "nothing to explain")
  expect_equal(is.na(found$skewness), c(FALSE, TRUE))
})

test_that("rows without a count are left out and said", {
  trials <- made_trials()
  trials$tokens[1:3] <- NA
  found <- check_residuals(trials)
  expect_equal(found$n, 237)
  expect_match(found$messages, "3 rows without tokens left out")
})
