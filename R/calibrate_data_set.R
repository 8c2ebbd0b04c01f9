#' Draw one data set from the prior of a Bayesian model, and fit the model to it
#'
#' One data set of [calibrate()], which says what is drawn and fitted: parameters by `drawn_truth()`, outcomes by the
#' family's own `draw`. Nothing is compiled again: all data sets share the program and the numbers of the priors.
#'
#' @param data the rows as observed.
#' @param number of the data set: with `seed` it decides the truth, the outcomes and the chains.
#' @inheritParams calibrate
#' @return A list of three data frames, with the columns of the `ranks` of [calibrate()]: `fit`, one row of the whole
#'   fit (`iterations` are those of the last try); `quantities`, one row per quantity, none where the fit failed;
#'   `messages`, one row per warning, message or error: `kind`, `text`.
#' @source Talts et al. (2018); Modrák et al. (2023), for the log-likelihood.
#' @noRd
calibrate_data_set <- function(data, formula, number, seed = 1, levels = NULL, priors = NULL, coding = "treatment",
                               family = "bernoulli", step = NULL, truth_priors = NULL, chains = 2, iterations = 700,
                               warmup = 200, adapt_delta = .95, n_draws = 99, max_rows = 1000) {
  sampler <- sampler_settings(chains, iterations, warmup, adapt_delta, max_treedepth = 10, seed = 1, cores = 1)
  drawn <- sampler$chains * (sampler$iterations - sampler$warmup)
  if (!is_whole(n_draws, 1)) {
    stop_with(sprintf("`n_draws` must be a whole number from 1, but is %s.", in_short(n_draws)))
  }
  if (n_draws > drawn) {
    stop_with(
      sprintf("Can't rank truths among %d draws: the chains give %d.", as.integer(n_draws), drawn),
      "Draw more (iterations, chains), or rank among fewer (n_draws)."
    )
  }
  parts <- calibrated_parts(data, formula, levels, priors, coding, family, step, max_rows)
  of_truths <- utils::modifyList(parts$priors, checked_priors(truth_priors, parts$family))
  seeds <- with_seed(permutation_seed(seed, number), sample.int(.Machine$integer.max, 2))
  settings <- list(
    chains = chains, iterations = iterations, warmup = warmup, adapt_delta = adapt_delta, seed = seeds[[2]]
  )
  result <- with_conditions(function() {
    simulated <- with_seed(seeds[[1]], simulated_parts(parts, of_truths))
    calibration_fit(simulated$parts, simulated$truth, settings, n_draws)
  })
  fit <- result$value
  count <- function(name) as.integer(if (is.null(fit)) NA else fit[[name]])
  none <- list(keys = columns_of("quantity:text model:text test:text"), draws = matrix(0, 1, 0))
  list(
    fit = frame_of(
      number = as.integer(number), seed = seeds[[2]], status = refit_status(fit, FALSE, fit$quantities),
      n_divergent = count("n_divergent"), n_max_treedepth = count("n_max_treedepth"), iterations = count("iterations"),
      n_rows = nrow(parts$data), priors = priors_in_words(parts)
    ),
    quantities = numbered(number, if (is.null(fit)) quantity_rows(none, numeric(), 0, 1) else fit$quantities),
    messages = without_single_judgements(result$conditions)
  )
}

numbered <- function(number, rows) {
  as_plain_rows(cbind(frame_of(number = rep(as.integer(number), nrow(rows))), rows))
}

# What brms makes of the rows as observed, with a prior for each class of parameters.
calibrated_parts <- function(data, formula, levels = NULL, priors = NULL, coding = "treatment", family = "bernoulli",
                             step = NULL, max_rows = 1000) {
  for (package in c("brms", "rstan", "posterior")) need_package(package, "calibrate Bayesian models")
  data <- as_columns(data)
  step <- step_of_outcome(data, checked_formula(formula, names(data)), family, step)
  if (!is.null(step) && length(bayes_family(family, step)$parameters) > 1) {
    stop_with(
      sprintf("Can't calibrate a fit of counts with a second parameter besides the predictor (%s).", quoted(family)),
      "What is calibrated must be \"bernoulli\", \"gaussian\", \"lognormal\" or \"negative_binomial\"."
    )
  }
  data <- in_fixed_order(data, formula)
  if (nrow(data) > max_rows) data <- as_plain_rows(data[unique(round(seq(1, nrow(data), length.out = max_rows))), ])
  parts <- brms_parts(data, formula, levels, priors, coding, family, step)
  is_flat <- is.null(parts$priors$b) && ncol(fixed_columns(parts)) > 1
  if (!is_flat) {
    return(parts)
  }
  scale <- utils::tail(checked_prior(parts$priors$Intercept)$numbers, 1)
  priors <- c(parts$priors, list(b = prior_text("normal", c(0, scale))))
  brms_parts(data, formula, levels, priors, coding, family, step)
}

