#' Check an analysis by the name of a check
#'
#' The one door to all checks, from R and from Python; `analyze check` in the shell runs those that fit a study and
#' says what they mean. Most take `by` (names of the columns that define the groups), `outcome`, `contrast` (name of the
#' column with the conditions) and `levels` (the conditions, the reference first).
#'
#' @eval source("tools/described_checks.R", local = new.env())$value
#' @param data a data frame with one row per trial, or the estimates or variances of a fit.
#' @param arguments a named list of further arguments of that check.
#' @return A list of `rows`, the check's data frame (`NULL` where it could not be made; a warning says why), and
#'   `messages`, what R said: a data frame of `kind` (`"warning"`, `"message"`, `"error"`) and `text`.
#' @export
#' @examples
#' trials <- simulate_trials()
#' run_check("check_refusals", trials, list(by = c("model", "test")))$rows
run_check <- function(name, data, arguments = list()) {
  check_arguments()
  check <- checks()[[name]]
  if (is.null(check)) {
    known <- names(checks())
    stop_with(sprintf("There is no check %s.", quoted(name)), sprintf("Checks there are: %s.", toString(known)))
  }
  check_columns(as_columns(data), character(), to = "check")
  arguments <- Filter(Negate(is.null), as.list(arguments))
  check_named_arguments(check, arguments, name)
  result <- with_conditions(function() {
    do.call(check, c(list(as_columns(data)), arguments), quote = TRUE)
  })
  reasons <- result$conditions$text[result$conditions$kind == "error"]
  if (length(reasons) > 0) warning(sprintf("%s has no rows. %s", name, reasons[[1]]), call. = FALSE)
  list(rows = result$value, messages = result$conditions)
}

# Stops where `arguments` are none of a function's, or lack one that it needs besides `data`, its first.
check_named_arguments <- function(called, arguments, name, to = "check") {
  own <- formals(called)[-1]
  unknown <- setdiff(names(arguments), names(own))
  if (length(unknown) > 0) {
    stop_with(
      sprintf("Can't %s with %s: it takes no argument %s.", to, name, quoted(unknown)),
      sprintf("Arguments there are: %s.", toString(names(own)))
    )
  }
  is_needed <- vapply(own, function(default) is.name(default) && !nzchar(as.character(default)), NA)
  lacking <- setdiff(names(own)[is_needed], names(arguments))
  if (length(lacking) > 0) {
    stop_with(
      sprintf("Can't %s with %s: it needs %s.", to, name, toString(sprintf("`%s`", lacking))),
      sprintf("Give it by name: list(%s = ...).", lacking[[1]])
    )
  }
}

# All checks by their names: the functions check_... of rows (`data`) in groups (`by`, by default none).
checks <- function() {
  here <- environment(run_check)
  found <- mget(ls(here, pattern = "^check_"), envir = here, mode = "function", ifnotfound = list(NULL))
  Filter(function(check) {
    given <- formals(check)
    identical(names(given)[1], "data") && "by" %in% names(given) && is.null(given$by)
  }, found)
}
