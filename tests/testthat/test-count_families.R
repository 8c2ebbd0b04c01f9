names_of_families <- c("lognormal", "shifted_lognormal", "gaussian", "negative_binomial", "hurdle_lognormal")

# Parameters of a family whose counts have a median of some 150 tokens.
of_family <- function(name) {
  switch(name,
    lognormal = list(5, .5), shifted_lognormal = list(4.6, list(sigma = .6, ndt = 50)), gaussian = list(150, 80),
    negative_binomial = list(5, 3), hurdle_lognormal = list(5, list(sigma = .5, hu = .2))
  )
}
probabilities <- function(name, step, counts) {
  family <- bayes_family(name, step)
  parameters <- of_family(name)
  vapply(counts, function(count) exp(family$log_lik(count, parameters[[1]], parameters[[2]])), 1)
}

test_in_full("the probabilities of all counts add up to 1 in every family, whatever the step", {
  for (name in names_of_families) {
    for (step in c(1, 5, 64)) expect_equal(sum(probabilities(name, step, seq(0, 2e4, step))), 1, tolerance = 1e-6)
  }
})

test_that("what is drawn has the probabilities that the likelihood gives, zeros among them", {
  for (name in names_of_families) {
    family <- bayes_family(name, 64)
    parameters <- of_family(name)
    drawn <- withr::with_seed(1, family$draw(rep(parameters[[1]], 2e4), parameters[[2]]))
    counts <- 64 * 0:5
    shares <- vapply(counts, function(count) mean(drawn == count), 1)
    expect_equal(shares, probabilities(name, 64, counts), tolerance = .03)
    expect_true(all(drawn %% 64 == 0))
  }
})

test_that("a likelihood is that of the interval in closed form, of one outcome in all draws", {
  mu <- c(4, 5, 6)
  lognormal <- bayes_family("lognormal", 64)
  expect_equal(lognormal$log_lik(128, mu, .5), log(plnorm(192, mu, .5) - plnorm(128, mu, .5)))
  expect_equal(lognormal$log_lik(0, mu, .5), plnorm(64, mu, .5, log.p = TRUE))
  expect_equal(bayes_family("gaussian", 64)$log_lik(0, 10 * mu, 50), pnorm(64, 10 * mu, 50, log.p = TRUE))
  expect_equal(bayes_family("negative_binomial", 1)$log_lik(90, mu, 3), dnbinom(90, size = 3, mu = exp(mu), log = TRUE))
  shifted <- bayes_family("shifted_lognormal", 1)$log_lik(90, mu, list(sigma = .5, ndt = c(10, 50, 95)))
  expect_equal(shifted[1:2], log(plnorm(91 - c(10, 50), mu[1:2], .5) - plnorm(90 - c(10, 50), mu[1:2], .5)))
  expect_equal(shifted[[3]], -Inf)
  hurdle <- bayes_family("hurdle_lognormal", 64)
  above <- (plnorm(192, mu, .5) - plnorm(128, mu, .5)) / plnorm(64, mu, .5, lower.tail = FALSE)
  expect_equal(hurdle$log_lik(128, mu, list(sigma = .5, hu = .2)), log(.8 * above))
  expect_equal(hurdle$log_lik(0, mu, list(sigma = .5, hu = .2)), rep(log(.2), 3))
})

test_that("half of what is drawn lies below the median", {
  for (name in names_of_families) {
    family <- bayes_family(name, 1)
    parameters <- of_family(name)
    drawn <- withr::with_seed(2, family$draw(rep(parameters[[1]], 2e4), parameters[[2]]))
    expect_equal(family$median(parameters[[1]], parameters[[2]]), stats::median(drawn), tolerance = .02)
  }
})

test_that("a narrow step is fitted by the density at its middle, a wide one as an interval, 0 as below a step", {
  counts <- withr::with_seed(3, floor(stats::rlnorm(200, 5, .5)))
  narrow <- bayes_family("lognormal", 1)$observed(c(counts, 0))
  expect_equal(narrow$count_side, c(rep(0, 200), -1))
  expect_equal(narrow$count_low, c(counts + .5, 1))
  wide <- bayes_family("lognormal", 64)$observed(64 * c(0, 1, 2, 2, 5))
  expect_equal(wide$count_side, c(-1, 2, 2, 2, 2))
  expect_equal(wide[2, c("count_low", "count_upper")], data.frame(count_low = 64, count_upper = 128, row.names = 2L))
  far <- bayes_family("gaussian", 64)$observed(64 * c(rep(1:4, 30), 40))
  expect_equal(table(far$count_side), table(c(0, rep(2, 120))))
  whole <- bayes_family("negative_binomial", 64)$observed(64 * c(0, 1, 2, 5))
  expect_equal(whole$count_low, c(63, 96, 160, 352))
  expect_equal(whole$count_side, c(-1, 0, 0, 0))
  exact <- exp(bayes_family("lognormal", 1)$log_density(90, 5, .5))
  expect_equal(exact, plnorm(91, 5, .5) - plnorm(90, 5, .5), tolerance = 1e-4)
})

test_that("a step that is none, and a family that is none, is a sentence", {
  expect_error(bayes_family("lognormal", .5), "whole number, 1 or more")
  expect_error(bayes_family("bernoulli", 64), "`step` is of counts")
  expect_error(bayes_family("poisson"), "\"lognormal\"")
  expect_error(bayes_family("lognormal")$outcome(c(1, 2.5), "tokens"), "whole numbers from 0")
})

# Counts of 0 and of one step, by six wordings in two conditions, as brms is given them.
negative_binomial_parts <- function(step) {
  rows <- expand.grid(condition = c("compatible", "incompatible"), wording = 1:6, stringsAsFactors = FALSE)
  rows$tokens <- step * (seq_len(nrow(rows)) %% 2)
  levels <- list(condition = c("compatible", "incompatible"))
  brms_parts(rows, "tokens ~ condition + (1 | wording)", levels, family = "negative_binomial", step = step)
}

test_that("negative binomials of all steps share one program, and none calls Stan's slow distribution function", {
  skip_without_brms()
  code <- negative_binomial_parts(64)$code
  expect_identical(code, negative_binomial_parts(1)$code)
  expect_no_match(code, "_lcdf")
})

test_in_full("Stan gives a negative binomial the probabilities that R gives it, below a step and far out, too", {
  skip_without_stan()
  for (step in c(1, 64)) {
    parts <- negative_binomial_parts(step)
    of_rows <- function(prior_only) {
      data <- utils::modifyList(parts$standata, list(prior_only = prior_only))
      suppressWarnings(rstan::sampling(compiled_model(parts$code), data, chains = 0))
    }
    with_rows <- of_rows(0L)
    without <- of_rows(1L)
    for (mean in c(-3, 5, 10)) {
      for (shape in c(.05, 2, 200)) {
        values <- list(b = array(0, 1), Intercept = mean, shape = shape, sd_1 = array(1), z_1 = matrix(0, 1, 6))
        at <- rstan::unconstrain_pars(with_rows, values)
        y <- rep(c(step + step %/% 2, step - 1), 6)
        own <- ifelse(
          y < step, pnbinom(y, shape, mu = exp(mean), log.p = TRUE), dnbinom(y, shape, mu = exp(mean), log = TRUE)
        )
        expect_equal(rstan::log_prob(with_rows, at) - rstan::log_prob(without, at), sum(own), tolerance = 1e-8)
      }
    }
  }
})
