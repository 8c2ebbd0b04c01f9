# What regressions without random effects share: factors with levels that are listed, one fit for each group of rows,
# and standard errors over clusters next to those of independent rows.

# `regression`: a list of its `name`, an `example` of a formula and the engine that has random effects (`mixed`), all
# three in sentences; `optimiser` in words; `packages`; `columns`, what it needs besides those of the formula;
# `check(rows, outcome)`, an error where the outcome is none of its kind (if not given, check_outcome()); `prepared`,
# function(rows, formula); `model`, function(formula, rows); and of a model `effects` (estimates), `tests`, `variances`,
# `fit_of` (more of its row of `fits`), `further(model, rows, covariance)` (more tables), and `changes`: a matrix, how
# each row moves each coefficient. The variance of their sums over clusters is multiplied with
# `small_sample(model, n_clusters)` besides G / (G - 1), and called `clustered_as`; `has_cr2`: clubSandwich knows it.
fit_fixed_effects <- function(data, formula, by, levels, cluster, save_to, regression) {
  formula <- checked_formula(formula, names(data))
  columns <- c(all.vars(formula), regression$columns)
  if (!is.null(cluster)) cluster <- checked_clusters(as.character(unlist(cluster)))
  check_columns(data, c(columns, cluster_columns(cluster), by), to = sprintf("fit %s", regression$name))
  has_bar <- any(c("|", "||") %in% all.names(formula))
  if (length(formula) != 3 || has_bar) {
    stop_with(
      sprintf("Can't fit %s as %s.", quoted(deparse1(formula)), regression$name),
      sprintf("It must have an outcome and no random effect, like %s.", quoted(regression$example)),
      if (has_bar) sprintf("With random effects, the engine is %s.", regression$mixed)
    )
  }
  levels <- level_lists(data, all.vars(formula[[3]]), levels[intersect(names(levels), all.vars(formula[[3]]))])
  used <- unique(c(columns, cluster_columns(cluster)))
  fit_one <- function(rows) fit_fixed_cell(formula, with_factors(rows, character(), levels), cluster, regression)
  slant_fit(fit_each_group(data, by, used, fit_one, save_to), regression$packages)
}

fit_fixed_cell <- function(formula, rows, cluster, regression) {
  check <- if (is.null(regression$check)) check_outcome else regression$check
  check(rows, all.vars(formula[[2]]))
  rows <- regression$prepared(rows, formula)
  model <- regression$model(formula, rows)
  if (anyNA(stats::coef(model))) {
    alike <- quoted(names(which(is.na(stats::coef(model)))))
    stop_with(sprintf("Can't fit %s: %s does not vary apart from the others.", regression$name, alike))
  }
  if (isTRUE(model$df.residual == 0)) {
    stop_with(sprintf("Can't fit %s: it has as many coefficients as there are rows.", regression$name))
  }
  clusters <- clusters_to_use(rows, cluster)
  of_rows <- regression$effects(model)
  clustered <- clustered_effects(model, clusters, regression, of_rows)
  list(
    estimates = if (nrow(clustered) > 0) clustered[names(of_rows)] else of_rows,
    fit = c(if (!is.null(regression$fit_of)) regression$fit_of(model), list(
      log_lik = as.numeric(stats::logLik(model)), aic = stats::AIC(model), bic = stats::BIC(model), singular = FALSE,
      optimiser = regression$optimiser
    )),
    variances = regression$variances(model),
    tables_of_group = c(
      list(tests = clustered_tests(regression$tests(model), model, clusters, regression), clustered = clustered),
      if (!is.null(regression$further)) regression$further(model, rows, clustered_vcov(model, clusters, regression))
    ),
    model = model
  )
}

clusters_to_use <- function(rows, cluster) {
  if (is.null(cluster)) {
    return(NULL)
  }
  tryCatch(clusters_of(rows, cluster, "say what holds for others"), error = function(condition) {
    message(conditionMessage(condition))
    NULL
  })
}

