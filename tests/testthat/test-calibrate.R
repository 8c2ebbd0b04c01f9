# Means of normal numbers under normal(0, sd): one number of variance 1 each, and the posterior in closed form, in the
# place of Stan.
closed_form <- function(truth_prior, sd = 1, n = 200) {
  truth <- drawn(truth_prior, n)
  weight <- sd^2 / (sd^2 + 1)
  rows <- lapply(seq_len(n), function(number) {
    mean <- weight * (truth[[number]] + rnorm(1))
    draws <- matrix(rnorm(500, mean, sqrt(weight)), dimnames = list(NULL, "mean"))
    values <- list(keys = frame_of(quantity = "mean", model = NA_character_, test = NA_character_), draws = draws)
    numbered(number, quantity_rows(values, truth[[number]], 2, 99))
  })
  do.call(rbind, rows)
}

test_that("ranks of a right posterior are uniform, its intervals hold the truth, and shrinkage is what is known", {
  summary <- with_seed(1, summarise_calibration(closed_form("normal(0, 1)")))
  expect_gt(summary$p_value, .05)
  expect_gt(summary$coverage, .9)
  expect_lt(abs(summary$mean_z), .25)
  expect_lt(abs(summary$sd_z - 1), .2)
  expect_lt(abs(summary$shrinkage - .5), .12) # 1 - (1 / 2) / 1; the variance of 200 truths is good to a tenth
})

test_that("a prior that is too narrow for the truths is found", {
  narrow <- with_seed(1, summarise_calibration(closed_form("normal(0, 1.5)", sd = .3, n = 40)))
  expect_lt(narrow$p_value, 1e-6)
  expect_lt(narrow$coverage, .6)
  expect_gt(narrow$sd_z, 2)
})

test_that("doubtful fits keep their ranks and are counted, and failed ones are counted", {
  rows <- with_seed(1, transform(closed_form("normal(0, 1)", n = 20), status = "ok"))
  rows$status[1:3] <- "divergent"
  failed <- transform(rows[1, ], number = 21, quantity = NA, rank = NA, status = "failed")
  summary <- summarise_calibration(rbind(rows, failed))
  expect_equal(summary[c("n", "n_failed", "n_doubtful")], data.frame(n = 20L, n_failed = 1L, n_doubtful = 3L))
  expect_error(summarise_calibration(failed), "no data set could be fitted")
  expect_error(summarise_calibration(rbind(rows, rows)), "several rows of one quantity")
})

test_in_full("a data set drawn from the prior and fitted gives each parameter, difference and the likelihood a rank", {
  skip_without_stan()
  formula <- "is_consistent ~ condition * model * test + (1 | item)"
  levels <- list(condition = example_conditions())
  draw <- function(...) calibrate(few_trials(), formula, levels, n = 2, iterations = 120, warmup = 60, ...)
  found <- suppressWarnings(draw(chains = 1, n_draws = 19))
  expect_identical(suppressWarnings(draw(chains = 1, n_draws = 19, cores = 2)), found)
  ranks <- found$ranks
  expect_equal(unique(found$summary$n), 2)
  of_one <- ranks[ranks$number == 1, ]
  expect_equal(of_one$quantity[c(1, 2, 13, 20)], c("intercept", "conditionincongruent", "sd_item", "log_lik"))
  expect_equal(grep("^delta_p: ", of_one$quantity), 14:19)
  expect_true(all(ranks$rank >= 0 & ranks$rank <= 19) && all(ranks$n_draws == 19))
  # Far too few draws: three tries, and still said to be so.
  expect_equal(unique(ranks$iterations), 480)
})

# Counts of 64 in a small crossed design, and the arguments of their calibration.
counted <- function(...) {
  rows <- expand.grid(condition = c("usual", "crossed"), wording = 1:6, item = letters[1:8], stringsAsFactors = FALSE)
  rows$tokens <- 64 * (seq_len(nrow(rows)) %% 9)
  formula <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"
  list(rows, formula, levels = list(condition = c("usual", "crossed")), step = 64, ...)
}

test_in_full("counts are drawn in their steps, as many zeros as the truth says, and fitted as intervals", {
  skip_without_brms()
  parts <- do.call(calibrated_parts, counted(family = "lognormal"))
  simulated <- with_seed(2, lapply(1:20, function(number) simulated_parts(parts, parts$priors)))
  outcomes <- lapply(simulated, function(one) one$parts$outcome)
  expect_setequal(unlist(outcomes) %% 64, 0)
  below <- unlist(lapply(simulated, function(one) plnorm(64, one$truth$predictor, one$truth$others[["sigma"]])))
  expect_lt(abs(mean(unlist(outcomes) == 0) - mean(below)), .02)
  data <- simulated[[1]]$parts$data
  expect_setequal(data$count_side[data$tokens == 0], -1)
  expect_equal(unique(data$count_low[data$tokens == 0]), 64)
  expect_identical(simulated[[1]]$parts$priors, parts$priors) # those of the rows as observed
})

test_that("a negative binomial, which is fitted to single numbers, is calibrated with such", {
  family <- count_family("negative_binomial", 64)
  observed <- with_seed(1, family$observed(family$draw_fitted(rep(5, 500), 2)))
  drawn <- with_seed(1, stats::rnbinom(500, size = 2, mu = exp(5)))
  expect_identical(observed$count_side == -1, drawn < 64)
  expect_equal(observed$count_low, ifelse(drawn < 64, 63, drawn))
  of_one <- count_family("negative_binomial", 1)
  expect_equal(with_seed(1, of_one$draw_fitted(rep(5, 9), 2)), with_seed(1, of_one$draw(rep(5, 9), 2)))
})

test_in_full("a lognormal of counts in steps is calibrated", {
  skip_without_stan()
  found <- suppressWarnings(do.call(calibrate, counted(family = "lognormal", n = 30, cores = 2)))
  expect_true(all(found$summary$p_adjusted > .001))
  expect_gt(mean(found$summary$coverage), .88)
  expect_true(all(c("conditioncrossed", "sigma", "log_lik") %in% found$summary$quantity))
})

test_that("more ranks than draws are refused, and counts with two parameters besides their predictor", {
  skip_without_brms()
  formula <- "is_consistent ~ condition * model * test + (1 | item)"
  few <- list(
    few_trials(), formula, list(condition = example_conditions()), n = 1, chains = 1, iterations = 120, warmup = 60
  )
  expect_error(do.call(calibrate, few), "Can't rank truths among 99 draws: the chains give 60")
  expect_error(do.call(calibrate, counted(family = "hurdle_lognormal", n = 1)), "Can't calibrate a fit of counts")
})

test_in_full("a prior of the fit that is not that of the truths is found by Stan's draws, too", {
  skip_without_stan()
  found <- suppressWarnings(calibrate(
    simulate_forced_choice(n_words = 5), "is_consistent ~ condition * model * test + (1 | item)",
    list(condition = example_conditions()),
    priors = list(b = "normal(0, .3)"), truth_priors = list(b = "normal(0, 1.5)"), n = 40, cores = 2
  ))
  summary <- found$summary
  is_coefficient <- grepl("^(condition|model|test)", summary$quantity)
  expect_gt(sum(summary$p_adjusted[is_coefficient] < .001), 5)
  expect_lt(min(summary$coverage[is_coefficient]), .6)
})
