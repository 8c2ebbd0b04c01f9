#' Open a fitted Bayesian model again
#'
#' `analyze --fit brms` keeps the fitted model (a `brmsfit`) and draws in the folder `NAME.duckdb.models` next to the
#' database. This opens them, after looking whether each is the very file that the database recorded: before R 4.4,
#' reading an `.rds` file can run code that is in it.
#'
#' @param db the database, such as `"slant.duckdb"`, or one of the `.rds` files next to it.
#' @param fit name of a fit, such as `"interference"`. Needed where the database keeps several; of fits with one name
#'   (with other settings, say) the last one is opened.
#' @param what `"model"`, or `"draws"` for the draws alone (needs R's package nanoparquet).
#' @inheritParams open_trials
#' @return For `"model"` a `brmsfit`, for all functions of package brms; its attribute `slant` is a list with the `fit`,
#'   its `verdict` and the `versions` that made it (a warning says where they are not those installed here, or that the
#'   chains did not converge). For `"draws"` a data frame with one row per draw: `.chain`, `.iteration`, `.draw`, then
#'   the parameters under brms's names.
#' @export
#' @examplesIf interactive()
#' # After `analyze --fit brms --study interference` in the shell:
#' fit <- read_fit("slant.duckdb", "interference")
#' attr(fit, "slant")$verdict
#' summary(fit)
read_fit <- function(db, fit = NULL, what = c("model", "draws"), patience_s = 30) {
  check_arguments()
  what <- one_of(what, eval(formals(read_fit)$what), "what")
  database <- database_of(db)
  models <- stored_models(database, patience_s)
  if (database != db) {
    models <- models[models$file %in% basename(db), , drop = FALSE]
  }
  row <- chosen_fit(models, fit, db)
  column <- if (what == "model") "file" else "draws_file"
  file <- checked_model_file(row, column, database)
  warn_of_stored_model(row)
  if (what == "draws") {
    need_parquet(database)
    return(read_parquet(file))
  }
  about <- list(fit = row$fit, verdict = row$verdict, versions = parse_versions(row$versions))
  structure(read_kept_rds(file, row$file_md5), slant = about)
}

# An .rds file is opened only where its folder says to which database it belongs.
database_of <- function(path) {
  if (!is.character(path) || length(path) != 1 || !grepl("\\.rds$", path, ignore.case = TRUE)) {
    return(path)
  }
  folder <- dirname(normalizePath(path, mustWork = FALSE))
  if (!grepl("\\.models$", folder)) {
    stop_with(
      sprintf("Can't open %s: it does not lie in the folder NAME.duckdb.models of a database.", quoted(path)),
      "A file that you saved yourself is read by readRDS()."
    )
  }
  sub("\\.models$", "", folder)
}

# The rows of brms_models with those of their fits, in the order in which they were fitted.
stored_models <- function(database, patience_s) {
  connection <- open_database(database, patience_s)
  on.exit(DBI::dbDisconnect(connection, shutdown = TRUE))
  if (!"brms_models" %in% DBI::dbListTables(connection)) {
    return(data.frame(fit = character(), file = character()))
  }
  models <- DBI::dbReadTable(connection, "brms_models")
  fits <- DBI::dbReadTable(connection, "fits")
  fits <- fits[match(models$call_id, fits$call_id), ]
  models[c("study", "source", "fit", "model", "versions", "fitted_at")] <-
    fits[c("study", "source", "fit", "model", "versions", "fitted_at")]
  models[order(models$fitted_at), , drop = FALSE]
}

chosen_fit <- function(models, fit, path) {
  if (!is.null(fit)) {
    models <- models[models$fit %in% fit, , drop = FALSE]
  }
  if (nrow(models) == 0) {
    name <- if (is.null(fit)) "" else paste0(" ", quoted(fit))
    stop_with(
      sprintf("There is no Bayesian model%s next to %s.", name, quoted(path)),
      sprintf("To fit one: analyze --fit brms --db %s", path),
      sprintf(
        "Estimates of all other fits: open_trials(%s, view = \"estimates\"); to fit in R: fit_lme4()", quoted(path)
      )
    )
  }
  for (column in c("fit", "study", "source")) {
    values <- unique(models[[column]])
    if (length(values) > 1) {
      stop_with(
        sprintf("%s keeps several Bayesian models, of %s %s.", quoted(path), column, quoted(values)),
        if (column == "fit") sprintf("Name one: read_fit(%s, fit = %s)", quoted(path), quoted(values[[1]])),
        if (column != "fit") "Give the path of its .rds file instead (column `file` of the view bayes_diagnostics)."
      )
    }
  }
  models[nrow(models), ]
}

checked_model_file <- function(row, column, database) {
  again <- sprintf("To recompute it: analyze --fit %s --db %s --refit", row$fit, database)
  if (is.na(row[[column]])) {
    stop_with(
      sprintf("%s of %s were not kept.", if (column == "file") "The files" else "The draws", quoted(row$fit)),
      if (column == "draws_file" && !is_installed("nanoparquet")) {
        "R writes them only with its package nanoparquet. First: install.packages(\"nanoparquet\")"
      },
      again,
      if (column == "draws_file" && !is.na(row$file)) {
        sprintf(
          "Or take them from the model: posterior::as_draws_df(read_fit(%s, %s))", quoted(database), quoted(row$fit)
        )
      }
    )
  }
  file <- file.path(paste0(normalizePath(database), ".models"), basename(row[[column]]))
  if (!file.exists(file)) {
    stop_with(sprintf("The fitted model is not next to the database: there is no file %s.", quoted(file)), again)
  }
  md5 <- row[[if (column == "file") "file_md5" else "draws_md5"]]
  if (!identical(unname(tools::md5sum(file)), md5)) {
    stop_with(sprintf("%s is not the file that this database recorded.", quoted(file)), again)
  }
  file
}

# Reading an .rds file can run code: what is read is a copy of your own, and it is the copy that is compared with the
# checksum that the database keeps, so that no one can put another file into its place meanwhile.
read_kept_rds <- function(file, md5) {
  copy <- tempfile(fileext = ".rds")
  on.exit(unlink(copy))
  if (!file.copy(file, copy) || !unname(tools::md5sum(copy)) %in% md5) {
    stop_with(sprintf("%s is not the file that this database recorded.", quoted(file)))
  }
  readRDS(copy)
}

need_parquet <- function(database) {
  if (!is_installed("nanoparquet")) {
    stop_with(
      "Can't read the draws: R's package \"nanoparquet\" must be installed, but it is not.",
      "From CRAN: install.packages(\"nanoparquet\")",
      sprintf("Or in Python, which needs nothing more: slant.analysis.read_draws(%s).frame", quoted(database)),
      "Or take them from the model: posterior::as_draws_df(read_fit(...))"
    )
  }
}

warn_of_stored_model <- function(row) {
  others <- other_versions(parse_versions(row$versions))
  if (!is.na(others)) {
    warning(sprintf("This model was made with other versions than those here: %s.", others), call. = FALSE)
  }
  if (!isTRUE(row$is_converged)) {
    warning(row$verdict, call. = FALSE)
  }
}
