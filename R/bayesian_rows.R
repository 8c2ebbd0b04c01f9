# What is said of a Bayesian fit in rows: settings, coefficients, checks by cell, and what can be known beforehand.

sampler_settings <- function(chains, iterations, warmup, adapt_delta, max_treedepth, seed, cores) {
  whole <- list(chains = chains, iterations = iterations, warmup = warmup, max_treedepth = max_treedepth, seed = seed)
  settings <- Map(whole_number, whole, names(whole), c(1, 2, 1, 1, 0))
  if (settings$warmup >= settings$iterations) {
    stop_with(
      sprintf("Can't draw: %d iterations would all be warm-up (%d).", settings$iterations, settings$warmup),
      "iterations count those to warm up, and must be more."
    )
  }
  if (!is.numeric(adapt_delta) || length(adapt_delta) != 1 || is.na(adapt_delta) || adapt_delta <= 0 || adapt_delta >= 1) {
    stop_with("Can't draw: adapt_delta must be between 0 and 1, like .95.")
  }
  here <- if (is.null(cores)) usable_cores() else whole_number(cores, "cores", 1)
  c(settings, list(adapt_delta = adapt_delta, cores = min(here, settings$chains)))
}

whole_number <- function(value, name, at_least) {
  number <- suppressWarnings(as.numeric(unlist(value)))
  if (length(number) != 1 || is.na(number) || number != round(number) || number < at_least || number > 2^31 - 1) {
    stop_with(sprintf("Can't draw: %s must be a whole number of at least %d.", name, at_least))
  }
  as.integer(number)
}

# The cores that this process may use, which in a container can be fewer than the machine has.
usable_cores <- function() {
  said <- tryCatch(
    suppressWarnings(as.integer(system2("nproc", stdout = TRUE, stderr = FALSE))),
    error = function(problem) NA_integer_
  )
  max(1L, c(said[!is.na(said)], parallel::detectCores(), 1L)[[1]], na.rm = TRUE)
}

# A rough estimate, from 960 rows, 4 chains of 4000 iterations on two cores: 22 s. It goes with the rows.
expected_s <- function(n, settings) {
  waves <- ceiling(settings$chains / settings$cores)
  n * settings$iterations * waves * 11 / (960 * 4000)
}

check_duration <- function(n, settings, force) {
  hours <- expected_s(n, settings) / 3600
  said <- sprintf(
    "%s rows, %d chains of %d iterations: about %s", format(n, big.mark = ",", scientific = FALSE), settings$chains,
    settings$iterations, if (hours < 1.5) sprintf("%.0f minutes", hours * 60) else sprintf("%.0f hours", hours)
  )
  if (hours > 1 && !isTRUE(force)) {
    stop_with(
      sprintf("Won't fit %s.", said),
      "Fit fewer rows, draw less (iterations, warmup, chains), or say force = TRUE to wait for it."
    )
  }
  if (hours > 1 / 6) message("Fitting ", said, ".")
}

# Where the answers are all the same, the priors alone keep the estimates finite.
say_what_holds_it <- function(parts) {
  y <- parts$standata$Y
  if (length(unique(y)) == 1) {
    warning(sprintf(
      "All %s values of %s are %d: what is estimated rests on the priors alone.", format(length(y), big.mark = ","),
      all.vars(parts$formula)[[1]], y[[1]]
    ), call. = FALSE)
    return(invisible())
  }
  is_same <- tapply(y, cell_numbers(parts), function(own) length(unique(own)) == 1)
  if (any(is_same)) {
    message(sprintf(
      "In %d of %s all values of %s are the same: their log odds are kept finite by the priors.", sum(is_same),
      counted(length(is_same), "cell"), all.vars(parts$formula)[[1]]
    ))
  }
}

# The cell of each row: its combination of the factors among the fixed effects, numbered in the order of their levels.
cell_numbers <- function(parts) {
  codes <- lapply(unname(parts$data[cell_factors(parts)]), as.integer)
  if (length(codes) == 0) {
    return(rep(1L, nrow(parts$data)))
  }
  number <- Reduce(function(before, code) before * 1000 + code, codes)
  match(number, sort(unique(number)))
}

