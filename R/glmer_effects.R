#' Probabilities and their contrast in a logistic mixed model
#'
#' What a model fitted by [lme4::glmer()] predicts in each combination of its factors, and how far the two levels of one
#' factor (the conditions of a forced-choice IAT) lie apart in each combination of the others: ΔP and S of the
#' interference paper, for the same question asked of lme4 instead of brms.
#'
#' Two kinds are distinguished, for they differ much. `"population"` is the probability for an item whose random effects
#' are 0, the median item (and no mean over any population), as in the paper's Tables 1 and 2. `"new_items"` is the mean
#' probability over items that may be asked, with their random effects drawn from the estimated normal distribution (the
#' `"item_averaged"` of [condition_effects()] and [permutation_test()] is the mean over the items that were asked).
#'
#' Standard errors are the delta method's, from the covariance of the coefficients; variances of random effects are
#' taken as known. Intervals are Wald's: of a probability on the logit scale, of a difference symmetric around it.
#' Where cells are separated (all answers alike), neither is to be trusted. Near separation (a standard deviation
#' between items above 5 log odds, which [fit_lme4()] warns of) a median item has probabilities near 0 or 1 that the
#' rows say nothing of: its standard errors, intervals and p are `NA`.
#'
#' @param model a model that `lme4::glmer()` fitted with `family = binomial()`, whose fixed effects are factors.
#' @param contrast name of the factor with two levels that is compared: the first level minus the second.
#' @return A list of two data frames, each with a column for every factor (the second without `contrast`):
#'   \describe{
#'     \item{predictions}{`kind`, `estimate` (a probability), `std_error`, `conf_low`, `conf_high`.}
#'     \item{contrasts}{`kind`, `scale` (`"delta_p"`: a difference of probabilities; `"s"`: of log odds, population
#'       only), `estimate`, `std_error`, `conf_low`, `conf_high`, `p_value` (two-sided, Wald), `mde` (the smallest
#'       effect that is found with a power of 80 %, at the standard error of this one). No rows where the model has no
#'       such factor.}
#'   }
#' @source Cohen & Kincaid (2026), equation 11 (ΔP), section 2.5 (S), Tables 1 and 2.
#' @noRd
glmer_effects <- function(model, contrast = "condition") {
  need_package("lme4", "predict from a mixed model")
  if (!inherits(model, "glmerMod") || stats::family(model)$link != "logit") {
    stop_with("Can't predict probabilities: `model` must be a logistic mixed model from lme4::glmer().")
  }
  frame <- stats::model.frame(model)
  fixed <- stats::delete.response(stats::terms(model))
  variables <- all.vars(fixed)
  if (!all(vapply(frame[variables], is.factor, NA))) {
    stop_with("Can't predict probabilities: the fixed effects must all be factors.")
  }
  # The first factor varies slowest, as in the tables of the paper.
  grid <- rev(expand.grid(rev(lapply(frame[variables], levels)), stringsAsFactors = TRUE))
  if (length(variables) == 0) grid <- data.frame(row.names = 1)
  x <- stats::model.matrix(fixed, grid, contrasts.arg = attr(lme4::getME(model, "X"), "contrasts"))
  cells <- list(grid = grid, x = x[, names(lme4::fixef(model)), drop = FALSE])
  covariance <- as.matrix(stats::vcov(model))
  parts <- c(at_zero(cells, model, covariance), over_items(cells, model, covariance))
  rows <- lapply(names(parts), function(kind) {
    part <- parts[[kind]]
    half_width <- stats::qnorm(.975) * part$on_logit
    cbind(text_columns(cells$grid), data.frame(
      kind = kind, estimate = part$p, std_error = delta_std_error(part$gradient, part$covariance),
      conf_low = stats::plogis(part$eta - half_width), conf_high = stats::plogis(part$eta + half_width)
    ))
  })
  tables <- list(
    predictions = as_plain_rows(do.call(rbind, rows)), contrasts = level_differences(cells$grid, parts, contrast)
  )
  sd <- sqrt(unlist(lapply(lme4::VarCorr(model), diag)))
  if (any(sd > widest_sd)) lapply(tables, without_errors_of_median) else tables
}

# A standard deviation between groups, in log odds, above which answers are nearly separated: one item in 20 differs
# from the median one by ten log odds or more.
widest_sd <- 5

without_errors_of_median <- function(table) {
  errors <- intersect(c("std_error", "conf_low", "conf_high", "p_value", "mde"), names(table))
  table[table$kind == "population", errors] <- NA_real_
  table
}

# The log odds of each cell at random effects of 0: probability, its gradient in the coefficients.
at_zero <- function(cells, model, covariance) {
  eta <- as.vector(cells$x %*% lme4::fixef(model))
  p <- stats::plogis(eta)
  gradient <- stats::dlogis(eta) * cells$x
  on_logit <- delta_std_error(cells$x, covariance)
  list(population = list(
    p = p, gradient = gradient, covariance = covariance, eta = eta, on_logit = on_logit, x = cells$x
  ))
}

