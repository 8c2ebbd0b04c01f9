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
#' words <- c("biased", "fair", "groups", "names", "think", "pairing", "rules", "tasks", "stereotype", "simple")
#' trials <- data.frame(
#'   trial_id = as.character(1:60), condition = rep(c("compatible", "incompatible"), 30),
#'   model = rep(c("a", "b"), each = 30), test = rep(c("one", "two"), each = 15), tokens = rpois(60, 80),
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
    file <- newest_topics(path)
    return(checked_topics(file, path))
  }
  if (!file.exists(path)) stop_with(sprintf("There is no file %s.", quoted(path)))
  database <- sub("\\.models$", "", dirname(normalizePath(path)))
  is_kept <- database != dirname(normalizePath(path)) && file.exists(database)
  if (is_kept && is_installed("duckdb") && is_installed("DBI")) checked_topics(path, database) else readRDS(path)
}

newest_topics <- function(path) {
  # What a search for a number of topics prepares lies there, too, under longer names.
  files <- list.files(paste0(path, ".models"), pattern = "^[0-9a-f]+\\.rds$", full.names = TRUE)
  if (length(files) == 0) {
    stop_with(
      sprintf("There is no fitted topic model next to %s.", quoted(path)),
      sprintf("To fit one: analyze --fit stm --db %s", path)
    )
  }
  files[[which.max(file.mtime(files))]]
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
