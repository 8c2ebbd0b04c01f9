#' One specification of an analysis, and the one number that it is about
#'
#' Sensitivity analyses ask whether a result rests on how it was analysed: each *specification* fits the same question
#' in another way. This fits one of them and reads from the fit the difference between the two levels of a contrast,
#' with its interval, what it is called, and its unit. Stack the rows of several specifications, name each in a column
#' `spec`, and `plot_specifications()` draws their curve.
#'
#' What is compared depends on the engine, and not every number can stand next to every other:
#' \describe{
#'   \item{`"lme4"`}{the coefficient of the contrast, in units of the outcome. Of a logarithm (`log()` or `log1p()`),
#'     the ratio of geometric means: `exp()` of the coefficient and of its limits.}
#'   \item{`"crossed"`}{the same coefficient, over words and wordings.}
#'   \item{`"brms"` of counts, `"censored"`}{the ratio of medians, whatever the family; `d` is its logarithm, in
#'     standard deviations of the logarithm of counts (at the middle of their steps, so that a 0 has one).}
#'   \item{`"lme4"` with `family = "binomial"`, `"brms"` of choices}{ΔP of a median item (see `glmer_effects()`
#'     and `condition_effects()`), first level minus second, a row for each combination of the other factors.}
#'   \item{`"trimmed_difference"`, `"median_difference"`}{the difference, in units of the outcome.}
#' }
#' So that differences and ratios can stand on one axis, `d` is the estimate in standard deviations: the difference (for
#' a logarithm, of logarithms) and its limits over the standard deviation within the two levels, pooled as for Cohen's
#' d, of the outcome as it is analysed. All estimators of one outcome have the same one, and its own uncertainty is left
#' out. Where ΔP is estimated, `d` is `NA`: probabilities need no other unit.
#'
#' @param data a data frame with one row per trial.
#' @param engine the name of an engine, and `arguments` a named list of its arguments: see [run_fit()].
#' @param contrast name of the factor with two levels that the specification is about.
#' @param by names of the columns that define the groups; `NULL` fits all rows together. Not for `"brms"`.
#' @param drop_flags names of columns: rows in which one is `TRUE` are left out.
#' @param drop_outcomes rows with one of these values in the column `outcome` (`"truncated"`, say) are left out.
#' @param missing_as a named list: by column, the value that is taken for a missing one, as in
#'   `list(is_consistent = FALSE)`, which counts invalid answers as inconsistent.
#' @param arguments see `engine`.
#' @return A list of data frames. `estimates` begins with the columns `by` (and those of the other factors, for ΔP):
#'   `estimand`, `unit`, `estimate`, `std_error`, `conf_low`, `conf_high` (95 %; credible for brms), `p_value` (`NA` for
#'   brms, which has `p_positive` instead: the share of draws above 0), `d`, `d_low`, `d_high`, `n` rows used,
#'   `n_left_out` (by flags and outcomes, of all rows), `n_missing`, `status`, `messages`, `error`. A fit that fails is
#'   a row without an estimate. Then `messages` and `versions` of the fit, as of [fit_lme4()].
#' @source Simonsohn, Simmons & Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
#' @noRd
fit_specification <- function(data, engine, arguments = list(), contrast = "condition", by = NULL,
                              drop_flags = character(), drop_outcomes = character(), missing_as = list()) {
  data <- as_columns(data)
  check_columns(data, c(contrast, by, drop_flags, names(missing_as)), to = "fit a specification")
  is_dropped <- rep(FALSE, nrow(data))
  for (flag in unlist(drop_flags)) is_dropped <- is_dropped | data[[flag]] %in% TRUE
  if (length(drop_outcomes) > 0) {
    check_columns(data, "outcome", to = "leave out trials by their outcome")
    is_dropped <- is_dropped | data$outcome %in% unlist(drop_outcomes)
  }
  rows <- data[!is_dropped, , drop = FALSE]
  for (name in names(missing_as)) rows[[name]][is.na(rows[[name]])] <- missing_as[[name]]
  used <- c(as.list(arguments), if (length(by) > 0) list(by = by))
  fit <- run_fit(engine, rows, used)
  estimates <- if (engine %in% c("brms", "censored") && is.null(fit$tables$contrasts)) {
    of_ratios(fit, rows, arguments, contrast, by)
  } else if (is.null(fit$tables$contrasts)) {
    of_coefficients(fit, rows, engine, arguments, contrast, by)
  } else {
    of_contrasts(fit, rows)
  }
  # Groups that failed have a row of their own.
  key <- function(table) if (length(by) == 0) rep("all", nrow(table)) else do.call(paste, c(table[by], sep = "\r"))
  place <- match(key(estimates), key(fit$fits))
  joined <- cbind(estimates, fit$fits[place, setdiff(fit_columns(), "n_left_out")])
  lacking <- fit$fits[!key(fit$fits) %in% key(estimates), , drop = FALSE]
  if (nrow(lacking) > 0) {
    empty <- joined[rep(NA_integer_, nrow(lacking)), , drop = FALSE]
    shared <- c(by, setdiff(fit_columns(), "n_left_out"))
    empty[shared] <- lacking[shared]
    joined <- rbind(joined, empty)
    joined <- joined[order(match(key(joined), key(fit$fits))), , drop = FALSE]
  }
  estimates <- as_plain_rows(joined)
  estimates$n_left_out <- rep(nrow(data) - nrow(rows), nrow(estimates))
  has_none <- is.na(estimates$estimate) & estimates$error %in% ""
  estimates$error[has_none] <- sprintf("There are no two levels of \"%s\" to compare.", contrast)
  estimates$status[has_none] <- "failed"
  shown <- c(setdiff(names(estimates), fit_columns()), fit_columns())
  list(estimates = with_study_labels(estimates[shown], data), messages = fit$messages, versions = fit$versions)
}

