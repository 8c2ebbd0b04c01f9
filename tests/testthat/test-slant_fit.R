fit_of_rows <- function(estimate, low, high) {
  rows <- data.frame(term = "x", estimate = estimate, std_error = NA_real_, conf_low = low, conf_high = high)
  structure(list(estimates = rows, fits = data.frame(n = 10L, status = "ok")), class = "slant_fit")
}

merge_level <- function(fit, level) {
  outer <- fit$estimates
  inner <- generics::tidy(fit, conf.level = level)
  data.frame(
    outer.low = outer$conf_low, outer.high = outer$conf_high, inner.low = inner$conf.low, inner.high = inner$conf.high
  )
}

made_fit <- function(...) fit_made(transform(made_trials(), model = rep(c("a", "b"), length.out = 240)), ...)

test_that("a fit prints its groups, its estimates and the names of its parts", {
  fit <- made_fit(by = "model")
  printed <- capture.output(print(fit))
  expect_match(printed[[1]], "<slant_fit> 2 groups: 2 ok", fixed = TRUE)
  expect_false(any(grepl("^ *:", printed)))
  expect_match(paste(printed, collapse = "\n"), "conditionincompatible")
  parts <- "$estimates, $fits, $variances, $messages, $models, $versions"
  expect_match(paste(printed, collapse = " "), parts, fixed = TRUE)
  expect_match(paste(capture.output(print(fit, n = 1)), collapse = "\n"), "... and 3 more rows", fixed = TRUE)
  expect_match(paste(capture.output(print(summary(fit))), collapse = "\n"), "residual")
})

test_that("tidy() and glance() have broom's names, and only they, and of each part what modelsummary asks of a model", {
  skip_if_not_installed("generics")
  fit <- made_fit(by = "model")
  broom <- c("term", "estimate", "std.error", "df", "statistic", "p.value", "conf.low", "conf.high")
  expect_named(generics::tidy(fit), c("model", broom))
  expect_equal(generics::tidy(fit)$std.error, fit$estimates$std_error)
  expect_true(all(c("model", "nobs", "logLik", "AIC", "BIC") %in% names(generics::glance(fit))))
  expect_equal(nobs(fit), c(120, 120))
  expect_false(any(grepl(".", names(fit$estimates), fixed = TRUE)))
  for (part in split(fit)) {
    tidied <- generics::tidy(part, conf.int = TRUE, conf.level = .95)
    expect_false(anyDuplicated(tidied$term) > 0)
    expect_type(tidied$term, "character")
    numbers <- c("estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high")
    expect_true(all(vapply(tidied[numbers], is.double, NA)))
    expect_equal(nrow(generics::glance(part)), 1)
    expect_s3_class(generics::glance(part), "data.frame")
  }
})

test_that("tidy() obeys conf.level for differences, sizes, ratios and rates, and says where it can't", {
  skip_if_not_installed("generics")
  fit <- made_fit(by = "model")
  narrow <- generics::tidy(fit, conf.level = .9)
  expect_equal(narrow$conf.high, with(fit$estimates, estimate + qt(.95, df) * std_error), tolerance = 1e-6)
  limits <- confint(fit, parm = "conditionincompatible", level = .9)
  expect_equal(dimnames(limits), list(paste0(c("a", "b"), ", conditionincompatible"), c("5 %", "95 %")))
  expect_equal(unname(limits[, 2]), narrow$conf.high[narrow$term == "conditionincompatible"])
  sizes <- effect_size(made_trials(), by = NULL)
  expect_true(all(with(merge_level(sizes, .5), inner.low > outer.low & inner.high < outer.high)))
  ratios <- fit_of_rows(estimate = 2, low = 2 / exp(qnorm(.975) * .3), high = 2 * exp(qnorm(.975) * .3))
  expect_equal(generics::tidy(ratios, conf.level = .8)$conf.low, 2 / exp(qnorm(.9) * .3), tolerance = 1e-6)
  for (error in c(.3, .6)) { # of the logarithm, and of the ratio itself
    ratios$estimates$std_error <- error
    expect_equal(generics::tidy(ratios, conf.level = .8)$conf.low, 2 / exp(qnorm(.9) * .3), tolerance = 1e-6)
  }
  ratios$estimates$std_error <- .25 # the interval is wider: of several ratios at once
  expect_warning(generics::tidy(ratios, conf.level = .8), "intervals are NA")
  shares <- c(0, .02, .5, 1)
  wilsons <- function(quantile) wilson_of_rates(shares, c(40, 33.3, 20, 12), quantile)
  rates <- fit_of_rows(shares, wilsons(qnorm(.975))$low, wilsons(qnorm(.975))$high)
  rates$estimates$std_error <- c(NA, sqrt(.02 * .98 / 33.3), sqrt(.25 / 20), NA)
  expect_equal(generics::tidy(rates, conf.level = .8)$conf.high, wilsons(qnorm(.9))$high)
  odd <- fit_of_rows(estimate = 2, low = 1, high = 9)
  expect_warning(left <- generics::tidy(odd, conf.level = .9), "1 estimate of 1: intervals are NA")
  expect_true(is.na(left$conf.low))
  expect_equal(generics::tidy(odd)$conf.high, 9)
  expect_error(generics::tidy(fit, conf.level = 95), "between 0 and 1, not 95")
  expect_false("conf.low" %in% names(generics::tidy(fit, conf.int = FALSE)))
})

