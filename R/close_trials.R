#' Close what open_trials() opened
#'
#' Gives the database file back, so that a collector can write to it. Safe to call twice, and on a data frame.
#'
#' @param trials a lazy table from [open_trials()].
#' @return `TRUE` if a file was closed, else `FALSE`, invisibly.
#' @export
#' @examplesIf requireNamespace("duckdb", quietly = TRUE)
#' path <- tempfile(fileext = ".duckdb")
#' connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
#' DBI::dbWriteTable(connection, "tokens_by_condition", data.frame(condition = "compatible", mean_tokens = 63.9))
#' DBI::dbDisconnect(connection, shutdown = TRUE)
#'
#' tokens <- open_trials(path, "tokens_by_condition")
#' tokens
#' close_trials(tokens)
close_trials <- function(trials) {
  connection <- if (inherits(trials, "tbl_lazy")) trials$src$con
  if (is.null(connection) || !DBI::dbIsValid(connection)) {
    return(invisible(FALSE))
  }
  DBI::dbDisconnect(connection, shutdown = TRUE)
  invisible(TRUE)
}
