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
    changes = function(model) sandwich::estfun(model) %*% stats::vcov(model),
    small_sample = function(model, n_clusters) 1, clustered_as = "robust",
    refit = function(model, keep) {
      formula <- stats::formula(model)
      rows <- rows_of_model(model)
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
  if (!isTRUE(code == 0)) {
    message("ordinal can't confirm that this is the optimum: treat coefficients and z as approximate.")
  }
}

# Against the model of thresholds alone, and of each term against the model without it, which begins where this one is.
rating_tests <- function(model) {
  n <- tabulate(model$y)
  terms <- attr(stats::terms(model), "term.labels")
  formula <- stats::formula(model)
  rows <- rows_of_model(model)
  of_term <- attr(stats::model.matrix(stats::delete.response(stats::terms(model)), rows), "assign")[-1]
  reached <- c(-2 * as.numeric(stats::logLik(model)), length(model$beta))
  likelihood_ratios(model, reached, -2 * sum(n * log(n / sum(n))), terms, function(smaller, term) {
    environment(smaller) <- parent.env(environment(formula))
    fit <- cumulative_fit(smaller, rows, start = c(model$alpha, model$beta[terms[of_term] != term]))
    c(-2 * as.numeric(stats::logLik(fit)), length(fit$beta))
  })
}

# What a level of a factor does to each point of a scale: in place of log odds, which few people read, the difference
# in the probability of the point, averaged over the rows as they are otherwise.

# `covariance`: of the coefficients over clusters, or NULL for independent rows. One row a level and point.
category_effects <- function(model, rows, covariance = NULL) {
  if (is.null(covariance)) covariance <- stats::vcov(model)
  terms <- stats::delete.response(stats::terms(model))
  factors <- Filter(function(name) is.factor(rows[[name]]), all.vars(terms))
  parts <- lapply(factors, function(name) {
    listed <- levels(rows[[name]])
    of_level <- lapply(listed, function(level) {
      rows[[name]] <- as_constant(rows[[name]], level)
      point_shares(stats::model.matrix(terms, rows)[, names(model$beta), drop = FALSE], model)
    })
    do.call(rbind, Map(function(level, shares) {
      gradient <- shares$gradient - of_level[[1]]$gradient
      std_error <- delta_std_error(gradient, covariance)
      estimate <- shares$share - of_level[[1]]$share
      frame_of(
        term = level_terms(name, level), attribute = name, level = level, reference = listed[[1]],
        category = model$y.levels, estimate = estimate, std_error = std_error,
        conf_low = estimate - stats::qnorm(.975) * std_error, conf_high = estimate + stats::qnorm(.975) * std_error
      )
    }, listed[-1], of_level[-1]))
  })
  none <- columns_of(
    "term:text attribute:text level:text reference:text category:text estimate std_error conf_low conf_high"
  )
  as_plain_rows(do.call(rbind, c(list(none), unname(parts))))
}

# A factor of one level everywhere, with its levels and contrasts as they were.
as_constant <- function(factor, level) {
  factor[] <- level
  factor
}

# The mean probability of each point over the rows of a model matrix, and its gradient (thresholds, then coefficients).
point_shares <- function(x, model) {
  alpha <- unname(model$alpha)
  eta <- as.vector(x %*% model$beta)
  n <- length(eta)
  below <- cbind(0, vapply(alpha, function(threshold) stats::plogis(threshold - eta), double(n)), 1)
  density <- cbind(0, vapply(alpha, function(threshold) stats::dlogis(threshold - eta), double(n)), 0)
  points <- seq_len(length(alpha) + 1)
  gradient <- t(vapply(points, function(point) {
    of_alpha <- double(length(alpha))
    if (point <= length(alpha)) of_alpha[[point]] <- mean(density[, point + 1])
    if (point > 1) of_alpha[[point - 1]] <- of_alpha[[point - 1]] - mean(density[, point])
    c(of_alpha, -colMeans((density[, point + 1] - density[, point]) * x))
  }, double(length(alpha) + ncol(x))))
  list(share = colMeans(below[, points + 1, drop = FALSE] - below[, points, drop = FALSE]), gradient = gradient)
}

# A rating as the ordered factor that cumulative models take: its points in their order, those that nobody gave left
# out, which a message says.

most_points <- 30L

# `points`: all points of the scale as text, the lowest first, or NULL: those of a factor, or the numbers there are.
rated_points <- function(values, name, points = NULL) {
  known <- points_of(values, name, points)
  given <- known[known %in% as.character(values)]
  if (length(given) > most_points) {
    stop_with(
      sprintf("Can't take \"%s\" as a rating: it has %d different values.", name, length(given)),
      "A number that is no scale is fitted by lm (or lme4)."
    )
  }
  if (length(given) == 1) {
    stop_with(sprintf("The outcome \"%s\" is %s in all %d rows: there is nothing to explain.", name, given,
                      length(values)))
  }
  if (length(unused <- setdiff(known, given)) > 0) {
    message(sprintf("Points of \"%s\" that were never given are left out of its scale: %s.", name, toString(unused)))
  }
  factor(as.character(values), given, ordered = TRUE)
}

points_of <- function(values, name, points) {
  if (!is.null(points)) {
    points <- as.character(unlist(points))
    check_listed(values, points, name)
    return(points)
  }
  if (is.factor(values)) {
    return(levels(values))
  }
  if (!is.numeric(values) && !is.logical(values) || !all(is.finite(values))) {
    stop_with(
      sprintf("\"%s\" is text and needs the list of its points, the lowest first.", name),
      sprintf("Give it as levels = list(%s = c(\"disagree\", \"neither\", \"agree\")).", name)
    )
  }
  sorted <- sort(unique(as.numeric(values)))
  if (all(sorted == round(sorted)) && diff(range(sorted)) < most_points) sorted <- seq(sorted[[1]], max(sorted))
  as.character(sorted)
}

# Levels of a factor at which everybody gave the same point: thresholds run off there, and a maximum is nowhere.
warn_of_one_point <- function(rows, formula) {
  outcome <- all.vars(formula[[2]])
  for (name in all.vars(without_random_terms(formula)[[3]])) {
    if (!is.factor(rows[[name]])) next
    n_points <- tapply(as.integer(rows[[outcome]]), rows[[name]], function(points) length(unique(points)))
    for (level in names(which(n_points == 1))) {
      point <- rows[[outcome]][rows[[name]] == level][[1]]
      warning(
        sprintf("All ratings of %s \"%s\" are %s: its coefficient has no finite estimate, or a rough one. ",
                name, level, point),
        "A prior holds it: engine brms, family = \"cumulative\".", call. = FALSE
      )
    }
  }
}