# The same parts with an outcome that is drawn from a truth, and that truth. Priors stay those of the rows as observed.
simulated_parts <- function(parts, priors) {
  truth <- drawn_truth(parts, priors)
  data <- parts$data
  draw <- if (is.null(parts$family$step)) parts$family$draw else parts$family$draw_fitted
  outcome <- draw(truth$predictor, second_truth(truth, parts))
  data[[all.vars(parts$formula[[2]])[[1]]]] <- outcome
  parts$outcome <- as.numeric(outcome)
  if (!is.null(parts$family$step)) {
    observed <- parts$family$observed(parts$outcome)
    data[names(observed)] <- observed
    starts <- parts$family$start(parts$outcome, parts$family$step)
    parts$init <- list(starting_values(starts, parts$standata))
  }
  set <- brms_priors(parts$priors, parts$model, data, parts$family)
  parts$data <- data
  parts$standata <- brms::make_standata(
    parts$model, data,
    family = parts$family$brms(), prior = set$prior, stanvars = set$stanvars
  )
  list(parts = parts, truth = truth)
}

# A fit, drawn longer where its draws are too few, and what it says of each quantity.
calibration_fit <- function(parts, truth, settings, n_draws, most_doublings = 2) {
  for (doubling in 0:most_doublings) {
    fit <- draws_in_place(parts, settings)
    values <- quantity_draws(fit$draws, parts)
    values$draws <- cbind(values$draws, log_lik = total_log_lik(fit$brmsfit, parts))
    truths <- c(quantity_truths(fit$draws, truth, parts), log_lik_of(truth, parts))
    quantities <- quantity_rows(values, truths, fit$chains, n_draws)
    if (!any(is_unconverged(quantities))) break
    longer <- c("iterations", "warmup")
    if (doubling < most_doublings) settings[longer] <- lapply(settings[longer], `*`, 2)
  }
  c(fit[c("chains", "n_divergent", "n_max_treedepth")], list(quantities = quantities, iterations = settings$iterations))
}

# The log-likelihood of all rows in each draw, and at the truth.
total_log_lik <- function(brmsfit, parts) {
  draws <- unclass(posterior::as_draws_matrix(brmsfit))
  second <- second_parameter(draws, parts)
  predictors <- brms::posterior_linpred(brmsfit)
  of_row <- function(row) parts$family$log_lik(parts$outcome[[row]], predictors[, row], second)
  Reduce(function(sum, row) sum + of_row(row), seq_len(ncol(predictors)), 0)
}

log_lik_of <- function(truth, parts) {
  of_row <- function(y, predictor) parts$family$log_lik(y, predictor, second_truth(truth, parts))
  sum(mapply(of_row, parts$outcome, truth$predictor))
}

second_truth <- function(truth, parts) if (is_rating(parts)) truth$thresholds else second_parameter(truth$others, parts)

# What a family has next to its predictor (sigma, or the shape of a negative binomial): one number, or one a draw; NULL
# of choices.
second_parameter <- function(values, parts) {
  if (is_rating(parts)) {
    return(threshold_draws(values))
  }
  name <- family_classes(parts)
  if (length(name) == 0) {
    return(NULL)
  }
  if (is.matrix(values)) as.numeric(values[, name]) else values[[name]]
}

# Compiles the model of these data, where that is still to be done; returns how many seconds it took.
compile_calibration_job <- function(data, arguments, say) {
  parts <- do.call(calibrated_parts, c(list(data = data), arguments))
  attr(compiled_model(parts$code, say), "compile_s")
}
