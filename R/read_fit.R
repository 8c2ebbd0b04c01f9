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
  if (database != db) models <- models[models$file %in% basename(db), , drop = FALSE]
  row <- chosen_fit(models, fit, db)
  column <- if (what == "model") "file" else "draws_file"
  file <- checked_model_file(row, column, database)
  others <- other_versions(parse_versions(row$versions))
  if (!is.na(others)) {
    warning(sprintf("This model was made with other versions than those here: %s.", others), call. = FALSE)
  }
  if (!isTRUE(row$is_converged)) warning(row$verdict, call. = FALSE)
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
  if (!is.null(fit)) models <- models[models$fit %in% fit, , drop = FALSE]
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

#' Open a fitted topic model again
#'
#' `analyze --fit stm` and `fit_stm(save_to = …)` keep the fitted model in an `.rds` file; `analyze --fit stm` puts it
#' into the folder `NAME.duckdb.models` next to the database.
#'
#' Open only files that you or your own slant made: before R 4.4, reading an `.rds` file can run code that is in it.
#'
#' @param db an `.rds` file, or the database: then the model next to it that was fitted last, which is refused where
#'   it is not the file that the database recorded (needs R's package duckdb).
#' @param what `"all"`, or `"documents"` for the topic proportions alone.
#' @return For `"all"` a list of class `slant_topics`: `model` (of class `STM`, for all functions of package stm),
#'   `documents`, `vocab` and `meta` (what it was fitted to), `tables` (see [fit_stm()]),
#'   `settings` and `versions` (a warning says where they are not those installed here). For `"documents"` a data frame
#'   with one row per document: its id, and a column `topic_1`, `topic_2` … for each topic.
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE) && requireNamespace("tm", quietly = TRUE)
#' set.seed(1)
#' words <- c("biased", "fair", "groups", "names", "think", "pairing", "rules", "tasks",
#'   "stereotype", "simple")
#' trials <- data.frame(
#'   trial_id = as.character(1:60), condition = rep(c("compatible", "incompatible"), 30),
#'   model = rep(c("a", "b"), each = 30), test = rep(c("one", "two"), each = 15),
#'   tokens = rpois(60, 80),
#'   reasoning_text = replicate(60, paste(sample(words, 12, replace = TRUE), collapse = " "))
#' )
#' file <- tempfile(fileext = ".rds")
#' invisible(fit_stm(trials, topics = 2, lower_thresh = 1, max_em_its = 5, save_to = file))
#' class(read_topics(file)$model)
#' head(read_topics(file, "documents"))
read_topics <- function(db, what = c("all", "documents")) {
  check_arguments()
  what <- one_of(what, eval(formals(read_topics)$what), "what")
  topics <- read_topics_file(db)
  if (!inherits(topics, "slant_topics")) {
    stop_with(sprintf("Can't open %s: it holds no topic model of slant.", quoted(db)))
  }
  others <- other_versions(topics$versions)
  if (!is.na(others)) {
    warning(sprintf("This topic model was made with other versions than those here: %s.", others), call. = FALSE)
  }
  if (what == "all") {
    return(topics)
  }
  proportions <- as.data.frame(topics$model$theta)
  names(proportions) <- paste0("topic_", seq_along(proportions))
  cbind(topics$meta[topics$settings$id], proportions)
}

# A file of a person's own is read as it is; one that lies where a database keeps its models must be the very file that
# the database recorded.
read_topics_file <- function(path) {
  if (!grepl("\\.rds$", path, ignore.case = TRUE)) {
    # What a search for a number of topics prepares lies there, too, under longer names.
    files <- list.files(paste0(path, ".models"), pattern = "^[0-9a-f]+\\.rds$", full.names = TRUE)
    if (length(files) == 0) {
      stop_with(
        sprintf("There is no fitted topic model next to %s.", quoted(path)),
        sprintf("To fit one: analyze --fit stm --db %s", path)
      )
    }
    return(checked_topics(files[[which.max(file.mtime(files))]], path))
  }
  if (!file.exists(path)) stop_with(sprintf("There is no file %s.", quoted(path)))
  database <- sub("\\.models$", "", dirname(normalizePath(path)))
  is_kept <- database != dirname(normalizePath(path)) && file.exists(database)
  if (is_kept && is_installed("duckdb") && is_installed("DBI")) checked_topics(path, database) else readRDS(path)
}

# What the file holds, where the database keeps its checksum: reading an .rds file can run code.
checked_topics <- function(file, path) {
  if (!is_installed("duckdb") || !is_installed("DBI")) {
    stop_with(
      "Can't open the model: without R's package \"duckdb\" it can't be checked that it is the one that was kept.",
      "From CRAN: install.packages(c(\"DBI\", \"duckdb\"))",
      sprintf("Or in Python, which checks it: slant.analysis.read_topics(%s).path", quoted(path)),
      sprintf("Or, if you made it yourself, name the file: read_topics(%s)", quoted(file))
    )
  }
  connection <- open_database(path, patience_s = 30)
  on.exit(DBI::dbDisconnect(connection, shutdown = TRUE))
  stored <- if ("stm_models" %in% DBI::dbListTables(connection)) DBI::dbReadTable(connection, "stm_models")
  md5 <- stored$file_md5[stored$file %in% basename(file)]
  if (!unname(tools::md5sum(file)) %in% md5) {
    stop_with(
      sprintf("%s is not the model that this database recorded.", quoted(file)),
      "To recompute it: analyze --fit stm --refit"
    )
  }
  read_kept_rds(file, md5)
}

# One row about the file that was written: its name, checksum and size; NA where none was asked for or it can't be.
# Written next to its place and moved there whole, so that nobody ever reads half a model.
save_topics <- function(model, prepared, tables, settings) {
  path <- settings$save_to
  if (is.null(path)) {
    return(no_file())
  }
  named <- c("topics", "removed_words", "lower_thresh", "max_em_its", "seed", "preprocessing", "id", "contrast")
  named_settings <- settings[named]
  named_settings$formulas <- lapply(settings$formulas, deparse1)
  about <- list(tables = tables, settings = named_settings, versions = versions_of(c("stm", "tm", "SnowballC")))
  object <- structure(
    c(list(model = model), prepared[c("documents", "vocab", "meta")], about),
    class = "slant_topics"
  )
  if (!is.null(write_whole(path, function(part) saveRDS(object, part)))) {
    # The numbers are still worth seeing.
    message("The fitted model could not be stored in ", path, ".")
    return(no_file())
  }
  file_row(path)
}
