#' Close what open_trials() opened
#'
#' Gives the database file back, so that a collector can write to it. Safe to call twice, and on a data frame.
#'
#' @param trials a lazy table from [open_trials()].
#' @return `TRUE` if a file was closed, else `FALSE`, invisibly.
#' @export
#' @examplesIf requireNamespace("duckdb", quietly = TRUE)
#' path <- tempfile(fileext = ".duckdb")
#' simulated <- simulate_trials(n_wordings = 2, db = path)
#'
#' trials <- open_trials(path)
#' close_trials(trials)
close_trials <- function(trials) {
  connection <- if (inherits(trials, "tbl_lazy")) trials$src$con
  if (is.null(connection) || !DBI::dbIsValid(connection)) {
    return(invisible(FALSE))
  }
  DBI::dbDisconnect(connection, shutdown = TRUE)
  invisible(TRUE)
}