# The coefficients with standard errors over other clusters, which are shown, and with those of independent rows (in
# columns that end with _rows), which papers print; without `cluster`, or three of one, no rows.
clustered_effects <- function(model, clusters, regression, of_rows) {
  if (is.null(clusters)) {
    none <- frame_of(
      method = character(), clusters = character(), n_clusters = integer(), std_error_rows = double(),
      statistic_rows = double(), p_value_rows = double(), conf_low_rows = double(), conf_high_rows = double()
    )
    return(cbind(empty_table("estimates"), none))
  }
  n <- min(vapply(clusters, function(codes) length(unique(codes)), 1L))
  found <- if (takes_reduced_bias(clusters, n, regression)) reduced_bias_error(model, clusters[[1]])
  if (is.null(found)) {
    found <- clustered_error(regression$changes(model), clusters)
    if (length(clusters) == 1) found$std_error <- found$std_error * sqrt(regression$small_sample(model, n))
    found$method <- rep(if (length(clusters) == 2) "two ways" else regression$clustered_as, nrow(found))
  }
  effects <- coefficient_rows(stats::coef(model), found)
  n_rows <- nrow(effects)
  about <- frame_of(
    method = found$method, clusters = rep(toString(names(clusters)), n_rows), n_clusters = rep(n, n_rows)
  )
  shown <- c("std_error", "statistic", "p_value", "conf_low", "conf_high")
  own <- of_rows[match(effects$term, of_rows$term), shown]
  cbind(effects, about, as_plain_rows(stats::setNames(own, paste0(shown, "_rows"))))
}

# Tests of terms with p of Wald's F over the clusters; that of independent rows is `p_value_rows`.
clustered_tests <- function(tests, model, clusters, regression) {
  if (is.null(tests) || nrow(tests) == 0) {
    return(tests)
  }
  tests$p_value_rows <- if (is.null(clusters)) rep(NA_real_, nrow(tests)) else tests$p_value
  covariance <- clustered_vcov(model, clusters, regression)
  if (is.null(covariance)) {
    return(tests)
  }
  estimates <- stats::coef(model)
  n <- length(unique(clusters[[1]]))
  of_term <- coefficients_of_terms(model)
  is_reduced <- isTRUE(regression$has_cr2) && n < fewest_clusters && requireNamespace("clubSandwich", quietly = TRUE) &&
    max(table(clusters[[1]])) <= largest_cluster
  tests$p_value <- vapply(tests$term, function(term) {
    at <- if (term == "all") unlist(of_term, use.names = FALSE) else of_term[[term]]
    if (length(at) >= n) {
      return(NA_real_) # with as many coefficients as clusters, their covariance is singular
    }
    if (is_reduced) {
      constraints <- clubSandwich::constrain_zero(at, coefs = estimates)
      return(clubSandwich::Wald_test(model, constraints, vcov = "CR2", cluster = clusters[[1]], test = "HTZ")$p_val)
    }
    solved <- tryCatch(solve(covariance[at, at, drop = FALSE], estimates[at]), error = function(problem) NULL)
    if (is.null(solved)) {
      return(NA_real_)
    }
    stats::pf(sum(estimates[at] * solved) / length(at), length(at), n - 1, lower.tail = FALSE)
  }, 1, USE.NAMES = FALSE)
  tests
}

# By term, the places of its coefficients. A cumulative model has thresholds before them.
coefficients_of_terms <- function(model) {
  terms <- stats::delete.response(stats::terms(model))
  labels <- attr(terms, "term.labels")
  estimates <- stats::coef(model)
  rows <- if (inherits(model, "clm")) environment(stats::formula(model))$rows else stats::model.frame(model)
  of <- attr(stats::model.matrix(terms, rows), "assign")
  n_before <- length(estimates) - sum(of > 0)
  stats::setNames(lapply(seq_along(labels), function(i) n_before + which(of[of > 0] == i)), labels)
}

# The covariance of the coefficients over clusters of one kind; NULL without them.
clustered_vcov <- function(model, clusters, regression) {
  if (length(clusters) != 1) {
    return(NULL)
  }
  sums <- rowsum(regression$changes(model), clusters[[1]])
  n <- nrow(sums)
  crossprod(sums) * n / (n - 1) * regression$small_sample(model, n)
}

# Of least squares and logistic regressions, as sandwich::vcovCL(type = "HC1", cadjust = TRUE), and Stata's regress.
least_squares_changes <- function(model) {
  scores <- stats::model.matrix(model) * stats::residuals(model, type = "working") * model_weights(model)
  scores %*% summary(model)$cov.unscaled
}

model_weights <- function(model) {
  weights <- if (inherits(model, "glm")) stats::weights(model, "working") else stats::weights(model)
  if (is.null(weights)) 1 else weights
}

hc1 <- function(model) (stats::nobs(model) - 1) / (stats::nobs(model) - length(stats::coef(model)))
