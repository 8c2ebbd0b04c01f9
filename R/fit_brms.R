#' Bayesian mixed model
#'
#' One model of all rows, of answers that are yes or no (`family = "bernoulli"`), of a number (`"gaussian"`), of a
#' rating (`"cumulative"`) or of token counts (`"lognormal"` and others): `brms::brm()`, sampled by Stan. With its
#' defaults it is the model of the interference study: priors normal(0, 1) on coefficients, normal(3, 1.5) on the
#' intercept at the means of the covariates, exponential(1) on standard deviations of random effects; 4 chains of 4000
#' iterations, 1500 of them to warm up: 10,000 draws.
#'
#' The Stan program is compiled once on a machine (a minute) and kept in the user's cache,
#' `tools::R_user_dir("slant", "cache")`. The same seed gives the same draws whatever the number of cores and the order
#' of the rows, which are sorted first; they are those of `brms::brm()` with the rows in that order.
#'
#' **Token counts.** A provider that counts in steps of k (o3-mini: 64) says of a count c that the number is in
#' \[c, c + k), and of a count of 0 that it is below k: it is censored (`brms::cens()`). Where the step is small next to
#' the spread of the counts, the density at its middle is the same to a thousandth, and is what is fitted. All cells of
#' a family share one Stan program, whatever their step. Families are `"lognormal"`, `"shifted_lognormal"`, `"gaussian"`
#' (with a `step`), `"negative_binomial"` (of whole tokens; below a step the sum of their probabilities, a family of
#' slant's own that brms's functions know) and `"hurdle_lognormal"`, whose zeros have a model of their
#' own with the same fixed effects; in these two a count above 0 is fitted as the middle of its step. Whatever was
#' fitted, a model is judged by the probability of each count's interval, so that leave-one-out compares families, and
#' counts in steps with exact ones.
#'
#' **Ratings.** `"cumulative"` has a threshold between each two points of the scale (the first terms of `estimates`,
#' `"1|2"` …), logit P(rating <= j) = threshold j - predictor: a coefficient above 0 means higher ratings, as of
#' `ordinal::clm()`. Points are whole numbers, those of a factor, or those that `levels` lists for the rating, the
#' lowest first. Predictions are mean ratings at random effects of 0, contrasts their `"difference"` and, in log odds,
#' `"s"`. Where all ratings of a level are the same, the prior holds what has no finite estimate elsewhere.
#'
#' If a text column has no `levels`, its values are sorted, by a column of its name with the ending `_no` if
#' `data` have one (`model_no` for `model`). Levels that are not in the data are left out, so that the reference is the
#' first one that is there. A factor with one level is dropped from the formula, and a message says so.
#'
#' What is doubtful about the sampling (R-hat above 1.01, effective sample sizes below 400, divergences, maximal tree
#' depth, E-BFMI below 0.3, Pareto k above 0.7) is said in warnings and in `verdict`.
#'
#' @param data a data frame with one row per trial.
#' @param formula the formula as text (see [fit_lme4()] for what may stand in it) or as a formula.
#' @param chains,iterations,warmup number of chains, and of iterations of each, those to warm up included.
#' @param adapt_delta,max_treedepth settings of the sampler.
#' @param seed a whole number.
#' @param cores number of chains that are sampled at a time; `NULL` for as many as there are cores.
#' @param save_to path of an `.rds` file for the `brmsfit`, or `NULL` to keep none.
#' @param draws_to path of a Parquet file for the draws (needs R's package nanoparquet), or `NULL` to keep none: columns
#'   `.chain`, `.iteration`, `.draw`, then the parameters under brms's names.
#' @param force `TRUE` to fit also what is estimated to take more than an hour.
#' @param levels a named list: for each text column that is a fixed effect, its levels, the reference level first.
#' @param priors a named list of priors as text, such as `list(b = "normal(0, 1)", sd = "exponential(1)")`: for `b`, the
#'   coefficients; for `Intercept`, which brms gives to the intercept at the means of all covariates; for `sd`, the
#'   standard deviations of random effects; for `cor`, their correlations. What is not named keeps the paper's prior
#'   (of numbers brms's own, of counts those of their family: `family`).
#' @param coding `"treatment"`, or `"sum"` for contrasts that sum to 0.
#' @param family `"bernoulli"`, `"cumulative"` for a rating (priors that are not named: normal(0, 2.5) on coefficients
#'   and on each threshold at the means of the covariates, exponential(1) on standard deviations of
#'   random effects), or `"gaussian"` for an outcome that is a number. Then a prior can be named for `sigma`,
#'   too, and what is not named has brms's own prior, which goes by the outcome: student_t(3, median, spread) on the
#'   intercept, student_t(3, 0, spread) on standard deviations, where spread is the larger of 2.5 and the outcome's MAD,
#'   and none on coefficients. Of counts, on the log scale: normal(0, 1) on coefficients, normal(m, 2) on the intercept
#'   with m the logarithm of the median, exponential(2) on standard deviations of random effects, exponential(1) on
#'   `sigma`, gamma(2, 0.1) on the `shape` of a negative binomial; of a hurdle normal(0, 2) on `b_hu` and logistic(0, 1)
#'   on `Intercept_hu`, in log odds of a zero; of a gaussian with a step, in tokens and with the spread as above,
#'   normal(0, spread) on coefficients.
#' @param step of token counts: in what steps they come, a number or the name of a column that holds it. `NULL` finds it
#'   as the greatest common divisor of the counts of a model, so give all rows of a model; of a `"gaussian"` it means a
#'   number that is no count.
#' @param thresholds_by,disc_by of ratings, the name of a column (such as `"model"`): each of its values has its own
#'   thresholds (`brms::thres(gr = )`; terms such as `"small: 1|2"`), or its own discrimination, by which thresholds and
#'   predictor are multiplied (terms such as `"disc: modelmedium"`, the logarithm; the first level's is 0). A prior for
#'   the latter can be named as `b_disc`; the usual one is normal(0, 1). Thresholds of each model take the place of its
#'   effect in the formula. `NULL`: all rows share them.
#' @param say a function that gets, in words, what is being done; or the path of a file to write it to.
#' @return A [slant_fit], as of [fit_lme4()] (`estimates`: posterior mean as `estimate`, posterior standard
#'   deviation as `std_error`, 95 % credible interval; the standard deviations of random effects are the last terms,
#'   such as `"sd_item"`; `variances` are posterior means; `models$all`: the `brmsfit`) with `tables`, a list of data
#'   frames:
#'   \describe{
#'     \item{model}{one row: settings, diagnostics, LOO, files, priors, `reference` levels, `is_converged`, `verdict`.}
#'     \item{predictions}{`model`, `test`, `condition`, `kind`, `estimate` (posterior mean), `conf_low`, `conf_high` (95
#'       % credible interval), in probability (or, of numbers, means). Of the kinds, `"population"` leaves the items'
#'       effects at 0 (a median item), and `"item_averaged"` is the mean over the items that were asked in the test,
#'       each with its own effect.}
#'     \item{contrasts}{first condition minus second: `model`, `test`, `kind`, `scale` (`"delta_p"` in probability,
#'       `"s"` in log odds; of numbers `"difference"`), `estimate` (mean), `median`, `conf_low`, `conf_high`,
#'       `p_positive` (share of the draws above 0).}
#'     \item{checks}{posterior predictive checks: `model`, `test`, `condition` (`NA`: all rows), `statistic` (`"share"`
#'       of ones, of numbers `"mean"` and `"sd"`; of counts the share of `"zeros"`, where they come in steps of
#'       `"one_step"` and `"two_steps"`, and `"quantile_10"`, `"median"`, `"quantile_90"`; `"item_sd"`, the standard
#'       deviation of the items' shares or means), `observed`, `predicted` (mean), `conf_low`, `conf_high` (95 %),
#'       `p_value` (share of simulated data above the observed, ties counted half).}
#'     \item{loo}{one row: leave-one-out cross-validation, `elpd_loo`, `p_loo`, `looic` with standard errors, and
#'       Pareto's k.}
#'     \item{effects}{of counts in two conditions, in the place of contrasts: one row, `term`, `family`, `step`, the
#'       `ratio` of medians (second to first; the posterior's median) with `ratio_low` and `ratio_high`, `p_above`
#'       (share of the draws above 1), `median_reference` and `median_other` in tokens, `zeros_reference` and
#'       `zeros_other` (shares, 0 to 1) and what the model predicts of them, `..._predicted`. The predictions are
#'       medians, too: of a word and a wording whose effects are 0; `p_within_bound`, the probability that |d| is
#'       smaller than `bound` (.1), d the logarithm of the ratio in units of `sd_log`, under the `prior` of the effect.}
#'     \item{pointwise}{of counts: `elpd` and `pareto_k` of each row, sorted by the formula's columns: the differences
#'       of two families are those of `elpd`.}
#'   }
#'   Each of them says of the fit whether it `is_converged`, and its `verdict`.
#' @source Cohen & Kincaid (2026), appendices S1 to S4.
#' @export
#' @examplesIf interactive()
#' # Compiles at its first use, and so takes a minute.
#' trials <- expand.grid(
#'   item = letters[1:20], condition = c("congruent", "incongruent"), model = c("one", "two"),
#'   stringsAsFactors = FALSE
#' )
#' set.seed(1)
#' trials$is_valid <- runif(nrow(trials)) < .9
#' fit <- fit_brms(trials, "is_valid ~ condition * model + (1 | item)", chains = 1,
#'   iterations = 500, warmup = 250)
#' fit$tables$model$verdict
fit_brms <- function(data, formula, levels = NULL, priors = NULL, coding = "treatment", family = "bernoulli",
                     step = NULL, thresholds_by = NULL, disc_by = NULL, chains = 4, iterations = 4000,
                     warmup = max(1, (iterations * 3) %/% 8), adapt_delta = .95, max_treedepth = 10, seed = 1,
                     cores = NULL, save_to = NULL, draws_to = NULL, force = FALSE, say = NULL) {
  check_arguments()
  for (package in c("brms", "rstan", "posterior", "loo")) need_package(package, "fit Bayesian models")
  check_columns(data, character())
  formula <- checked_formula(formula, names(data))
  step <- step_of_outcome(data, formula, family, step)
  settings <- sampler_settings(chains, iterations, warmup, adapt_delta, max_treedepth, seed, cores)
  settings <- c(settings, list(save_to = save_to, draws_to = draws_to, say = progress_writer(say)))
  kinds <- kind_columns(data, formula, family, thresholds_by, disc_by)
  points <- levels[intersect(names(levels), c(all.vars(formula[[2]]), unlist(kinds)))]
  levels <- c(listed_levels(data, coded_variables(formula), levels), points)
  check_duration(nrow(data), settings, force)
  tables <- NULL
  fit_one <- function(rows) {
    # Sums depend on the order of what is summed, and a chain on their last digits.
    rows <- in_fixed_order(rows, formula, unlist(kinds))
    parts <- brms_parts(rows, formula, levels, priors, coding, family, step, kinds)
    fit <- fit_bayesian(parts, settings)
    tables <<- fit$tables
    fit
  }
  fitted <- fit_each_group(without_token_sources(data, formula), NULL, c(all.vars(formula), unlist(kinds)), fit_one)
  tables <- with_study_labels(tables, data)
  if (!is.null(tables$contrasts)) {
    contrast <- words_for("condition", names(levels))
    tables$contrasts <- with_side_labels(tables$contrasts, data, contrast, levels[[contrast]])
  }
  slant_fit(c(fitted, list(tables = tables)), c("brms", "rstan", "StanHeaders", "posterior", "loo"))
}

