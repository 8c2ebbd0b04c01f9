counts_formula <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"
pair_of_sides <- list(condition = c("compatible", "incompatible"))

# Counts in steps of 64 of which the second condition takes 1.5 times as many, words and wordings differing a little.
counts_in_steps <- function(step = 64, n_words = 10, n_wordings = 8) {
  rows <- expand.grid(
    item = letters[seq_len(n_words)], wording = seq_len(n_wordings), condition = pair_of_sides$condition,
    stringsAsFactors = FALSE
  )
  withr::with_seed(5, {
    mu <- log(100) + log(1.5) * (rows$condition == "incompatible") + stats::rnorm(n_words, 0, .1)[factor(rows$item)]
    rows$tokens <- in_steps(stats::rlnorm(nrow(rows), mu, .4), step)
  })
  rows
}

fitted_counts <- new.env()
count_fit <- function() {
  if (is.null(fitted_counts$fit)) {
    fitted_counts$fit <- fit_brms(
      counts_in_steps(), counts_formula,
      levels = pair_of_sides, family = "lognormal", chains = 2, iterations = 300, warmup = 150, cores = 2
    )
  }
  fitted_counts$fit
}

test_in_full("the ratio of medians that was put in is found, with the zeros that are there", {
  skip_without_stan()
  effects <- count_fit()$tables$effects
  expect_equal(effects[c("term", "family", "step")], data.frame(
    term = "conditionincompatible", family = "lognormal", step = 64
  ))
  expect_true(effects$ratio_low < 1.5 && 1.5 < effects$ratio_high && effects$p_above > .99)
  expect_equal(effects$zeros_reference, mean(subset(counts_in_steps(), condition == "compatible")$tokens == 0))
  expect_equal(effects$zeros_reference_predicted, effects$zeros_reference, tolerance = .35)
  expect_lt(effects$p_within_bound, .01)
  expect_equal(effects$bound, .1)
  expect_match(effects$prior, "^normal")
  medians <- count_fit()$tables$predictions
  expect_equal(medians$condition, pair_of_sides$condition)
  expect_equal(medians$estimate[[2]] / medians$estimate[[1]], effects$ratio, tolerance = .02)
})

test_in_full("a count's leave-one-out density is that of loo where the interval is what was fitted", {
  skip_without_stan()
  loo <- count_fit()$tables$loo
  expect_equal(sum(count_fit()$tables$pointwise$elpd), loo$elpd_loo)
  fit <- count_fit()$models$all
  plain <- suppressWarnings(brms::loo(fit, cores = 1)$estimates)
  expect_equal(c(loo$elpd_loo, loo$p_loo), unname(plain[1:2, "Estimate"]), tolerance = 1e-6)
  expect_equal(loo$se_elpd_loo, plain["elpd_loo", "SE"], tolerance = 1e-6)
})

test_in_full("counts are checked by zeros, steps and quantiles of each condition", {
  skip_without_stan()
  checks <- count_fit()$tables$checks
  statistics <- c("zeros", "one_step", "two_steps", "quantile_10", "median", "quantile_90")
  expect_equal(checks$statistic, c(rep(statistics, each = 3), "item_sd"))
  expect_equal(checks$condition[1:3], c(pair_of_sides$condition, NA))
  expect_true(all(checks$conf_low[1:3] <= checks$observed[1:3] & checks$observed[1:3] <= checks$conf_high[1:3]))
})

skip_without_brms()

test_in_full("one Stan program serves all cells of a family, whatever their step, numbers and priors", {
  code <- function(rows, ...) {
    step <- step_of_outcome(rows, checked_formula(counts_formula, names(rows)), "lognormal", NULL)
    brms_parts(rows, counts_formula, pair_of_sides, family = "lognormal", step = step, ...)$code
  }
  in_steps_of_64 <- code(counts_in_steps())
  expect_identical(code(counts_in_steps(step = 1)), in_steps_of_64)
  expect_identical(code(counts_in_steps(n_words = 4, n_wordings = 3)), in_steps_of_64)
  narrow <- list(b = "normal(0, 0.3)", sigma = "exponential(2)")
  expect_identical(code(counts_in_steps(), priors = narrow), in_steps_of_64)
})

test_in_full("leave-one-out weighs draws by what was fitted, and judges by the interval", {
  family <- bayes_family("lognormal", 1)
  y <- withr::with_seed(6, floor(stats::rlnorm(30, 5, .5)))
  predictors <- withr::with_seed(7, matrix(stats::rnorm(400 * 30, 5, .05), 400))
  used <- list(predictors = predictors, sigma = rep(.5, 400), chain = rep(1:2, each = 200))
  exact <- leave_one_out(used, y, family, rep(0, 30))
  interval <- leave_one_out(used, y, family, rep(2, 30))
  expect_equal(exact$elpd_loo, interval$elpd_loo, tolerance = 1e-4)
  one <- family$log_lik(y[[1]], predictors[, 1], used$sigma)
  expect_equal(attr(interval, "pointwise")$elpd[[1]], -log(mean(exp(-one))), tolerance = .01)
})

test_in_full("counts that come in several steps, or are none, are refused in a sentence", {
  fit <- function(rows, ...) fit_brms(rows, counts_formula, levels = pair_of_sides, family = "lognormal", ...)
  expect_error(fit(transform(counts_in_steps(), step = rep(c(1, 64), 80)), step = "step"), "one step")
  expect_error(fit(transform(counts_in_steps(), tokens = tokens + .5)), "whole numbers from 0")
  expect_error(fit(counts_in_steps(), step = 100), "multiples of the step 100")
  expect_error(fit_brms(counts_in_steps(), "log(tokens) ~ condition + (1 | item)", family = "lognormal"), "alone")
})

test_in_full("the coefficients of zeros of a hurdle are terms of their own, and its medians have its zeros", {
  parts <- brms_parts(counts_in_steps(), counts_formula, pair_of_sides, family = "hurdle_lognormal", step = 64)
  draws <- cbind(
    b_Intercept = 5, b_hu_Intercept = -1, b_conditionincompatible = .4, b_hu_conditionincompatible = -2, sigma = .5
  )[rep(1, 50), ]
  estimates <- bayesian_estimates(draws, parts)
  expect_equal(estimates$term, c(
    "intercept", "conditionincompatible", "hu_intercept", "hu_conditionincompatible", "sigma"
  ))
  expect_equal(estimates$estimate, c(5, .4, -1, -2, .5))
  checks <- data.frame(statistic = "zeros", condition = pair_of_sides$condition, observed = .1, predicted = .2)
  found <- count_effects(draws, parts, checks)
  expected <- parts$family$median(c(5, 5.4), list(sigma = .5, hu = stats::plogis(c(-1, -3))))
  expect_equal(found$predictions$estimate, expected)
  expect_equal(found$effects$ratio, expected[[2]] / expected[[1]])
})
