skip_without_stm()

test_that("effects are those of estimateEffect(), to the bit", {
  fitted <- fitted_topics()
  set.seed(7)
  expected <- stm::estimateEffect(1:3 ~ condition * model, fitted$model, fitted$prepared$meta, nsims = 4)
  found <- topic_effects(fitted$model, fitted$prepared$meta, ~ condition * model, seed = 7, n_draws = 4)
  expect_s3_class(found, "estimateEffect")
  same <- c("parameters", "topics", "uncertainty", "data", "varlist")
  expect_identical(unclass(found)[same], unclass(expected)[same])
})

test_that("a model without covariates has effects, too", {
  fitted <- fitted_topics(prevalence = NULL)
  set.seed(7)
  expected <- stm::estimateEffect(1:3 ~ model, fitted$model, fitted$prepared$meta, nsims = 2)
  found <- topic_effects(fitted$model, fitted$prepared$meta, ~model, seed = 7, n_draws = 2)
  expect_identical(found$parameters, expected$parameters)
})

test_that("a difference between conditions is tested on the documents minus the coefficients", {
  fitted <- fitted_topics()
  meta <- transform(fitted$prepared$meta, condition = factor(condition))
  effects <- topic_effects(fitted$model, meta, ~ condition * model, seed = 7, n_draws = 2)
  found <- contrast_rows(effects, NA, "condition")
  expect_equal(found$p_value, 2 * stats::pt(-abs(found$estimate / found$std_error), nrow(meta) - 4))
  expect_equal(found$conf_high, found$estimate + stats::qt(.975, nrow(meta) - 4) * found$std_error)
})

test_that("an empty cell is warned of, and gets stm's small prior", {
  fitted <- fitted_topics()
  meta <- fitted$prepared$meta
  meta$test[meta$model == "a"] <- "one"
  formula <- ~ model * test
  expect_warning(found <- topic_effects(fitted$model, meta, formula, seed = 7, n_draws = 2), "singular")
  set.seed(7)
  suppressWarnings(expected <- stm::estimateEffect(1:3 ~ model * test, fitted$model, meta, nsims = 2))
  expect_identical(found$parameters, expected$parameters)
})

test_that("nobody's own random numbers are spoilt", {
  fitted <- fitted_topics()
  set.seed(1)
  expected <- stats::runif(2)
  set.seed(1)
  first <- stats::runif(1)
  topic_effects(fitted$model, fitted$prepared$meta, ~model, n_draws = 1)
  expect_equal(c(first, stats::runif(1)), expected)
})