cell_factors <- function(parts) {
  fixed <- all.vars(lme4::nobars(parts$formula)[[3]])
  intersect(c("model", "domain", "block"), fixed)
}

cell_checks <- function(logits, outcome, parts, seed) {
  cell <- cell_numbers(parts)
  columns <- c("model", "domain", "block")
  keys <- named_cells(parts$data[match(sort(unique(cell)), cell), cell_factors(parts), drop = FALSE], parts$dropped, columns)
  item <- parts$data[[grouping_variables(parts)[[1]]]]
  found <- predictive_checks(logits, outcome, cell, item, seed)
  as_plain_rows(cbind(keys[suppressWarnings(as.integer(found$cell)), ], found[-1]))
}

grouping_variables <- function(parts) {
  unique(unlist(lapply(lme4::findbars(parts$formula), function(bar) all.vars(bar[[3]]))))
}

n_levels <- function(parts) nlevels(parts$data[[grouping_variables(parts)[[1]]]])

settings_row <- function(parts, settings) {
  factors <- Filter(is.factor, parts$data[all.vars(lme4::nobars(parts$formula)[[3]])])
  used <- parts$priors[names(parts$priors) %in% parts$prior$class]
  data.frame(
    formula = deparse1(parts$formula), n = nrow(parts$data), chains = settings$chains, iterations = settings$iterations,
    warmup = settings$warmup, adapt_delta = settings$adapt_delta, max_treedepth = settings$max_treedepth,
    seed = settings$seed, priors = paste(names(used), "~", unlist(used), collapse = "; "),
    reference = paste(names(factors), "=", vapply(factors, function(one) levels(one)[[1]], ""), collapse = "; ")
  )
}

# Terms under the names that lme4 gives them too; brms's own leave out what isn't a letter or a digit.
bayesian_estimates <- function(fit, parts) {
  draws <- unclass(posterior::as_draws_matrix(fit))
  fixed <- stats::delete.response(stats::terms(lme4::nobars(parts$formula)))
  terms <- colnames(stats::model.matrix(fixed, parts$data))
  coefficients <- draws[, grep("^b_", colnames(draws)), drop = FALSE]
  deviations <- draws[, grep("^sd_", colnames(draws)), drop = FALSE]
  rows <- spread_rows(cbind(coefficients, deviations))
  frame_of(
    term = c(sub("^\\(Intercept\\)$", "intercept", terms), deviation_names(colnames(deviations))),
    estimate = rows$estimate, std_error = unname(apply(cbind(coefficients, deviations), 2, stats::sd)),
    df = rep(NA_real_, nrow(rows)), statistic = rep(NA_real_, nrow(rows)), p_value = rep(NA_real_, nrow(rows)),
    conf_low = rows$conf_low, conf_high = rows$conf_high
  )
}

# "sd_item__Intercept" is sd_item; a slope keeps its name: sd_item: blockincongruent.
deviation_names <- function(names) sub("__", ": ", sub("__Intercept$", "", names))

bayesian_variances <- function(fit, parts) {
  draws <- unclass(posterior::as_draws_matrix(fit))
  names <- grep("^sd_", colnames(draws), value = TRUE)
  groups <- sub("^sd_(.*)__.*$", "\\1", names)
  frame_of(
    group = groups, term = sub("^Intercept$", "intercept", sub("^.*__", "", names)),
    variance = unname(colMeans(draws[, names, drop = FALSE]^2)),
    n_groups = unname(vapply(groups, function(name) nlevels(parts$data[[name]]), integer(1)))
  )
}

doubts_of_loo <- function(loo) {
  if (loo$n_bad_pareto_k > 0) {
    sprintf(
      "%s with a Pareto k above 0.7 (largest %.2f): leave-one-out is unreliable there.",
      counted(loo$n_bad_pareto_k, "answer"), loo$max_pareto_k
    )
  }
}