# How tokens were counted is nothing to warn of where none are analysed: a choice between two options has no tokens.
without_token_sources <- function(data, formula) {
  data[setdiff(names(data), setdiff("token_source", all.vars(formula)))]
}

# The step of the counts, one number; NULL of an outcome that is no count.
step_of_outcome <- function(data, formula, family, step) {
  is_counts <- !is.null(step) || !(is_text(family) && family %in% plain_families)
  bayes_family(family, if (is_counts) 1)
  if (!is_counts) {
    return(NULL)
  }
  to <- "fit token counts"
  outcome <- all.vars(formula[[2]])
  if (length(formula) != 3 || !is.name(formula[[2]])) {
    stop_with("Can't fit token counts: left of ~ the formula must have the column of the counts alone.")
  }
  is_used <- stats::complete.cases(data[all.vars(formula)])
  steps <- steps_of_rows(data, outcome, step, to)[is_used]
  whole_counts(data[[outcome]][is_used], outcome)
  check_steps(data[[outcome]][is_used], steps)
  if (length(unique(steps)) != 1) {
    stop_with(sprintf("Can't fit token counts: all rows must have one step, not %s.", toString(unique(steps))))
  }
  steps[[1]]
}

fit_bayesian <- function(parts, settings) {
  warn_of_equal_answers(parts)
  warn_of_missing_conditions(parts)
  say_items_of_one_condition(parts)
  say_repeated_trials(parts)
  model <- compiled_model(parts$code, settings$say)
  begun <- proc.time()[["elapsed"]]
  stanfit <- sample_chains(model, parts$standata, parts$exclude, c(settings, list(init = parts$init)), settings$say)
  sampling_s <- proc.time()[["elapsed"]] - begun
  settings$say("Summing up the draws")
  fit <- as_brmsfit(stanfit, parts)
  tables <- bayesian_tables(fit, parts, settings)
  files <- write_fit_files(fit, settings)
  groups <- utils::head(grouping_variables(parts$formula), 1)
  tables$model <- cbind(
    tables$model,
    compile_s = attr(model, "compile_s"), sampling_s = sampling_s, files
  )
  list(
    estimates = bayesian_estimates(fit, parts), variances = bayesian_variances(fit, parts), tables = tables,
    fit = list(
      n_groups = if (length(groups) == 1) nlevels(parts$data[[groups]]) else NA_integer_, optimiser = "rstan, NUTS"
    ),
    model = fit
  )
}