fit_columns <- function() c("n", "n_left_out", "n_missing", "status", "messages", "error")

# ΔP of each combination of the other factors, which are columns of the data.
of_contrasts <- function(fit, data) {
  rows <- fit$tables$contrasts
  rows <- rows[rows$kind == "population" & rows$scale == "delta_p", , drop = FALSE]
  numbers_of_rows <- c(
    "kind", "scale", "estimate", "median", "std_error", "conf_low", "conf_high", "p_value", "p_positive"
  )
  cells <- setdiff(names(rows)[words_for(names(rows), names(data)) %in% names(data)], numbers_of_rows)
  column <- function(name) if (name %in% names(rows)) rows[[name]] else NA_real_
  numbers <- frame_of(
    estimand = "delta P, median item", unit = "probability", estimate = rows$estimate, std_error = column("std_error"),
    conf_low = rows$conf_low, conf_high = rows$conf_high, p_value = column("p_value"),
    p_positive = column("p_positive"), d = NA_real_, d_low = NA_real_, d_high = NA_real_
  )
  as_plain_rows(cbind(rows[cells], numbers))
}

# The ratio of medians of counts in two conditions; none of a fit that failed.
of_ratios <- function(fit, data, arguments, contrast, by) {
  rows <- fit$tables$effects
  n <- if (is.null(rows)) 0L else nrow(rows)
  levels <- two_levels(arguments$levels, contrast, to = "read a ratio")
  outcome <- arguments$outcome
  if (is.null(outcome)) outcome <- all.vars(checked_formula(arguments$formula, names(data))[[2]])
  sd <- vapply(seq_len(n), function(i) {
    group <- rows_of_group(data, rows[i, by, drop = FALSE])
    pooled_sd(log(group[[outcome]] + rows$step[[i]] / 2), as.character(group[[contrast]]), levels)
  }, 1)
  column <- function(name) if (name %in% names(rows)) rows[[name]] else rep(NA_real_, n)
  numbers <- frame_of(
    estimand = rep("ratio of medians", n), unit = rep("ratio", n), estimate = column("ratio"),
    std_error = rep(NA_real_, n), conf_low = column("ratio_low"), conf_high = column("ratio_high"),
    p_value = column("p_value"), p_positive = column("p_above"), d = log(column("ratio")) / sd,
    d_low = log(column("ratio_low")) / sd, d_high = log(column("ratio_high")) / sd
  )
  as_plain_rows(if (n > 0) cbind(rows[by], numbers) else numbers)
}

# The coefficient of the contrast, or the only row of an engine that compares two sides.
of_coefficients <- function(fit, data, engine, arguments, contrast, by) {
  measure <- measure_of(engine, arguments, names(data))
  levels <- two_levels(arguments$levels, contrast, to = "read a difference")
  term <- paste0(contrast, levels[[2]])
  rows <- fit$estimates
  if (engine %in% c("lme4", "crossed")) rows <- rows[rows$term == term, , drop = FALSE]
  sd <- vapply(seq_len(nrow(rows)), function(i) {
    group <- rows_of_group(data, rows[i, by, drop = FALSE])
    pooled_sd(measure$values(group), as.character(group[[contrast]]), levels)
  }, 1)
  shown <- measure$shown
  numbers <- frame_of(
    estimand = measure$estimand, unit = measure$unit, estimate = shown(rows$estimate),
    std_error = measure$std_error(rows$estimate, rows$std_error), conf_low = shown(rows$conf_low),
    conf_high = shown(rows$conf_high), p_value = rows$p_value, p_positive = NA_real_,
    d = rows$estimate / sd, d_low = rows$conf_low / sd, d_high = rows$conf_high / sd
  )
  as_plain_rows(cbind(rows[by], numbers))
}

# What the number is: its name, its unit, how it is shown, and the values that are analysed.
measure_of <- function(engine, arguments, columns) {
  plain <- list(shown = identity, std_error = function(estimate, std_error) std_error)
  if (!engine %in% c("lme4", "crossed")) {
    outcome <- if (is.null(arguments$outcome)) "tokens" else arguments$outcome
    named <- c(trimmed_difference = "difference of trimmed means", median_difference = "difference of medians")
    estimand <- if (engine %in% names(named)) named[[engine]] else engine
    return(c(plain, list(estimand = estimand, unit = outcome, values = function(rows) rows[[outcome]])))
  }
  formula <- checked_formula(arguments$formula, columns)
  outcome <- formula[[2]]
  values <- function(rows) eval(outcome, rows, environment(formula))
  called <- if (is.call(outcome)) as.character(outcome[[1]]) else ""
  if (called %in% c("log", "log1p")) {
    measured <- paste0(deparse1(outcome[[2]]), if (called == "log1p") " + 1")
    return(list(
      shown = exp, std_error = function(estimate, std_error) exp(estimate) * std_error, values = values,
      estimand = sprintf("ratio of geometric means of %s", measured), unit = "ratio"
    ))
  }
  c(plain, list(estimand = "difference of means", unit = deparse1(outcome), values = values))
}

rows_of_group <- function(data, key) {
  for (name in names(key)) data <- data[data[[name]] %in% key[[name]], , drop = FALSE]
  data
}

pooled_sd <- function(values, labels, levels) {
  parts <- lapply(levels, function(level) values[labels %in% level & !is.na(values)])
  squares <- vapply(parts, function(part) sum((part - mean(part))^2), 1)
  sqrt(sum(squares) / (sum(lengths(parts)) - 2))
}
