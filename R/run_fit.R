#' Fit by the name of an engine
#'
#' The one door for callers that hold a table of fits as data: the Python bridge, and study files.
#'
#' @param engine `"lme4"` ([fit_lme4()]), `"brms"` ([fit_brms()]), `"effect_size"` ([effect_size()]), `"stm"`
#'   ([fit_stm()]), `"welch"` ([welch_test()]), `"step_sensitivity"` ([step_sensitivity()]), `"trimmed_difference"`
#'   ([trimmed_difference()]), `"median_difference"` ([median_difference()]) or `"leave_one_out"`
#'   ([fit_leave_one_out()]).
#' @param data a data frame, or a named list of columns of equal length.
#' @param arguments a named list of further arguments of that function, such as `formula`, `by`, `levels`.
#' @return The list of data frames of that function (`estimates`, `fits`, `variances`, `messages`), and `versions`: one
#'   row per package that took part, with `package` and `version` (R itself among them).
#' @export
#' @examples
#' trials <- data.frame(condition = rep(c("compatible", "incompatible"), each = 3), tokens = c(1, 2, 3, 2, 4, 6))
#' run_fit("effect_size", trials, list(outcome = "tokens"))$estimates
run_fit <- function(engine, data, arguments = list()) {
  known <- engines()
  if (!is.character(engine) || length(engine) != 1 || !engine %in% names(known)) {
    stop_with(
      sprintf("Can't fit: there is no engine %s.", quoted(as.character(engine))),
      nearest_known(as.character(engine)[[1]], names(known)),
      sprintf("Engines there are: %s.", toString(names(known)))
    )
  }
  fit <- known[[engine]]$fit
  arguments <- Filter(Negate(is.null), as.list(arguments))
  unknown <- setdiff(names(arguments), setdiff(names(formals(fit)), "data"))
  if (length(unknown) > 0) {
    stop_with(
      sprintf("Can't fit with %s: it takes no argument %s.", engine, quoted(unknown)),
      sprintf("Arguments there are: %s.", toString(setdiff(names(formals(fit)), "data")))
    )
  }
  result <- do.call(fit, c(list(data = as_columns(data)), arguments), quote = TRUE)
  if (is.null(result$versions)) beside_versions(result, known[[engine]]$packages) else result
}

# The table of engines: a new one is a row here and a file of its own.
engines <- function() {
  list(
    brms = list(fit = fit_brms, packages = c("brms", "rstan", "StanHeaders", "posterior", "loo")),
    lme4 = list(fit = fit_lme4, packages = c("lme4", "lmerTest")),
    effect_size = list(fit = effect_size, packages = character()),
    leave_one_out = list(fit = fit_leave_one_out, packages = c("lme4", "lmerTest")),
    stm = list(fit = fit_stm, packages = c("stm", "tm", "SnowballC")),
    welch = list(fit = welch_test, packages = character()),
    step_sensitivity = list(fit = step_sensitivity, packages = character()),
    trimmed_difference = list(fit = trimmed_difference, packages = character()),
    median_difference = list(fit = median_difference, packages = character())
  )
}

# A list of columns as a data frame, without the copies and the conversions of as.data.frame().
as_columns <- function(data) {
  if (is.data.frame(data) || !is.list(data)) {
    return(data)
  }
  n <- if (length(data) == 0) 0L else length(data[[1]])
  structure(data, class = "data.frame", row.names = seq_len(n))
}
