#' Open the trials of a slant database
#'
#' Opens a DuckDB file read-only and gives one of its views as a lazy dplyr table. While a collector writes, this
#' waits; while the table is open, a collector's answers stay in its journal, so close it soon: [close_trials()]. One
#' file may be open as several tables at once. Rows come in the order in which slant shows them (the view `view_orders`
#' has the query). The last digits of a fit depend on the order of its rows: Python sorts by model_no, test_no,
#' condition_no, wording, item, repetition and trial_id within a source and version (`forced_choice_trials`, whose
#' items name their test: by model_no, wording, item, repetition and trial_id).
#'
#' Where dplyr and dbplyr are not installed, the whole view comes as a data frame and the file is closed at once.
#' Without R's duckdb package, read an export instead: [read_trials()].
#'
#' @param db the database, such as `"slant.duckdb"`, or the folder of a lake (`collect export --layout lake FOLDER`).
#' @param view name of a view or table in it. `NULL`: one row per trial, in the columns of the design of `study`, or of
#'   the studies that are there (`association_trials`, `forced_choice_trials`, `allocation_rounds`; what games ask
#'   next to their rounds is in `allocation_questions`, and a message says so); those that all designs share (`trials`)
#'   where there are several. An empty one says why, as a warning.
#' @param study name of a study, to get its rows only.
#' @param patience_s how long to wait for another process that writes, in seconds.
#' @param version a version of a study, or how it begins, to get its rows only; `NULL` gives those of all versions,
#'   which the column `study_version` tells apart.
#' @param other_models whether answers of another model than was asked for, which are marked (`is_left_out`) and in no
#'   table, are rows of a model of their own, such as `"gemini-2.5-pro as gemini-3.8-flash"`.
#' @return A lazy table (`dplyr::tbl`) over the view, or a data frame. Use `dplyr::collect()` to get its rows.
#' @export
#' @examplesIf requireNamespace("duckdb", quietly = TRUE)
#' path <- tempfile(fileext = ".duckdb")
#' simulated <- simulate_trials(n_wordings = 2, db = path)
#'
#' trials <- open_trials(path)
#' head(as.data.frame(trials)[c("model", "test", "condition", "tokens")])
#' close_trials(trials)
open_trials <- function(db, study = NULL, view = NULL, version = NULL, patience_s = 30, other_models = FALSE) {
  check_arguments()
  connection <- open_database(db, patience_s)
  is_open <- FALSE
  on.exit(if (!is_open) DBI::dbDisconnect(connection, shutdown = TRUE))
  if (!is.null(version)) show_version(connection, db, version)
  if (other_models) DBI::dbExecute(connection, "SET VARIABLE other_models = 'shown'")
  view <- if (is.null(view)) trials_view(connection, study) else view
  check_view(connection, db, view)
  designs <- designs_in(connection)
  in_words <- toString(sprintf("%s (%s)", names(designs), designs))
  is_known <- "trials" %in% DBI::dbListTables(connection)
  is_of_others <- grepl("_(trials|rounds)$", view) && !any(startsWith(view, paste0(designs, "_")))
  sentence <- if (is_known && length(designs) == 0) {
    sprintf("%s holds no trials yet.", quoted(db))
  } else if (is_known && !is.null(study) && !study %in% names(designs)) {
    sprintf("%s holds no trials of %s. It holds: %s.", quoted(db), quoted(study), in_words)
  } else if (is_known && is_of_others) {
    sprintf("The view %s has no rows: %s holds %s.", quoted(view), quoted(db), in_words)
  }
  if (!is.null(sentence)) warning(sentence, call. = FALSE)
  is_one <- !is.null(study) && "study" %in% DBI::dbListFields(connection, view)
  query <- if ("view_orders" %in% DBI::dbListTables(connection)) {
    DBI::dbGetQuery(connection, "SELECT query FROM view_orders WHERE view = ?", params = list(view))$query
  }
  is_of_view <- length(query) == 1 && startsWith(query, sprintf("SELECT shown.* FROM %s AS shown ", view)) &&
    !grepl(";", query, fixed = TRUE) # a file may come from a stranger
  all_of_it <- paste("SELECT * FROM", DBI::dbQuoteIdentifier(connection, view))
  rows <- in_plain_columns(connection, if (is_of_view) query else all_of_it)
  if (!is_installed("dbplyr") || !is_installed("dplyr")) {
    trials <- explain_extension(DBI::dbGetQuery(connection, rows))
    return(if (is_one) trials[trials$study %in% study, , drop = FALSE] else trials)
  }
  trials <- explain_extension(without_dbplyr_note(dplyr::tbl(connection, dplyr::sql(rows))))
  is_open <- TRUE
  if (is_one) without_dbplyr_note(dplyr::filter(trials, study == !!study)) else trials
}

