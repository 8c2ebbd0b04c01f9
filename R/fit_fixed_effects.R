# What regressions without random effects share: factors with levels that are listed, one fit for each group of rows,
# and standard errors over clusters next to those of independent rows.

# `regression`: a list of its `name`, an `example` of a formula and the engine that has random effects (`mixed`), all
# three in sentences; `prepared`, function(rows, formula); `model`, function(formula, rows); and of a model `effects`
# (estimates), `tests`, `variances`; `optimiser` in words.
fit_fixed_effects <- function(data, formula, by, levels, cluster, save_to, regression) {
  formula <- checked_formula(formula, names(data))
  columns <- all.vars(formula)
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
  levels <- level_lists(data, all.vars(formula[[3]]), levels)
  used <- unique(c(columns, cluster_columns(cluster)))
  fit_one <- function(rows) fit_fixed_cell(formula, with_factors(rows, character(), levels), cluster, regression)
  slant_fit(fit_each_group(data, by, used, fit_one, save_to))
}

fit_fixed_cell <- function(formula, rows, cluster, regression) {
  check_outcome(rows, all.vars(formula[[2]]))
  model <- regression$model(formula, regression$prepared(rows, formula))
  if (anyNA(stats::coef(model))) {
    alike <- quoted(names(which(is.na(stats::coef(model)))))
    stop_with(sprintf("Can't fit %s: %s does not vary apart from the others.", regression$name, alike))
  }
  if (model$df.residual == 0) {
    stop_with(sprintf("Can't fit %s: it has as many coefficients as there are rows.", regression$name))
  }
  list(
    estimates = regression$effects(model),
    fit = list(
      log_lik = as.numeric(stats::logLik(model)), aic = stats::AIC(model), bic = stats::BIC(model), singular = FALSE,
      optimiser = regression$optimiser
    ),
    variances = regression$variances(model),
    tables_of_group = list(tests = regression$tests(model), clustered = clustered_effects(model, rows, cluster)),
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
  bread <- summary(model)$cov.unscaled
  effects <- coefficient_rows(stats::coef(model), clustered_error(scores %*% bread, clusters))
  n <- min(vapply(clusters, function(codes) length(unique(codes)), 1L))
  cbind(effects, frame_of(clusters = rep(toString(names(clusters)), nrow(effects)), n_clusters = rep(n, nrow(effects))))
}