# brms's own object, as brm() would have made it: predictions, plots and loo() of brms work on it.
as_brmsfit <- function(stanfit, parts) {
  fit <- brms::brm(
    parts$model, parts$data,
    family = parts$family$brms(), prior = parts$prior, stanvars = parts$stanvars, empty = TRUE
  )
  fit$fit <- stanfit
  attr(fit, "dropped") <- parts$dropped
  brms::rename_pars(fit)
}

bayesian_tables <- function(fit, parts, settings) {
  row <- cbind(settings_row(parts, settings), sampler_diagnostics(
    posterior::as_draws_array(fit), fit$fit, fixed = "disc" # brms fixes the discrimination of ratings at 1
  ))
  used <- row_predictors(fit, family = parts$family, parts = parts)
  loo <- leave_one_out(used, parts$outcome, parts$family, parts$data$count_side)
  doubts <- convergence_warnings(row)
  for (doubt in c(doubts, loo_warnings(loo))) warning(doubt, call. = FALSE)
  row <- cbind(row, loo[c("elpd_loo", "se_elpd_loo", "p_loo", "n_bad_pareto_k")])
  row$is_converged <- length(doubts) == 0
  row$verdict <- convergence_verdict(row, doubts, loo_warnings(loo))
  checks <- cell_checks(used, parts$outcome, parts, settings$seed)
  effects <- if (is_rating(parts)) {
    rating_effects(posterior::as_draws_matrix(fit), parts)
  } else if (is.null(parts$family$step)) {
    condition_effects(fit)
  } else {
    count_effects(fit, parts, checks)
  }
  made_of_draws <- c(effects, list(checks = checks, loo = loo, pointwise = attr(loo, "pointwise")))
  made_of_draws <- Filter(Negate(is.null), made_of_draws)
  # In each table, so that none can be read, drawn or written on without it.
  c(list(model = row), lapply(made_of_draws, function(table) {
    do.call(frame_of, c(as.list(table), list(is_converged = row$is_converged, verdict = row$verdict)))
  }))
}
