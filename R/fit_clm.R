#' Cumulative logit models of ratings, one per group of rows
#'
#' A rating is a point on a scale, not a number: `ordinal::clm()` has a threshold between each two points, and
#' predictors shift where an answer falls: logit P(rating <= j) = threshold j - predictors. So a coefficient above 0
#' means higher ratings, as with brms's `cumulative()`; `rms::lrm()`, SAS and others turn signs. Effects are taken to
#' be the same at each threshold (proportional odds): `run_check("proportional_odds")` compares.
#'
#' @inheritParams fit_logistic
#' @param formula the formula as text, such as `"rating ~ group + job"`. Text is a factor, as of [fit_logistic()]. The
#'   rating may be whole numbers, a factor, or text whose points `levels` lists, the lowest first. Points never given
#'   are left out, and a message says so.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has the thresholds (`"1|2"`, below 2) and one row a
#'   coefficient, in log odds, with Wald's z. `tables` holds `tests` (likelihood ratio tests, as of [fit_logistic()]),
#'   `clustered` (`method` `"robust"`: sandwich times G / (G - 1); of fewer than 40 clusters `"jackknife"`: without each
#'   cluster in turn), and `categories`: for each level of a factor and
#'   each point of the scale (`category`) by how much the probability of that point differs from the `reference`,
#'   averaged over the rows as they are otherwise (delta method; over clusters, if one is named).
#' @source Christensen (2022), R package ordinal; McCullagh (1980).
#' @export
#' @examplesIf requireNamespace("ordinal", quietly = TRUE)
#' set.seed(1)
#' ratings <- data.frame(group = rep(c("a", "b"), each = 60))
#' ratings$rating <- findInterval(rlogis(120) + (ratings$group == "b"), c(-1, 0, 1)) + 1L
#' fit <- fit_clm(ratings, "rating ~ group")
#' fit
#' predict(fit, data.frame(group = c("a", "b")))
fit_clm <- function(data, formula, by = NULL, levels = NULL, cluster = NULL, save_to = NULL,
                    declared = list()) {
  check_arguments()
  need_package("ordinal", "fit cumulative models of ratings")
  if (!is.null(cluster)) need_package("sandwich", "compute standard errors over clusters of ratings")
  fit_fixed_effects(data, formula, by, levels, cluster, save_to, cumulative_model(levels), declared)
}

cumulative_model <- function(points) {
  list(
    name = "a cumulative model", example = "rating ~ condition", mixed = "clmm", packages = "ordinal",
    check = function(rows, outcome) NULL,
    prepared = function(rows, formula) {
      outcome <- all.vars(formula[[2]])
      rows[[outcome]] <- rated_points(rows[[outcome]], outcome, points[[outcome]])
      warn_of_one_point(rows, formula)
      rows
    },
    model = function(formula, rows) cumulative_fit(formula, rows),
    effects = function(model) {
      say_rough_optimum(model$convergence$code)
      wald_effects(model)
    },
    tests = function(model) rating_tests(model),
    variances = function(model) NULL,
    changes = function(model) sandwich::estfun(model) %*% stats::vcov(model),
    small_sample = function(model, n_clusters) 1, clustered_as = "robust",
    refit = function(model, keep) {
      formula <- stats::formula(model)
      rows <- environment(formula)$rows
      environment(formula) <- parent.env(environment(formula))
      stats::coef(cumulative_fit(formula, rows[keep, , drop = FALSE], start = stats::coef(model)))
    },
    further = function(model, rows, covariance) list(categories = category_effects(model, rows, covariance)),
    optimiser = "ordinal::clm, Wald z"
  )
}

# ordinal looks up what a formula names where the formula was made.
cumulative_fit <- function(formula, rows, ...) {
  environment(formula) <- list2env(list(rows = rows), parent = environment(formula))
  ordinal::clm(formula, data = rows, ...)
}

say_rough_optimum <- function(code) {
  if (!isTRUE(code == 0)) message("ordinal is not sure that this is the optimum: take coefficients and z as rough.")
}

# Against the model of thresholds alone, and of each term against the model without it, which begins where this one is.
rating_tests <- function(model) {
  n <- tabulate(model$y)
  reached <- list(deviance = -2 * as.numeric(stats::logLik(model)))
  all <- likelihood_ratio("all", reached, -2 * sum(n * log(n / sum(n))), length(model$beta))
  terms <- attr(stats::terms(model), "term.labels")
  if (length(terms) < 2) {
    return(all)
  }
  formula <- stats::formula(model)
  rows <- environment(formula)$rows
  of_term <- attr(stats::model.matrix(stats::delete.response(stats::terms(model)), rows), "assign")[-1]
  each <- lapply(stats::drop.scope(stats::terms(model)), function(term) {
    smaller <- stats::update.formula(formula, stats::as.formula(paste(". ~ . -", term)))
    environment(smaller) <- parent.env(environment(formula))
    start <- c(model$alpha, model$beta[terms[of_term] != term])
    fit <- cumulative_fit(smaller, rows, start = start)
    likelihood_ratio(
      term, reached, -2 * as.numeric(stats::logLik(fit)), length(model$beta) - length(fit$beta)
    )
  })
  do.call(rbind, c(list(all), each))
}