# The designs of the studies that there are trials of, named by study; none in a file that is not a collector's.
designs_in <- function(connection) {
  if (!all(c("studies", "attempts") %in% DBI::dbListTables(connection))) {
    return(character())
  }
  rows <- DBI::dbGetQuery(connection, paste(
    "SELECT DISTINCT study, design FROM studies",
    "WHERE study IN (SELECT DISTINCT study FROM attempts WHERE is_final) ORDER BY study"
  ))
  stats::setNames(rows$design, rows$study)
}

# A file that R itself wrote (simulate_trials()) has the view, and no more.
trials_view <- function(connection, study = NULL) {
  known <- DBI::dbListTables(connection)
  present <- designs_in(connection)
  designs <- unique(unname(if (isTRUE(study %in% names(present))) present[study] else present))
  if (length(designs) == 1) {
    views <- intersect(paste0(designs, c("_trials", "_rounds")), known)
    if (length(views) > 0 && (!endsWith(views[[1]], "_rounds") || has_rounds(connection, study))) {
      return(views[[1]])
    }
  }
  simulated <- setdiff(grep("_trials$", known, value = TRUE), "simulated_trials")
  if (!"trials" %in% known && length(simulated) == 1) simulated else "trials"
}

# Whether a game (of `study`, or any) has rounds; a message where it was asked more than these.
has_rounds <- function(connection, study) {
  kinds <- DBI::dbGetQuery(connection, paste(
    "SELECT DISTINCT study, coalesce(test = 'rounds' AND game IS NOT NULL, false) AS is_round FROM trials"
  ))
  is_round <- kinds$is_round[is.null(study) | kinds$study %in% study]
  if (any(is_round) && !all(is_round)) {
    message(
      "These are the rounds of games. Further questions are in: open_trials(db, view = \"allocation_questions\")."
    )
  }
  any(is_round)
}

# All views of this connection show one version of a study.
show_version <- function(connection, path, version) {
  has_versions <- "study_contents" %in% DBI::dbListTables(connection)
  known <- if (has_versions) {
    versions <- "SELECT study_version FROM study_contents UNION SELECT study_version FROM runs ORDER BY ALL"
    DBI::dbGetQuery(connection, versions)$study_version
  }
  matching <- known[startsWith(known, as.character(version)[[1]])]
  if (length(matching) == 0) {
    stop_with(
      sprintf("Can't open version %s in %s: there is none.", quoted(as.character(version)[[1]]), quoted(path)),
      sprintf("Versions there are: %s.", if (length(known) > 0) toString(known) else "none")
    )
  }
  listed <- paste(DBI::dbQuoteString(connection, matching), collapse = ", ")
  DBI::dbExecute(connection, sprintf("SET VARIABLE study_versions = [%s]", listed))
}

# The query with a column for each attribute of its map `attributes` (numbers where all of its values are), and with
# other lists as text: a list column stops write.csv().
in_plain_columns <- function(connection, query) {
  columns <- DBI::dbGetQuery(connection, paste("DESCRIBE", query))
  nested <- columns$column_name[grepl("^(MAP|STRUCT|UNION)\\(|\\[[0-9]*\\]$", columns$column_type)]
  if (length(nested) == 0) {
    return(query)
  }
  spread <- intersect("attributes", nested)
  keys <- if (length(spread) == 1) DBI::dbGetQuery(connection, paste(
    "SELECT entry.key AS key, coalesce(bool_and(coalesce(isfinite(TRY_CAST(entry.value AS DOUBLE)), false)) FILTER",
    "(entry.value IS NOT NULL), false) AS is_number FROM (SELECT unnest(map_entries(attributes)) AS entry FROM (",
    query, ")) GROUP BY ALL ORDER BY key"
  ))
  keys <- if (is.null(keys)) data.frame(key = character(), is_number = NA[0]) else keys
  keys <- keys[!keys$key %in% columns$column_name, ]
  named <- function(names) as.character(DBI::dbQuoteIdentifier(connection, names))
  value <- sprintf("map_extract(attributes, %s)[1]", as.character(DBI::dbQuoteString(connection, keys$key)))
  value <- ifelse(keys$is_number, sprintf("CAST(%s AS DOUBLE)", value), value)
  kept <- setdiff(columns$column_name, spread)
  kept <- ifelse(kept %in% nested, sprintf("CAST(%s AS VARCHAR) AS %s", named(kept), named(kept)), named(kept))
  sprintf("SELECT %s FROM (%s)", toString(c(kept, sprintf("%s AS %s", value, named(keys$key)))), query)
}

