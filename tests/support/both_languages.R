# The same results with nothing but R: Rscript both_languages.R FOLDER_OF_R SPECIFICATION.json > RESULTS.json
#
# The specification: {"db": file or null, "views": [name], "fits": [job], "checks": [job]}. A fit's rows are read here
# from the database, a check's come as Parquet. Results: for each, {table: {column: [text]}}; numbers are written in
# hexadecimal, so that no digit is lost.
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[1]], pattern = "[.]R$", full.names = TRUE)) source(file)
asked <- jsonlite::fromJSON(arguments[[2]], simplifyDataFrame = FALSE, simplifyMatrix = FALSE)

exact <- function(column) {
  if (inherits(column, "POSIXct")) column <- round(as.numeric(column) * 1e6)
  text <- if (is.logical(column)) {
    tolower(as.character(column))
  } else if (is.numeric(column)) {
    sprintf("%a", as.double(column))
  } else {
    enc2utf8(as.character(column))
  }
  as.list(ifelse(is.na(column) & !is.nan(if (is.numeric(column)) column else 0), NA, text))
}

exact_tables <- function(tables) lapply(Filter(is.data.frame, tables), function(table) lapply(as.list(table), exact))

whole_view <- function(view) {
  opened <- open_trials(asked$db, view = view)
  on.exit(close_trials(opened))
  as.data.frame(opened)
}

# The rows of a fit's cell, in the order that the analysis reads them in.
rows_of <- function(job) {
  rows <- views[[job$view]]
  keys <- unname(lapply(intersect(job$order, names(rows)), function(name) rows[[name]]))
  rows <- rows[do.call(order, c(keys, list(method = "radix", na.last = TRUE))), ]
  # In what steps a model counts is found over all of its rows, before they are cut into cells.
  if ("token_step" %in% job$columns) {
    outcome <- c(job$arguments$outcome, if (!is.null(job$arguments$formula)) sub("\\s*~.*", "", job$arguments$formula))
    rows$token_step <- steps_of_rows(rows, outcome[[1]], NULL)
  }
  for (name in names(job$key)) rows <- rows[rows[[name]] %in% job$key[[name]], ]
  for (name in job$drop_flags) rows <- rows[!(rows[[name]] %in% TRUE), ]
  for (name in names(job$where)) rows <- rows[rows[[name]] %in% unlist(job$where[[name]]), ]
  if (length(job$drop_outcomes) > 0) rows <- rows[!(rows$outcome %in% unlist(job$drop_outcomes)), ]
  # A map comes as a data frame of keys and values for each row.
  for (name in setdiff(unlist(job$columns), names(rows))) {
    rows[[name]] <- vapply(rows$attributes, function(shown) shown$value[shown$key == name][1], "")
  }
  rows[job$columns]
}

fitted <- function(job) {
  result <- run_fit(job$engine, rows_of(job), job$arguments)
  c(exact_tables(result), exact_tables(result$tables))
}

# A data frame among the arguments is named by its file.
with_frames <- function(given) {
  lapply(given, function(one) if (is.list(one) && !is.null(one$parquet)) nanoparquet::read_parquet(one$parquet) else one)
}

checked <- function(job) {
  rows <- as.data.frame(nanoparquet::read_parquet(job$rows))
  exact_tables(list(rows = run_check(job$check, rows, with_frames(job$arguments))$rows))
}

views <- list()
for (view in unique(c(asked$views, unlist(lapply(asked$fits, `[[`, "view"))))) views[[view]] <- whole_view(view)
results <- list(
  views = exact_tables(views[unlist(asked$views)]), fits = lapply(asked$fits, fitted),
  checks = lapply(asked$checks, checked)
)
cat(jsonlite::toJSON(results, auto_unbox = TRUE, na = "null", null = "null"))
