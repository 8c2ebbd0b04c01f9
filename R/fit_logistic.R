#' Logistic regressions, one per group of rows
#'
#' R's own [stats::glm()] with `family = binomial`, Wald's z and intervals: of decisions on D of the word pairs before
#' them, as in Bai et al. (2025). It takes rows as independent. Where they share stereotypes, people or wordings,
#' `cluster` names the column (or two), and the table `clustered` has the same coefficients with standard errors over
#' others of them (sandwich estimators, t with the fewest clusters less 1 as degrees of freedom).
#'
#' @inheritParams fit_lme4
#' @param formula the formula as text, of numeric columns, such as `"decision_bias ~ d"`; the outcome is 1 or 0. Rows in
#'   which a column of it is missing are left out and counted (`n_missing`).
#' @param cluster names of one or two columns with what rows have in common, or `NULL`.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per coefficient, in log odds:
#'   `statistic` is Wald's z (`df` is `NA`), `conf_low` and `conf_high` its 95 % interval. `tables` holds `tests`, one
#'   row per group: `null_log_lik` of the model without predictors, McFadden's `pseudo_r_squared`, and the likelihood
#'   ratio test (`chi_squared`, `df`, `p_value`); with `cluster` also `clustered`: `term`, `estimate`, `std_error`,
#'   `df`,
#'   `statistic`, `p_value`, `conf_low`, `conf_high`, `clusters` (names) and `n_clusters` (the fewest).
#'   Where a predictor separates the outcome, coefficients have no finite
#'   estimate, and a warning says so.
#' @source Bai et al. (2025), <https://doi.org/10.1073/pnas.2416228122>, figure 4.
#' @noRd
fit_logistic <- function(data, formula, by = NULL, cluster = NULL, save_to = NULL) {
  formula <- checked_formula(formula, names(data))
  columns <- all.vars(formula)
  if (!is.null(cluster)) cluster <- checked_clusters(as.character(unlist(cluster)))
  check_columns(data, c(columns, cluster_columns(cluster), by), to = "fit a logistic regression")
  if (length(formula) != 3 || length(random_terms(formula)) > 0) {
    stop_with(
      sprintf("Can't fit %s as a logistic regression.", quoted(deparse1(formula))),
      "It must have an outcome and no random effect, like \"decision_bias ~ d\"."
    )
  }
  is_text <- vapply(data[columns], function(column) is.character(column) || is.factor(column), TRUE)
  if (any(is_text)) {
    stop_with(sprintf("Can't fit a logistic regression on text: %s.", quoted(columns[is_text])))
  }
  used <- unique(c(columns, cluster_columns(cluster)))
  slant_fit(fit_each_group(data, by, used, function(rows) fit_logistic_cell(formula, rows, cluster), save_to))
}

fit_logistic_cell <- function(formula, rows, cluster) {
  outcome <- all.vars(formula[[2]])
  check_outcome(rows, outcome)
  rows[[outcome]] <- zeros_and_ones(rows[[outcome]], outcome)
  model <- stats::glm(formula, family = stats::binomial(), data = rows)
  if (anyNA(stats::coef(model))) {
    alike <- quoted(names(which(is.na(stats::coef(model)))))
    stop_with(sprintf("Can't fit a logistic regression: %s does not vary beside the others.", alike))
  }
  list(
    estimates = wald_effects(model),
    fit = list(
      log_lik = as.numeric(stats::logLik(model)), aic = stats::AIC(model), bic = stats::BIC(model), singular = FALSE,
      optimiser = "stats::glm, Wald z"
    ),
    variances = NULL,
    tables_of_group = list(tests = against_intercept(model), clustered = clustered_effects(model, rows, cluster)),
    model = model
  )
}

# The coefficients with standard errors over other clusters; without `cluster`, or three of one, no rows.
clustered_effects <- function(model, rows, cluster) {
  none <- cbind(empty_table("estimates"), frame_of(clusters = character(), n_clusters = integer()))
  if (is.null(cluster)) {
    return(none)
  }
  clusters <- tryCatch(clusters_of(rows, cluster, "say what holds for others"), error = function(condition) {
    message(conditionMessage(condition))
    NULL
  })
  if (is.null(clusters)) {
    return(none)
  }
  scores <- stats::model.matrix(model) * stats::residuals(model, type = "response")
  effects <- coefficient_rows(stats::coef(model), clustered_error(scores %*% stats::vcov(model), clusters))
  n <- min(vapply(clusters, function(codes) length(unique(codes)), 1L))
  cbind(effects, frame_of(clusters = rep(toString(names(clusters)), nrow(effects)), n_clusters = rep(n, nrow(effects))))
}

# The null model is of the same rows; its deviance is that of 0 and 1, and so minus twice its log likelihood.
against_intercept <- function(model) {
  chi_squared <- model$null.deviance - model$deviance
  df <- model$df.null - model$df.residual
  data.frame(
    term = "all", null_log_lik = -model$null.deviance / 2, pseudo_r_squared = chi_squared / model$null.deviance,
    chi_squared = chi_squared, df = as.double(df),
    p_value = if (df > 0) stats::pchisq(chi_squared, df, lower.tail = FALSE) else NA_real_
  )
}
