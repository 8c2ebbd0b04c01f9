# What R's own generics say of a fit: coefficients and their covariance as its table has them (over clusters, by Kenward
# and Roger), the rest from the fitted models.

#' @rdname slant_fit
#' @method coef slant_fit
#' @rawNamespace S3method(stats::coef,slant_fit)
coef.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  stats::setNames(object$estimates$estimate, estimate_names(object))
}

#' @rdname slant_fit
#' @method vcov slant_fit
#' @rawNamespace S3method(stats::vcov,slant_fit)
vcov.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  names <- estimate_names(object)
  covariance <- matrix(0, length(names), length(names), dimnames = list(names, names))
  for (part in split(seq_along(names), groups_of_estimates(object))) {
    rows <- object$estimates[part, , drop = FALSE]
    # A covariance whose diagonal is another (the larger of two ways to cluster) keeps its correlations.
    group <- groups_of_estimates(object)[[part[[1]]]]
    kept <- attr(object$models, "covariances")[[group]]
    if (is.null(kept)) kept <- covariance_of_model(object$models[[group]], rows)
    if (is.null(kept) && nrow(rows) == 1) kept <- matrix(rows$std_error^2)
    if (is.null(kept)) stop_without_model("give covariances")
    ratio <- rows$std_error / sqrt(diag(kept))
    ratio[!is.na(ratio) & abs(ratio - 1) < 1e-9] <- 1
    covariance[part, part] <- unname(kept) * outer(ratio, ratio)
  }
  covariance
}

# NULL where the model knows none of these terms.
covariance_of_model <- function(model, rows) {
  if (inherits(model, "brmsfit")) {
    return(stats::cov(estimate_draws(unclass(posterior::as_draws_matrix(model)))))
  }
  covariance <- tryCatch(as.matrix(stats::vcov(model)), error = function(problem) NULL)
  at <- match(rows$term, term_name(rownames(covariance)))
  if (is.null(covariance) || anyNA(at)) NULL else covariance[at, at, drop = FALSE]
}

groups_of_estimates <- function(x) in_words_by(x$estimates, group_columns(x))

# Each row's values in the columns `by`; "all" without one.
in_words_by <- function(table, by) {
  if (length(by) == 0) rep("all", nrow(table)) else do.call(paste, c(unname(as.list(table[by])), sep = ", "))
}

# One log likelihood, with its degrees of freedom, of one group; of several, numbers by group.
#' @rdname slant_fit
#' @method logLik slant_fit
#' @rawNamespace S3method(stats::logLik,slant_fit)
logLik.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  values <- stats::setNames(object$fits$log_lik, names(split(object)))
  if (length(values) > 1) {
    return(values)
  }
  known <- stats::logLik(models_of(object, "give a log likelihood")[[1]])
  known[] <- values
  known
}

#' @rdname slant_fit
#' @method residuals slant_fit
#' @rawNamespace S3method(stats::residuals,slant_fit)
residuals.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  by_group(models_of(object, "give residuals"), function(model) residuals_of(model, ...))
}

#' @rdname slant_fit
#' @method fitted slant_fit
#' @rawNamespace S3method(stats::fitted,slant_fit)
fitted.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  by_group(models_of(object, "give fitted values"), function(model) fitted_of(model, ...))
}

# A rating has no difference from what is expected: P(lower) - P(higher), between -1 and 1 (Li & Shepherd 2012).
residuals_of <- function(model, ...) {
  if (inherits(model, "clm")) {
    below <- stats::predict(model, type = "cum.prob")
    return(unname(below$cprob1 + below$cprob2 - 1))
  }
  known_values(stats::residuals(model, ...), "residuals")
}

fitted_of <- function(model, ...) {
  if (inherits(model, "coxph")) {
    return(unname(stats::predict(model, type = "expected")))
  }
  known_values(stats::fitted(model, ...), "fitted values")
}

known_values <- function(values, what) {
  if (is.null(values)) stop_with(sprintf("Can't give %s: models of this kind have none.", what))
  means_alone(values)
}

# brms gives a mean with its error and interval.
means_alone <- function(values) {
  if (is.matrix(values) && "Estimate" %in% colnames(values)) values[, "Estimate"] else values
}

#' @rdname slant_fit
#' @method predict slant_fit
#' @rawNamespace S3method(stats::predict,slant_fit)
predict.slant_fit <- function(object, newdata = NULL, ...) { # nolint: object_name_linter.
  if (is.null(newdata)) {
    return(fitted.slant_fit(object))
  }
  models <- models_of(object, "predict")
  by <- group_columns(object)
  if (length(models) == 1) {
    return(predictions_of(models[[1]], newdata, ...))
  }
  check_columns(newdata, by, to = "predict")
  groups <- in_words_by(newdata, by)
  if (!all(groups %in% names(models))) {
    unknown <- setdiff(groups, names(models))
    stop_with(
      sprintf("Can't predict: there is no model of %s.", quoted(unknown)),
      sprintf("There is: %s.", quoted(names(models)))
    )
  }
  predicted <- rep(NA_real_, nrow(newdata))
  for (group in unique(groups)) {
    own <- predictions_of(models[[group]], newdata[groups == group, , drop = FALSE], ...)
    if (!is.null(dim(own))) stop_with("Can't predict several columns of several groups.", "One group: split(fit)[[1]]")
    predicted[groups == group] <- own
  }
  predicted
}

