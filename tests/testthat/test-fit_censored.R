sides <- c("compatible", "incompatible")

counted <- function(step, ratio = 1.5, n = 800, seed = 2, median = 90) {
  with_seed(seed, {
    condition <- rep(sides, n / 2)
    tokens <- stats::rlnorm(n, log(median) + log(ratio) * (condition == sides[[2]]), .45)
    data.frame(
      condition,
      wording = rep(1:20, each = n / 20), item = rep(rep(1:10, each = 2), n / 20), model = "m",
      tokens = step * (tokens %/% step)
    )
  })
}
censored <- function(trials, ...) fit_censored(trials, levels = sides, ...)

test_that("the probabilities of all counts add up to 1 in every family but the hurdle", {
  counts <- seq(0, 64 * 4000, 64)
  total <- function(family, ...) sum(exp(family(counts, 64, ...)))
  expect_equal(total(interval_of_lognormal, 5, 1), 1, tolerance = 1e-6)
  expect_equal(total(interval_of_gaussian, 300, 200), 1, tolerance = 1e-6)
  expect_equal(total(interval_of_negative_binomial, 5, 2), 1, tolerance = 1e-6)
  expect_equal(sum(exp(interval_above_step(counts[-1], 64, 4, .5))), 1, tolerance = 1e-6)
  expect_lt(sum(exp(interval_of_lognormal(counts[-1], 64, 4, .5))), .7)
})

test_that("a step far out in a tail has its probability, whichever family it is of", {
  # by the sum of its 64 numbers, and by R's own upper tails
  expect_equal(interval_of_negative_binomial(1280, 64, log(100), 4), -40.33941, tolerance = 1e-6)
  cells <- expand.grid(count = c(0, 64, 6400, 640000), mean = log(c(.5, 50, 5000)), size = c(.05, 2, 1e7))
  expected <- mapply(log_sum_of_negative_binomial, cells$count, 64, exp(cells$mean), cells$size)
  expect_equal(interval_of_negative_binomial(cells$count, 64, cells$mean, cells$size), expected, tolerance = 1e-8)
  upper <- function(z) stats::pnorm(z, lower.tail = FALSE)
  expect_equal(log_share_between(30, 31), log(upper(30) - upper(31)))
  expect_equal(log_share_between(-31, -30), log_share_between(30, 31))
  expect_equal(log_share_between(1, 1 + 1e-12), stats::dnorm(1, log = TRUE) + log((1 + 1e-12) - 1))
})

skip_if_not_installed("survival")

test_that("standard errors are clustered by wording and by word, and either alone has survreg's own", {
  trials <- counted(64)
  trials$tokens <- 64 * (trials$tokens * exp(with_seed(1, stats::rnorm(10, sd = .5)))[trials$item] *
    (trials$condition == sides[[2]]) + trials$tokens * (trials$condition == sides[[1]])) %/% 64 * 1
  by <- function(...) censored(trials, cluster = c(...))$estimates$std_error
  cell <- censored(transform(trials, cell = paste(wording, item)), cluster = "cell")$estimates$std_error
  two_way <- sqrt(by("wording")^2 + by("item")^2 - cell^2)
  expect_equal(by("wording", "item"), pmax(two_way, by("wording"), by("item")))
  expect_gt(by("wording", "item")[[2]], 1.5 * by("wording")[[2]])
  expect_equal(censored(trials)$estimates$df, c(9, 9))
  few <- censored(transform(trials, wording = wording %% 2))
  expect_match(few$messages$text, "Fewer than three of \"wording\" (2)", fixed = TRUE, all = FALSE)
})

test_that("a fit has the numbers of survreg on the intervals that counts stand for", {
  trials <- counted(64)
  direct <- survival::survreg(
    survival::Surv(ifelse(tokens == 0, NA, tokens), tokens + 64, type = "interval2") ~ condition, trials,
    dist = "lognormal", cluster = wording, robust = TRUE
  )
  fit <- censored(trials, cluster = "wording")
  expect_equal(fit$estimates$term, c("intercept", "conditionincompatible"))
  expect_equal(fit$estimates$estimate, unname(coef(direct)), tolerance = 1e-8)
  expect_equal(fit$estimates$std_error, sqrt(20 / 19) * unname(sqrt(diag(vcov(direct))))[1:2], tolerance = 1e-8)
  expect_equal(fit$tables$effects$ratio, exp(coef(direct)[[2]]), tolerance = 1e-8)
  expect_equal(fit$tables$families$log_lik[[1]], direct$loglik[[2]], tolerance = 1e-8)
  expect_equal(fit$fits$status, "ok")
})

test_that("what the step hides is found again, and the share of zeros predicted", {
  exact <- censored(counted(1))$tables$effects
  stepped <- censored(counted(64))$tables$effects
  expect_equal(c(exact$step, stepped$step), c(1, 64))
  expect_equal(stepped$ratio, exact$ratio, tolerance = .03)
  expect_equal(stepped$median_reference, exact$median_reference, tolerance = .03)
  expect_equal(stepped$zeros_reference_predicted, stepped$zeros_reference, tolerance = .1)
  expect_gt(stepped$zeros_reference, .2)
})

test_that("the family that made the counts is the likeliest, and two equal ones are told apart by their parameters", {
  families <- function(trials) {
    rows <- censored(trials)$tables$families
    stats::setNames(rows$aic_difference, rows$family)
  }
  of_lognormal <- families(counted(64, n = 4000))
  expect_true(all(of_lognormal[c("gaussian", "negative_binomial", "hurdle")] > 10))
  refusing <- counted(1)
  refusing$tokens[seq(1, 800, 5)] <- 0
  expect_true(all(families(refusing)[c("two_part", "hurdle")] < -500))
  expect_equal(unname(families(counted(1))[c("two_part", "hurdle")]), c(0, 0), tolerance = 1e-6)
})

test_that("what is no count, and a step that nobody knows, is a sentence", {
  error_of <- function(trials, ...) censored(trials, ...)$fits$error
  expect_match(error_of(transform(counted(1), tokens = tokens + .5)), "whole numbers from 0")
  expect_match(error_of(transform(counted(1), tokens = -tokens)), "whole numbers from 0")
  expect_match(error_of(transform(counted(1), tokens = 64 * (tokens > 90))), "step of the counts is not known")
  expect_match(error_of(transform(counted(1), wording = 1, item = 1)), "fewer than three of \"wording\", \"item\"")
  expect_match(error_of(counted(64), step = 100), "multiples of the step 100")
})
