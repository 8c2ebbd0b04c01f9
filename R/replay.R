#' Check a sealed study, and make everything in it again
#'
#' Runs `analyze replay` (written in Python): checks each file's hash, makes a fresh database from the journals of the
#' archive, and compares every table, fit and figure with the one that was sealed. To read the data of an archive
#' without Python, there is [read_trials()].
#'
#' The program is looked for as [collect_trials()] looks for the collector.
#'
#' @param archive the file that `analyze seal` wrote, such as `"study.zip"`.
#' @param out a new folder for all that is made, including the database `replayed.duckdb`.
#' @param r whether fits and figures are made again, too: this takes Python's bridge to R, and minutes of a large study.
#' @return A data frame, one row per file that was checked or made: `kind` (hash, data, table, fit, draws, figure),
#'   `name`, `status` (agrees, differs, not made), `within` (exactly, or how far numbers may be apart),
#'   `largest_difference`, `n_values` and `note`. A warning also says what differs. An error of class
#'   `slant_error` if the archive can't be replayed at all.
#' @export
#' @examplesIf nzchar(Sys.which("analyze")) && nzchar(Sys.which("collect"))
#' folder <- tempfile()
#' dir.create(folder)
#' db <- file.path(folder, "a.duckdb")
#' system2("collect", c("--study", "rmiat", "--model", "simulated/o3-mini", "--pilot", "20", "--db",
#'   db))
#' system2("analyze", c("seal", "--no-r", "--db", db, "--out", file.path(folder, "study.zip")))
#' checked <- replay(file.path(folder, "study.zip"), out = file.path(folder, "check"), r = FALSE)
#' table(checked$kind, checked$status)
replay <- function(archive, out = "check", r = TRUE) {
  check_arguments()
  if (!is.character(archive) || length(archive) != 1 || !file.exists(archive)) {
    stop_with(sprintf("Can't replay %s: there is no such file.", quoted(as.character(archive))))
  }
  arguments <- c("replay", path.expand(archive), "--out", path.expand(out), if (!isTRUE(r)) "--no-r")
  ended <- run_program(c(slant_program("analyze"), arguments))
  rows <- file.path(out, "replay.csv")
  if (length(ended$error_lines) > 0 || !file.exists(rows)) {
    stop_with(
      sprintf("Can't replay %s: the program ended with exit status %d.", quoted(archive), ended$status),
      trimws(sub("^Error: ", "", ended$error_lines))
    )
  }
  table <- utils::read.csv(rows, encoding = "UTF-8", na.strings = "")
  if (any(table$status == "differs")) {
    warning(sprintf("%d of %d files differ.", sum(table$status == "differs"), nrow(table)), call. = FALSE)
  }
  table
}