# What was text or a number in the data is a factor in the model, with the levels that it has there.
predictions_of <- function(model, newdata, ...) {
  frame <- rows_of_model(model)
  for (name in intersect(names(frame)[vapply(frame, is.factor, NA)], names(newdata))) {
    values <- as.character(newdata[[name]])
    newdata[[name]] <- factor(values, levels = union(levels(frame[[name]]), values))
  }
  if (inherits(model, "clm")) newdata <- newdata[setdiff(names(newdata), all.vars(stats::formula(model)[[2]]))]
  predicted <- stats::predict(model, newdata = newdata, ...)
  if (inherits(model, "clm") && is.list(predicted)) predicted <- predicted$fit
  means_alone(predicted)
}

#' @rdname slant_fit
#' @method augment slant_fit
#' @rawNamespace S3method(generics::augment,slant_fit)
augment.slant_fit <- function(x, newdata = NULL, ...) { # nolint: object_name_linter.
  if (!is.null(newdata)) {
    predicted <- predict.slant_fit(x, newdata, ...)
    if (is.matrix(predicted)) predicted <- colnames(predicted)[max.col(predicted, "first")] # of ratings, by point
    return(cbind(newdata, .fitted = unname(predicted)))
  }
  by <- group_columns(x)
  models <- models_of(x, "add fitted values to rows")
  keys <- stats::setNames(as_plain_rows(x$fits[by]), by)
  as_plain_rows(do.call(rbind, lapply(names(models), function(group) {
    model <- models[[group]]
    frame <- as.list(rows_of_model(model))
    rows <- do.call(frame_of, frame[!startsWith(names(frame), ".")])
    at <- match(group, names(split(x)))
    rows[setdiff(by, names(rows))] <- keys[at, setdiff(by, names(rows)), drop = FALSE]
    rows$.fitted <- unname(fitted_of(model))
    rows$.resid <- unname(residuals_of(model))
    if (inherits(model, "lm")) {
      rows[c(".hat", ".cooksd", ".std.resid")] <- lapply(
        list(stats::hatvalues(model), stats::cooks.distance(model), stats::rstandard(model)), unname
      )
    }
    rows
  })))
}

#' @rdname slant_fit
#' @method as.data.frame slant_fit
#' @export
as.data.frame.slant_fit <- function(x, ...) x$estimates # nolint: object_name_linter.

# emmeans asks a model for its data and for its coefficients with their covariance: one model's, with the errors of the
# table, and never more degrees of freedom than these have. lme4's are emmeans' own, by the method of the fit.
#' @rawNamespace S3method(emmeans::recover_data,slant_fit)
recover_data.slant_fit <- function(object, ...) { # nolint: object_name_linter.
  emmeans::recover_data(model_alone(object), ...)
}

#' @rawNamespace S3method(emmeans::emm_basis,slant_fit)
emm_basis.slant_fit <- function(object, trms, xlev, grid, ...) { # nolint: object_name_linter.
  model <- model_alone(object)
  if (inherits(model, "merMod") || inherits(model, "brmsfit")) {
    method <- if (any(grepl("Satterthwaite", object$fits$optimiser))) "satterthwaite" else "kenward-roger"
    return(emmeans::emm_basis(model, trms, xlev, grid, lmer.df = method, ...))
  }
  covariance <- vcov.slant_fit(object)
  names <- names(stats::coef(model))
  at <- match(term_name(names), object$estimates$term)
  covariance <- structure(covariance[at, at], dimnames = list(names, names))
  basis <- emmeans::emm_basis(model, trms, xlev, grid, vcov. = covariance, ...)
  df <- object$estimates$df[at]
  if (any(is.finite(df))) {
    basis$dfargs <- list(df = df)
    basis$dffun <- function(k, dfargs) {
      used <- if (length(k) == length(dfargs$df)) abs(k) > 1e-12 else TRUE
      min(dfargs$df[used], na.rm = TRUE)
    }
  }
  basis
}

model_alone <- function(x) {
  models <- models_of(x, "estimate marginal means")
  if (length(models) > 1) {
    stop_with(
      sprintf("Can't estimate marginal means of %d groups at once.", length(models)),
      sprintf("Of one: emmeans::emmeans(split(fit)[[\"%s\"]], ...)", names(models)[[1]])
    )
  }
  models[[1]]
}

# The models of the groups that were fitted.
models_of <- function(x, to) {
  models <- Filter(Negate(is.null), x$models)
  if (length(models) == 0) stop_without_model(to)
  models
}

stop_without_model <- function(to) {
  stop_with(
    sprintf("Can't %s: this fit keeps no model.", to),
    "Those that do: fit_lm(), fit_logistic(), fit_clm(), fit_lme4(), fit_crossed(), fit_brms().",
    "run_fit() gives tables alone."
  )
}

# Of one model its value, of several a list by group.
by_group <- function(models, value_of) {
  values <- lapply(models, value_of)
  if (length(values) == 1) values[[1]] else values
}

# What broom's glance() says of a model besides what each row of `fits` says.
glance_of_model <- function(model) {
  value <- function(what) tryCatch(suppressWarnings(as.double(what(model))), error = function(problem) NA_real_)
  is_lm <- identical(class(model), "lm")
  share <- if (is_lm) summary(model)
  known <- list(
    r.squared = share$r.squared, adj.r.squared = share$adj.r.squared,
    sigma = if (is_lm || inherits(model, "lmerMod")) value(stats::sigma) else NA,
    deviance = if (inherits(model, "lm")) value(stats::deviance) else NA, df.residual = value(stats::df.residual)
  )
  lapply(known, function(number) if (length(number) == 1) as.double(number) else NA_real_)
}