open_database <- function(path, patience_s) {
  need_duckdb()
  if (is.character(path) && length(path) == 1 && grepl("^[a-z][a-z0-9+.-]+://", path)) {
    stop_with(
      sprintf("%s is not on this machine, and open_trials() reads files of this machine only.", quoted(path)),
      "A lake can be copied here with the tools of that storage: it is a folder of files.",
      sprintf(
        "Where DuckDB's extension httpfs is installed, DBI reads it there: SET VARIABLE lake = '%s', then lake.sql.",
        path
      )
    )
  }
  if (!is.character(path) || length(path) != 1 || !file.exists(path)) {
    stop_with(
      sprintf("Can't open %s: there is no such file.", quoted(as.character(path))),
      sprintf("Looked from the folder %s.", getwd())
    )
  }
  check_catalog_size(path)
  connection <- connect_patiently(path, patience_s)
  macros <- DBI::dbGetQuery(connection, paste(
    "SELECT DISTINCT function_name FROM system.main.duckdb_functions()",
    "WHERE NOT internal AND database_name NOT IN ('system', 'temp') ORDER BY function_name"
  ))$function_name
  if (length(macros) > 0) {
    DBI::dbDisconnect(connection, shutdown = TRUE)
    stop_with(
      sprintf("Can't open %s: it holds the macro %s, and slant makes none.", quoted(path), macros[[1]]),
      "It could change what every table says: a macro of the file replaces DuckDB's function of that name.",
      "Where the macro is your own, drop it: DROP MACRO in the duckdb shell."
    )
  }
  connection
}

need_duckdb <- function() {
  for (package in c("DBI", "duckdb")) {
    if (!is_installed(package)) {
      stop_with(
        "Can't open a database: R's packages \"duckdb\" and \"DBI\" must be installed.",
        "From CRAN: install.packages(c(\"DBI\", \"duckdb\"))",
        "Or without them: `collect export --format csv` in the shell, then read_trials() on that file in R."
      )
    }
  }
}

# One writer or many readers may hold the file, so a reader comes back a little later.
connect_patiently <- function(path, patience_s) {
  give_up_at <- Sys.time() + patience_s
  repeat {
    connection <- tryCatch(connect_read_only(path), error = identity)
    if (!inherits(connection, "error")) {
      return(connection)
    }
    problem <- conditionMessage(connection)
    if (!is_held(problem) || Sys.time() >= give_up_at) stop_unopened(problem, path, patience_s)
    Sys.sleep(stats::runif(1, .05, .25))
  }
}

# A file may come from a stranger: what its views say can read and write no other file and load nothing, and no SQL can
# change that.
connect_read_only <- function(path) {
  if (dir.exists(path)) {
    return(connect_lake(normalizePath(path)))
  }
  confined <- list(enable_external_access = "false", lock_configuration = "true")
  if (!grepl("?", path, fixed = TRUE)) {
    return(connect_duckdb(path, read_only = TRUE, confined))
  }
  # DuckDB cuts a path at a question mark, and looks for this file's log where it then may not.
  connection <- connect_duckdb(path, read_only = TRUE)
  is_confined <- DBI::dbGetQuery(connection, "SELECT current_setting('lock_configuration')")[[1]]
  for (name in if (is_confined) character() else names(confined)) {
    DBI::dbExecute(connection, sprintf("SET %s = %s", name, confined[[name]]))
  }
  connection
}

connect_duckdb <- function(path, read_only, config = list()) {
  config <- c(list(autoinstall_known_extensions = "false", autoload_known_extensions = "false"), config)
  # Settings as arguments of duckdb() since 2.0; before, no note about extensions was given that they would silence.
  arguments <- list(dbdir = path, read_only = read_only, config = config)
  if ("shared_home" %in% names(formals(duckdb::duckdb))) arguments$shared_home <- FALSE
  open <- function() {
    driver <- do.call(duckdb::duckdb, arguments) # apart: an error in an argument comes with R's own words about it
    DBI::dbConnect(driver)
  }
  tryCatch(open(), error = function(problem) {
    if (!is_open_here(conditionMessage(problem))) stop(problem)
    # A file is opened once in a session, for all tables of it. duckdb compares the settings with those it was opened
    # with, but takes `shared_home` for a difference whatever it is.
    arguments$shared_home <<- NULL
    tryCatch(open(), error = function(problem) {
      release_refused(path)
      stop(problem)
    })
  })
}

