#' Read the fits that a database keeps
#'
#' `analyze --fit NAME` keeps what it found in the database. This reads it without fitting again, with the versions that
#' made it; a warning says where they are not those that are installed here.
#'
#' @inheritParams open_trials
#' @param fit name of a fit, such as `"lme4"` or `"effect_size"`; `NULL` reads all.
#' @return A [slant_fit] of three data frames, as [fit_lme4()] gives them, that begin with `fit`, `source`, `study`,
#'   `study_version`, `variant`, `model`, `test`, `refusals_removed` and `measure`: `estimates`, `fits` and `variances`.
#'   `fits` ends with `versions` (as text), `other_versions` (what is of another version here, in words; `NA` where
#'   nothing is) and `fitted_at`. With Bayesian models among the fits, also `tables` with `model`, `predictions`,
#'   `contrasts`, `checks` and `loo` (see [fit_brms()]), and in every data frame `is_converged` and `verdict`. The
#'   models themselves are in files: [read_fit()].
#' @export
#' @examplesIf requireNamespace("duckdb", quietly = TRUE)
#' path <- tempfile(fileext = ".duckdb")
#' connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
#' cell <- data.frame(
#'   call_id = "a", fit = "effect_size", source = "simulated", study = "rmiat",
#'   study_version = "v1", variant = "base",
#'   model = "simulated-a", test = "flowers_insects", refusals_removed = TRUE, measure = NA_character_
#' )
#' fits <- cbind(cell, status = "ok", versions = '{"R": "3.6.3", "slant": "0.1.0"}',
#'   fitted_at = Sys.time())
#' DBI::dbWriteTable(connection, "fits", fits)
#' estimates <- data.frame(call_id = "a", term_no = 1, term = "cohens_d", estimate = .5,
#'   std_error = .1)
#' DBI::dbWriteTable(connection, "estimates", estimates)
#' DBI::dbWriteTable(connection, "variances", estimates[0, ])
#' DBI::dbDisconnect(connection, shutdown = TRUE)
#'
#' fits <- suppressWarnings(stored_fits(path))
#' fits$estimates
#' fits$fits$other_versions
stored_fits <- function(db, fit = NULL, patience_s = 30) {
  check_arguments()
  tables <- whole_tables(db, c("fits", "estimates", "variances"), patience_s, stored_bayesian_tables())
  fits <- tables$fits
  for (name in if (nrow(fits) > 0) fit) one_of(name, unique(fits$fit), "fit")
  if (!is.null(fit)) fits <- fits[fits$fit %in% fit, , drop = FALSE]
  keys <- c(
    "fit", "source", "study", "study_version", "variant", "model", "test", "refusals_removed", "measure"
  )
  made_with <- unique(fits$versions)
  others <- vapply(made_with, function(text) other_versions(parse_versions(text)), character(1))
  fits$other_versions <- unname(others[match(fits$versions, made_with)])
  counts <- table(fits$other_versions)
  for (versions in names(counts)) {
    made <- counted(counts[[versions]], "fit")
    warning(sprintf("%s made with other versions than those here: %s.", made, versions), call. = FALSE)
  }
  of_shown <- function(table) {
    rows <- of_fits(tables[[table]], fits)
    place <- match(rows$call_id, fits$call_id)
    in_order <- order(place, rows$term_no)
    columns <- setdiff(names(rows), c("call_id", "term_no"))
    structure(cbind(fits[place, keys], rows[columns])[in_order, , drop = FALSE], row.names = seq_len(nrow(rows)))
  }
  last <- c("versions", "other_versions", "fitted_at")
  shown <- c(keys, setdiff(names(fits), c(keys, last, "call_id", "data_hash")), last)
  result <- list(estimates = of_shown("estimates"), fits = fits[shown], variances = of_shown("variances"))
  if (any(fits$call_id %in% tables$brms_models$call_id)) result <- with_bayesian(result, tables, fits, keys)
  structure(result, class = "slant_fit")
}

of_fits <- function(table, fits) table[table$call_id %in% fits$call_id, , drop = FALSE]

# All of them in one look: between two, a writer might have changed one.
whole_tables <- function(path, tables, patience_s, optional = character()) {
  connection <- open_database(path, patience_s)
  on.exit(DBI::dbDisconnect(connection, shutdown = TRUE))
  for (table in tables) check_view(connection, path, table)
  tables <- c(tables, intersect(optional, DBI::dbListTables(connection)))
  stats::setNames(lapply(tables, function(table) DBI::dbReadTable(connection, table)), tables)
}

# The tables of the database, under the names that fit_brms() gives them.
stored_bayesian_tables <- function() {
  names <- c("model", "predictions", "contrasts", "checks", "loo")
  stats::setNames(paste0("brms_", sub("^model$", "models", names)), names)
}

# The tables that only Bayesian models have; and next to every row what the chains behind it are worth.
with_bayesian <- function(result, tables, fits, keys) {
  models <- tables$brms_models
  with_verdicts <- function(rows, call_id) {
    place <- match(call_id, models$call_id)
    rows[c("is_converged", "verdict")] <- models[place, c("is_converged", "verdict")]
    rows
  }
  for (name in c("estimates", "variances")) {
    rows <- of_fits(tables[[name]], fits)
    in_order <- order(match(rows$call_id, fits$call_id), rows$term_no)
    result[[name]] <- with_verdicts(result[[name]], rows$call_id[in_order])
  }
  result$fits <- with_verdicts(result$fits, fits$call_id)
  table_names <- stored_bayesian_tables()
  for (name in names(table_names)) {
    rows <- of_fits(tables[[table_names[[name]]]], fits)
    place <- match(rows$call_id, fits$call_id)
    named <- cbind(fits[place, keys, drop = FALSE], rows[setdiff(names(rows), c("call_id", keys))])
    if ("model" %in% names(rows)) named$model <- ifelse(is.na(rows$model), named$model, rows$model)
    result$tables[[name]] <- with_verdicts(as_plain_rows(named), rows$call_id)
  }
  result
}
