rated_rows <- function() {
  set.seed(4)
  rows <- expand.grid(job = c("cook", "clerk", "nurse"), name = paste0("n", 1:12), template = c("b", "a"))
  rows <- transform(rows, job = as.character(job), name = as.character(name), template = as.character(template))
  rows$value <- rnorm(72) + (rows$job == "nurse") + rnorm(12)[match(rows$name, unique(rows$name))]
  rows$rating <- findInterval(rows$value, c(-1, 0, 1)) + 1L
  rows$is_yes <- as.integer(rows$value + rnorm(72) > 0)
  rows$w <- stats::runif(72, 0, 3)
  rows
}

fits_of_rows <- function(rows) {
  list(
    lm = fit_lm(rows, "value ~ job"), weighted = fit_lm(rows, "value ~ job", weights = "w"),
    over_names = fit_lm(rows, "value ~ job", cluster = "name"),
    two_ways = fit_lm(rows, "value ~ job", cluster = c("name", "job")),
    logistic = fit_logistic(rows, "is_yes ~ job", weights = "w"),
    lme4 = fit_lme4(rows, "value ~ job + (1 | name)"),
    binomial = fit_lme4(rows, "is_yes ~ job + (1 | name)", family = "binomial"),
    by_template = fit_lm(rows, "value ~ job", by = "template"),
    clm = if (requireNamespace("ordinal", quietly = TRUE)) fit_clm(rows, "rating ~ job")
  )
}

test_that("R's generics answer for each fit as its table says", {
  rows <- rated_rows()
  fits <- Filter(Negate(is.null), suppressMessages(suppressWarnings(fits_of_rows(rows))))
  for (name in names(fits)) {
    fit <- fits[[name]]
    expect_equal(unname(coef(fit)), fit$estimates$estimate, info = name)
    expect_equal(unname(sqrt(diag(vcov(fit)))), fit$estimates$std_error, info = name)
    expect_identical(rownames(vcov(fit)), names(coef(fit)), info = name)
    expect_identical(rownames(confint(fit)), names(coef(fit)), info = name)
    expect_equal(as.numeric(logLik(fit)), fit$fits$log_lik, info = name)
    expect_length(unlist(residuals(fit)), 72)
    expect_length(unlist(fitted(fit)), 72)
    expect_equal(NROW(predict(fit, rows[1:4, ])), 4, info = name)
    expect_identical(as.data.frame(fit), fit$estimates)
    skip_if_not_installed("generics")
    augmented <- generics::augment(fit)
    expect_equal(nrow(augmented), 72, info = name)
    expect_true(all(c("job", ".fitted", ".resid") %in% names(augmented)), info = name)
    expect_equal(sum(generics::glance(fit)$nobs), 72, info = name)
    expect_length(generics::augment(fit, newdata = rows[1:2, ])$.fitted, 2)
  }
})

test_that("weights are those of lm() and glm(), and errors over names those of sandwich", {
  rows <- rated_rows()
  fits <- suppressMessages(fits_of_rows(rows))
  plain <- stats::lm(value ~ job, rows, weights = w)
  expect_equal(unname(vcov(fits$weighted)), unname(stats::vcov(plain)))
  expect_equal(predict(fits$weighted, rows[1:3, ]), predict(plain, rows[1:3, ]))
  odds <- suppressWarnings(stats::glm(is_yes ~ job, stats::binomial(), rows, weights = w))
  expect_equal(unname(vcov(fits$logistic)), unname(stats::vcov(odds)), tolerance = 1e-6)
  expect_equal(as.numeric(logLik(fits$logistic)), -stats::deviance(odds) / 2)
  expect_equal(fits$logistic$fits$status, "ok")
  without <- suppressMessages(fit_lm(transform(rows, w = ifelse(name == "n1", 0, w)), "value ~ job", weights = "w"))
  expect_equal(nobs(without), 72)
  expect_equal(stats::nobs(without$models[[1]]), 66)
  for (wrong in list(-1, Inf, 0)) {
    fit <- suppressMessages(fit_lm(transform(rows, w = wrong), "value ~ job", weights = "w"))
    expect_match(fit$fits$error, "finite numbers, 0 or more, and not all 0", fixed = TRUE)
  }
  skip_if_not_installed("clubSandwich")
  club <- clubSandwich::vcovCR(stats::lm(value ~ job, rows), rows$name, "CR2")
  expect_equal(unname(vcov(fits$over_names)), unname(as.matrix(club)))
})

test_that("the covariance of a mixed model is Kenward and Roger's where its errors are", {
  skip_if_not_installed("pbkrtest")
  rows <- transform(rated_rows(), is_late = as.integer(sub("n", "", name)) > 6)
  fit <- fit_lme4(rows, "value ~ is_late + (1 | name)")
  expect_match(fit$fits$optimiser, "Kenward-Roger")
  plain <- lme4::lmer(value ~ is_late + (1 | name), rows)
  expect_equal(unname(vcov(fit)), unname(as.matrix(pbkrtest::vcovAdj(plain))), tolerance = 1e-4)
})

test_that("text without levels is sorted as in the C locale, and its reference is said", {
  rows <- transform(rated_rows(), job = c(clerk = "b", cook = "C", nurse = "a")[job])
  said <- "job: the reference level is \"C\", before \"a\", \"b\""
  expect_message(fit <- fit_lm(rows, "value ~ job"), said, fixed = TRUE)
  expect_identical(fit$estimates$term, c("intercept", "joba", "jobb"))
  expect_message(fit_lme4(rows, "value ~ job + (1 | name)"), "the reference level is \"C\"")
  expect_no_message(fit_lm(rows, "value ~ job", levels = list(job = c("a", "b", "C"))))
})

test_that("what a fit has no model for is said in a sentence", {
  sizes <- effect_size(made_trials(), by = NULL)
  expect_error(residuals(sizes), "Can't give residuals")
  expect_error(vcov(run_fit("lm", rated_rows(), list(formula = "value ~ w"))), "this fit keeps no model")
  fit <- suppressMessages(fit_lm(rated_rows(), "value ~ job", by = "template"))
  expect_error(predict(fit, data.frame(job = "cook", template = "z")), "no model of \"z\"")
  expect_error(predict(fit, data.frame(job = "cook")), "template")
})

test_that("emmeans takes a fit of one group, with the errors of its table", {
  skip_if_not_installed("emmeans")
  for (generic in c("recover_data", "emm_basis")) { # NAMESPACE does where the package is installed
    registerS3method(generic, "slant_fit", get(paste0(generic, ".slant_fit")), envir = asNamespace("emmeans"))
  }
  rows <- rated_rows()
  fit <- suppressMessages(fit_lm(rows, "value ~ job", cluster = "name"))
  means <- as.data.frame(emmeans::emmeans(fit, ~job))
  expect_equal(means$SE[[1]], fit$estimates$std_error[[1]])
  expect_lte(max(means$df), 11)
  expect_error(emmeans::emmeans(suppressMessages(fit_lm(rows, "value ~ job", by = "template")), ~job))
})