# duckdb 2.0 keeps a file open when it refuses to open it again, until the next connection to it is closed. That takes
# the mode of the connection that is there, and a refusal as the last call would hold the file again.
release_refused <- function(path) {
  for (read_only in c(TRUE, FALSE)) {
    driver <- tryCatch(duckdb::duckdb(path, read_only = read_only), error = function(problem) NULL)
    if (!is.null(driver)) {
      return(DBI::dbDisconnect(DBI::dbConnect(driver)))
    }
  }
}

is_open_here <- function(problem) grepl("which already exists", problem, fixed = TRUE)

# A folder of Parquet files (`collect export --layout lake`): its script makes all views over them. It may come from
# anywhere, so it can read its own folder and nothing else.
connect_lake <- function(folder) {
  script <- file.path(folder, "lake.sql")
  if (!file.exists(script)) {
    stop_with(
      sprintf("Can't open %s: it is a folder, but no lake.", quoted(folder)),
      "To make one: collect export --layout lake FOLDER"
    )
  }
  connection <- connect_duckdb(":memory:", read_only = FALSE)
  place <- DBI::dbQuoteString(connection, folder)
  DBI::dbExecute(connection, sprintf("SET allowed_directories = [%s]", place))
  DBI::dbExecute(connection, "SET enable_external_access = false")
  DBI::dbExecute(connection, "SET lock_configuration = true")
  DBI::dbExecute(connection, sprintf("SET VARIABLE lake = %s", place))
  DBI::dbExecute(connection, paste(readLines(script, encoding = "UTF-8", warn = FALSE), collapse = "\n"))
  connection
}

is_held <- function(problem) grepl("set lock|[Cc]onflicting lock", problem)

stop_unopened <- function(problem, path, patience_s) {
  if (is_held(problem)) {
    holder <- regmatches(problem, regexpr("held in [^)]*\\)", problem))
    stop_with(
      sprintf("Can't open %s: another process has held it for %g s.", quoted(path), patience_s),
      if (length(holder) == 1) sprintf("It is %s.", holder),
      "Wait until that process is done, or give a larger `patience_s`."
    )
  }
  if (is_open_here(problem)) {
    stop_with(
      sprintf("Can't open %s: a connection of your own has it open in this R session, set otherwise.", quoted(path)),
      "Close that one first: DBI::dbDisconnect(connection)"
    )
  }
  if (dir.exists(path)) {
    stop_with(
      sprintf("Can't open the lake %s: its script makes no views of its files.", quoted(path)),
      strsplit(problem, "\n", fixed = TRUE)[[1]][[1]],
      "To write it again, into an empty folder: collect export --layout lake FOLDER --db DB"
    )
  }
  stop_with(
    sprintf("Can't open %s: it is not a DuckDB file that this DuckDB can read.", quoted(path)),
    sprintf("R's duckdb is version %s.", utils::packageVersion("duckdb")),
    strsplit(problem, "\n", fixed = TRUE)[[1]][[1]]
  )
}

check_view <- function(connection, path, view) {
  known <- DBI::dbListTables(connection)
  if (!is.character(view) || length(view) != 1 || !view %in% known) {
    stop_with(
      sprintf("Can't open %s in %s: there is no such view.", quoted(as.character(view)), quoted(path)),
      nearest_known(as.character(view)[[1]], known),
      sprintf("Views there are: %s.", if (length(known) > 0) toString(known) else "none; is it a slant database?")
    )
  }
}

is_installed <- function(package) without_dbplyr_note(requireNamespace(package, quietly = TRUE))

# duckdb warns that it would like a newer dbplyr than Debian 12 has (2.3), whichever is loaded last. It works for all
# that a view needs.
without_dbplyr_note <- function(expression) {
  withCallingHandlers(
    expression,
    warning = function(condition) {
      if (grepl("dbplyr", conditionMessage(condition), fixed = TRUE)) invokeRestart("muffleWarning")
    }
  )
}

explain_extension <- function(expression) {
  tryCatch(expression, error = function(problem) {
    if (!grepl("[Ee]xtension", conditionMessage(problem))) stop(problem)
    stop_with(
      "Can't read this view: it needs a DuckDB extension that R's duckdb has not got.",
      "With a network, once: DBI::dbExecute(DBI::dbConnect(duckdb::duckdb()), \"INSTALL json\")",
      "Or without: `collect export --format csv` in the shell, then read_trials() on that file in R."
    )
  })
}

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