# The same at each new item, averaged.
over_items <- function(cells, model, covariance) {
  eta <- as.vector(cells$x %*% lme4::fixef(model))
  sd <- sqrt(random_variances(cells$grid, model))
  rule <- normal_rule(max(sd))
  at <- outer(sd, rule$nodes) + eta
  p <- as.vector(stats::plogis(at) %*% rule$weights)
  gradient <- as.vector(stats::dlogis(at) %*% rule$weights) * cells$x
  on_logit <- delta_std_error(gradient / (p * (1 - p)), covariance)
  list(new_items = list(
    p = p, gradient = gradient, covariance = covariance, eta = stats::qlogis(p), on_logit = on_logit
  ))
}

# The variance that random effects add to the log odds of each cell: z' Sigma z, over all terms.
random_variances <- function(grid, model) {
  bars <- random_terms(stats::formula(model))
  z <- do.call(cbind, lapply(bars, function(bar) stats::model.matrix(stats::as.formula(call("~", bar[[2]])), grid)))
  parts <- lapply(lme4::VarCorr(model), function(sigma) {
    design <- z[, rownames(sigma), drop = FALSE]
    rowSums((design %*% sigma) * design)
  })
  Reduce(`+`, parts)
}

# Nodes and weights for the mean of a logistic function, `sd` times as steep, of a standard normal variable: the
# trapezoidal rule, whose error falls exponentially with the step, here to 1e-12 at any `sd`. Gauss-Hermite quadrature
# of 41 points is off by .03 where `sd` is 20. Trefethen & Weideman (2014), SIAM Review 56, 385-458.
normal_rule <- function(sd) {
  step <- min(.25, .7 / sd)
  nodes <- seq(-9, 9, length.out = 2 * ceiling(9 / step) + 1)
  list(nodes = nodes, weights = stats::dnorm(nodes) * (nodes[[2]] - nodes[[1]]))
}

level_differences <- function(grid, parts, contrast) {
  others <- grid[setdiff(names(grid), contrast)]
  if (nlevels(grid[[contrast]]) != 2) {
    return(difference_rows(others[0, , drop = FALSE], character(), character(), numeric(), numeric()))
  }
  is_first <- grid[[contrast]] == levels(grid[[contrast]])[[1]]
  cells <- others[is_first, , drop = FALSE]
  # The grid is crossed, so that both levels have the other factors in the same order.
  difference <- function(values) values[is_first] - values[!is_first]
  gap <- function(matrix) matrix[is_first, , drop = FALSE] - matrix[!is_first, , drop = FALSE]
  rows <- lapply(names(parts), function(kind) {
    part <- parts[[kind]]
    std_error <- delta_std_error(gap(part$gradient), part$covariance)
    difference_rows(cells, kind, "delta_p", difference(part$p), std_error)
  })
  population <- parts$population
  in_log_odds <- delta_std_error(gap(population$x), population$covariance)
  in_s <- difference_rows(cells, "population", "s", difference(population$eta), in_log_odds)
  as_plain_rows(do.call(rbind, c(rows, list(in_s))))
}

difference_rows <- function(cells, kind, scale, estimate, std_error) {
  half_width <- stats::qnorm(.975) * std_error
  n <- length(estimate)
  numbers <- data.frame(
    kind = rep(kind, n), scale = rep(scale, n), estimate = estimate, std_error = std_error,
    conf_low = estimate - half_width, conf_high = estimate + half_width,
    p_value = 2 * stats::pnorm(-abs(estimate / std_error)),
    mde = minimum_detectable_effect(std_error, rep(Inf, n))
  )
  as_plain_rows(cbind(text_columns(cells), numbers))
}

delta_std_error <- function(gradient, covariance) sqrt(pmax(0, rowSums((gradient %*% covariance) * gradient)))

text_columns <- function(grid) {
  grid[] <- lapply(grid, as.character)
  grid
}

# The tables of a fit: with a column, too, for each factor that had one value only and is in no formula. NULL where the
# fixed effects are not all factors.
effects_with_constants <- function(model, contrast, constant) {
  variables <- all.vars(stats::delete.response(stats::terms(model)))
  if (!all(vapply(stats::model.frame(model)[variables], is.factor, NA))) {
    return(NULL)
  }
  with_constant <- function(table, constant) do.call(frame_of, c(as.list(constant), as.list(table)))
  contrast <- words_for(contrast, c(variables, names(constant)))
  effects <- glmer_effects(model, contrast)
  with_our_words(list(
    predictions = with_constant(effects$predictions, constant),
    contrasts = with_constant(effects$contrasts, constant[setdiff(names(constant), contrast)])
  ))
}