test_that("models are named by group and say what estimates say; split() gives one fit per group with its rows", {
  fit <- made_fit(by = "model")
  expect_named(fit$models, c("a", "b"))
  expect_equal(unname(lme4::fixef(fit$models$b)), fit$estimates$estimate[fit$estimates$model == "b"])
  sizes <- effect_size(rbind(made_trials(), transform(made_trials(), tokens = 1)), by = NULL)
  expect_named(sizes$models, "all")
  parts <- split(fit)
  expect_named(parts, c("a", "b"))
  expect_s3_class(parts$b, "slant_fit")
  expect_equal(parts$b$estimates$estimate, fit$estimates$estimate[fit$estimates$model == "b"])
  expect_equal(nobs(parts$b), 120)
  expect_named(parts$b$models, "b")
  expect_equal(parts$b$versions, fit$versions)
  whole <- effect_size(made_trials(), by = NULL)
  expect_equal(split(whole)$all$estimates, whole$estimates)
})

test_that("a group that could not be fitted has no model and says so", {
  trials <- transform(made_trials(), model = "a")
  fit <- fit_made(rbind(trials, transform(trials[trials$condition == "compatible", ], model = "b")), by = "model")
  expect_null(fit$models$b)
  expect_match(capture.output(print(fit))[[1]], "1 ok, 1 failed")
})

test_that("a fit that failed or warned prints why, each reason once", {
  printed <- capture.output(print(fit_lme4(
    transform(made_trials(), model = rep(c("a", "b"), each = 120), tokens = 7), "tokens ~ condition + (1 | wording)",
    by = "model", levels = list(condition = conditions)
  )))
  expect_equal(printed[[1]], "<slant_fit> 2 groups: 2 failed")
  expect_match(printed[[2]], "  error: The outcome \"tokens\" is 7 in all 120 rows: there is nothing", fixed = TRUE)
  expect_match(paste(printed, collapse = " "), "nothing to +explain. \\(2 times\\)")
  expect_false(any(grepl("data frame with 0 columns", printed, fixed = TRUE)))
  warned <- transform(made_trials(), study = rep(c("one", "two"), 120))
  expect_match(capture.output(print(fit_made(warned)))[[2]], "warning: Rows of more than one study are put together")
})

test_that("modelsummary sets the groups of a fit side by side", {
  skip_if_not_installed("modelsummary")
  shown <- modelsummary::modelsummary(split(made_fit(by = "model")), output = "data.frame")
  expect_true(all(c("a", "b") %in% names(shown)))
  expect_true("conditionincompatible" %in% shown$term)
})

test_that("gt takes what a fit gives", {
  skip_if_not_installed("gt")
  expect_s3_class(gt::gt(generics::tidy(made_fit(by = "model"))), "gt_tbl")
})

test_that("citation() names slant in its version and the paper", {
  file <- system.file("CITATION", package = "slant")
  if (file == "") file <- file.path(root_folder(), "inst", "CITATION")
  skip_if_not(file.exists(file), "no CITATION here")
  cited <- utils::readCitationFile(file, meta = list(Version = "0.1.0", Encoding = "UTF-8"))
  expect_match(format(cited, style = "bibtex"), "slant: measures how language models lean", fixed = TRUE)
  expect_match(cited$note, "Version 0.1.0", fixed = TRUE)
})
