#' Cumulative logit mixed models of ratings, one per group of rows
#'
#' `ordinal::clmm()`: the model of `fit_clm()` with random effects, such as
#' `"rating ~ group + (1 + group | template) + (1 | word)"`. It begins at the estimates of the model without them;
#' numbers among the predictors are divided by their standard deviations for the fit, and what is reported is per unit.
#'
#' @inheritParams fit_lme4
#' @param formula the formula as text, with at least one random effect. `||` is not known to clmm: write its terms out.
#' @param levels a named list: for each text column that is a fixed effect, its levels, the reference level first; of
#'   the rating, its points, the lowest first.
#' @param n_agq 1 is Laplace's approximation; more are the points of an adaptive Gauss-Hermite quadrature, for one
#'   random intercept only.
#' @return The same list of data frames as [fit_lme4()]: `estimates` has thresholds (`"1|2"`) and coefficients in log
#'   odds, with Wald's z; of random effects `variances` has those on the scale of log odds.
#' @source Christensen (2022), R package ordinal.
#' @noRd
fit_clmm <- function(data, formula, by = NULL, levels = NULL, save_to = NULL, n_agq = 1) {
  need_package("ordinal", "fit cumulative models of ratings")
  check_columns(data, character())
  formula <- checked_formula(formula, names(data))
  if (!is_whole(n_agq, 1)) stop_with("Can't fit: `n_agq` must be a whole number from 1.")
  if ("||" %in% all.names(formula)) {
    stop_with(
      sprintf("Can't fit %s with clmm: it does not know ||.", quoted(deparse1(formula))),
      "Write the terms out: (1 | template) + (0 + x | template), with x a number."
    )
  }
  bars <- random_terms(formula)
  if (length(formula) != 3 || length(bars) == 0) {
    stop_with(
      sprintf("Can't fit %s as a mixed model of ratings.", quoted(deparse1(formula))),
      "It must have an outcome and a random effect, like \"rating ~ group + (1 | template)\".",
      "Without a random effect, the engine is clm."
    )
  }
  if (n_agq > 1 && (length(bars) > 1 || !identical(bars[[1]][[2]], 1))) {
    stop_with("Can't fit: `n_agq` above 1 is for one random intercept; with more random effects it must be 1.")
  }
  fixed <- all.vars(without_random_terms(formula)[[3]])
  coded <- coded_variables(formula)
  outcome <- all.vars(formula[[2]])
  points <- levels[[outcome]]
  levels <- level_lists(data, coded, levels[setdiff(names(levels), outcome)])
  fit_one <- function(rows) {
    check_groupings(rows, formula)
    rows[[outcome]] <- rated_points(rows[[outcome]], outcome, points)
    rows <- with_factors(rows, setdiff(grouping_variables(formula), coded), levels)
    warn_of_one_point(rows, formula)
    fit_mixed_ratings(formula, rows, fixed, n_agq)
  }
  slant_fit(fit_each_group(data, by, all.vars(formula), fit_one, save_to), "ordinal")
}

fit_mixed_ratings <- function(formula, rows, fixed, n_agq) {
  # by their own name alone, so that what is fitted per standard deviation can be turned back
  is_number <- function(name) is.numeric(rows[[name]]) && stats::sd(rows[[name]]) > 0
  numbers <- Filter(is_number, setdiff(fixed, names_in_functions(formula[[3]])))
  scales <- vapply(numbers, function(name) stats::sd(rows[[name]]), 1)
  for (name in numbers) rows[[name]] <- rows[[name]] / scales[[name]]
  environment(formula) <- list2env(list(rows = rows), parent = environment(formula))
  model <- ordinal::clmm(formula, data = rows, nAGQ = n_agq)
  say_rough_optimum(model$optRes$convergence)
  sigmas <- lapply(ordinal::VarCorr(model), as.matrix)
  sd <- unlist(lapply(sigmas, function(sigma) sqrt(diag(sigma))))
  has_none <- all(sd < smallest_sd) # then the model is the one without them, and clmm often has no standard errors
  if (has_none) {
    message("All variances are estimated as 0: standard errors are those of the model without random effects.")
  }
  effects <- wald_effects(if (has_none) cumulative_fit(without_random_terms(formula), rows) else model)
  is_degenerate <- vapply(sigmas, function(sigma) { # a correlation of 1 or -1
    nrow(sigma) > 1 && min(eigen(sigma, TRUE, TRUE)$values) < smallest_sd^2
  }, NA)
  numbers <- c("estimate", "std_error", "conf_low", "conf_high")
  effects[numbers] <- lapply(effects[numbers], `/`, unit_of(effects$term, scales))
  by_group <- Map(function(group, sigma, n_groups) {
    terms <- rownames(sigma)
    variance <- unname(diag(sigma)) / unit_of(terms, scales)^2
    frame_of(group = group, term = slope_name(term_name(terms)), variance = variance, n_groups = n_groups)
  }, names(sigmas), sigmas, as.integer(model$dims$nlev.re))
  list(
    estimates = effects,
    fit = list(
      n_groups = as.integer(model$dims$nlev.gf[[1]]), log_lik = as.numeric(stats::logLik(model)),
      aic = stats::AIC(model), bic = stats::BIC(model), singular = any(sd < smallest_sd, is_degenerate),
      optimiser = sprintf("ordinal::clmm, nAGQ = %d, Wald z", as.integer(n_agq))
    ),
    variances = as_plain_rows(do.call(rbind, unname(by_group))),
    model = model
  )
}

# A standard deviation in log odds below which a random effect is not there.
smallest_sd <- 1e-3

names_in_functions <- function(part) {
  if (!is.call(part)) {
    return(character())
  }
  if (as.character(part[[1]]) %in% allowed_functions()) {
    return(all.vars(part))
  }
  unlist(lapply(as.list(part)[-1], names_in_functions))
}

# How often a coefficient's name holds each number: of x:z by both.
unit_of <- function(terms, scales) {
  vapply(strsplit(terms, ":", fixed = TRUE), function(parts) prod(scales[intersect(parts, names(scales))]), 1)
}
