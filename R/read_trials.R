#' Read trials from an export
#'
#' Reads what `collect export` wrote, as CSV (base R) or Parquet (package nanoparquet), for people without R's duckdb
#' package; or the data in an archive of `analyze seal`, which takes neither Python nor a database. Columns that slant
#' knows get their types whatever a reader would guess (a word `"NA"` stays a word), and every value is checked; other
#' columns of a CSV stay text.
#'
#' @param file path of a file that ends in `.csv` or `.parquet`, in UTF-8; or in `.zip`, a sealed study: its Parquet is
#'   read if nanoparquet is installed, else its CSV.
#' @param columns names of columns that must be there.
#' @param view of an archive with several files of data (games): the view, as in `"allocation_questions"`. `NULL` takes
#'   the trials.
#' @return A data frame, one row per trial, in the order of the file. `tokens` and other counts are integers,
#'   `latency_s` (seconds) and `cost_usd` (US dollars) are doubles, names that begin with `is_` are logical. Empty
#'   cells are `NA`. R takes a carriage return inside a cell of a CSV for the end of a line; Parquet keeps it.
#' @export
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("model,test,condition,tokens", "o3-mini,flowers_insects,compatible,64"), file)
#' read_trials(file)
read_trials <- function(file, columns = NULL, view = NULL) {
  check_arguments()
  if (!is.character(file) || length(file) != 1 || !file.exists(file)) {
    stop_with(sprintf("Can't read %s: there is no such file.", quoted(as.character(file))))
  }
  shown <- file
  is_archive <- grepl("[.]zip$", tolower(file))
  if (is_archive) {
    file <- unpacked_data(file, view)
    on.exit(unlink(dirname(file), recursive = TRUE))
  }
  if (is.null(columns)) columns <- if (is_archive) c("model", "trial_id") else c("model", "test", "condition", "tokens")
  read <- switch(tolower(sub(".*\\.", "", basename(file))),
    csv = read_csv_as_text,
    parquet = read_parquet,
    stop_with(
      sprintf("Can't read %s: its name must end in .csv, .parquet or .zip.", quoted(file)),
      sprintf("To open a database: open_trials(%s)", quoted(if (endsWith(file, ".duckdb")) file else "slant.duckdb"))
    )
  )
  trials <- read(file, shown)
  check_columns(trials, columns, to = sprintf("read %s", quoted(shown)))
  for (name in names(trials)) {
    trials[[name]] <- typed_column(trials[[name]], name, shown)
  }
  trials
}

# The file of data of one view in an archive, unpacked alone into a folder of its own.
unpacked_data <- function(archive, view) {
  members <- tryCatch(
    suppressWarnings(utils::unzip(archive, list = TRUE)),
    error = function(problem) stop_with(sprintf("Can't read %s: it is not a ZIP file.", quoted(archive)))
  )
  is_plain <- grepl("^data/study-[A-Za-z0-9]+_description-[A-Za-z0-9]+(_data[.]csv|[.]parquet)$", members$Name)
  ending <- if (is_installed("nanoparquet")) "[.]parquet$" else "_data[.]csv$"
  known <- members[is_plain & grepl(ending, members$Name) & members$Length < 4e9, ]
  known$view <- sub("^data/study-.*_description-([A-Za-z0-9]+)(_data[.]csv|[.]parquet)$", "\\1", known$Name)
  wanted <- if (is.null(view)) "(trials|rounds)$" else sprintf("^%s$", gsub("[^A-Za-z0-9]", "", view))
  found <- known$Name[grepl(wanted, known$view)]
  if (length(found) == 0) {
    stop_with(
      sprintf("Can't read %s: it has no data%s.", quoted(archive), if (is.null(view)) "" else sprintf(" of %s", view)),
      sprintf("Data there are of: %s.", if (nrow(known) > 0) toString(known$view) else "nothing; is it a sealed study?")
    )
  }
  n_bytes <- members$Length[members$Name == found[[1]]][[1]]
  if (n_bytes > 5e7 + 250 * file.size(archive)) { # as `analyze replay` has it: no archive of slant's grows by so much
    stop_with(sprintf(
      "Can't read %s: \"%s\" in it would grow from less than %.0f to %.0f bytes.",
      quoted(archive), found[[1]], file.size(archive), n_bytes
    ))
  }
  folder <- tempfile("data-")
  utils::unzip(archive, files = found[[1]], exdir = folder, junkpaths = TRUE)
  file.path(folder, basename(found[[1]]))
}

# Everything as text first: guessing types would turn the item "NA" or the answer "T" into something else. By scan()
# alone: read.csv() takes a quarter of an hour for a reasoning of 5 MB in one of the first lines, and takes a row that
# is too long for two.
read_csv_as_text <- function(file, shown = file) {
  stop_unread <- function(problem) {
    reason <- if (is.character(problem)) problem else sub("[.]$", "", conditionMessage(problem))
    reason <- sub("^line (?=[0-9]+ did not)", "row ", reason, perl = TRUE) # counted from the header on
    stop_with(sprintf("Can't read %s: %s.", quoted(shown), reason))
  }
  if (dir.exists(file)) stop_unread("it is a folder")
  cells <- function(...) {
    scan(file, ..., sep = ",", quote = "\"", comment.char = "", encoding = "UTF-8", quiet = TRUE, multi.line = FALSE)
  }
  trials <- tryCatch(
    {
      names <- sub("^\ufeff", "", cells("", nlines = 1, na.strings = character()))
      if (length(names) == 0) stop("it is empty")
      stats::setNames(cells(rep(list(""), length(names)), skip = 1, na.strings = ""), names)
    },
    error = stop_unread,
    warning = stop_unread
  )
  if (any(is_nameless <- !nzchar(names(trials)))) {
    stop_unread(sprintf(
      "its column %d has no name (write.csv() writes one so, of the names of rows: row.names = FALSE)",
      which(is_nameless)[[1]]
    ))
  }
  if (!all(validUTF8(names(trials)))) stop_unread("its first line is not UTF-8")
  if (twice <- anyDuplicated(names(trials))) stop_unread(sprintf("it has two columns \"%s\"", names(trials)[[twice]]))
  for (name in names(trials)) {
    is_bad <- !validUTF8(trials[[name]])
    if (any(is_bad)) {
      stop_with(
        sprintf("Can't read %s: row %d, column \"%s\" is not UTF-8.", quoted(shown), which(is_bad)[[1]], name),
        "Save the file as UTF-8 and try again."
      )
    }
  }
  as.data.frame(trials, optional = TRUE, stringsAsFactors = FALSE)
}

read_parquet <- function(file, shown = file) {
  need_package("nanoparquet", "read a Parquet file")
  trials <- tryCatch(
    nanoparquet::read_parquet(file),
    error = function(problem) {
      stop_with(sprintf("Can't read %s: it is not a Parquet file that nanoparquet reads.", quoted(shown)))
    }
  )
  as.data.frame(trials)
}

typed_column <- function(values, name, file) {
  counts <- c(
    "tokens", "reasoning_tokens", "reasoning_tokens_recounted", "output_tokens", "input_tokens", "wording",
    "repetition", "position", "test_no", "model_no", "round", "turn", "try_no", "sequence"
  )
  flags <- c("follows_rule", "served_model_differs", "snapshot_was_asked")
  if (name %in% counts) {
    numbers <- as_number(values, name, file)
    is_bad <- !is.na(numbers) & (numbers < 0 | numbers != floor(numbers) | numbers > .Machine$integer.max)
    stop_at_first(is_bad, values, name, file, "a whole number of 0 or more")
    as.integer(numbers)
  } else if (name %in% c("latency_s", "queue_wait_s", "cost_usd", "option_a_logprob", "option_b_logprob")) {
    as_number(values, name, file)
  } else if (startsWith(name, "is_") || name %in% flags) {
    flags <- as.logical(values)
    stop_at_first(is.na(flags) & !is.na(values), values, name, file, "true or false")
    flags
  } else {
    values
  }
}

as_number <- function(values, name, file) {
  if (is.numeric(values)) {
    return(as.double(values))
  }
  numbers <- suppressWarnings(as.numeric(values))
  stop_at_first(is.na(numbers) & !is.na(values), values, name, file, "a number")
  numbers
}

stop_at_first <- function(is_bad, values, name, file, wanted) {
  if (any(is_bad)) {
    row <- which(is_bad)[[1]]
    stop_with(sprintf(
      "Can't read %s: row %d, column \"%s\" must be %s, but it is \"%s\".",
      quoted(file), row, name, wanted, values[[row]]
    ))
  }
}

#' Read a reader's notes on trials
#'
#' Reads what `collect view --notes FILE` keeps: labels and lines on trials, a row a note. Of several readers the notes
#' come below each other; [agreement()] compares them.
#'
#' @param files paths of files of notes (CSV, UTF-8) with the columns `trial_id`, `label`, `note`. A reader is called
#'   after the file, or as the names of `files` say.
#' @param trials a data frame with `trial_id`, to join: [open_trials()], collected, or [read_trials()].
#' @return A data frame, one row per reader and trial: `reader`, `trial_id`, `label` and `note` (`NA` if empty), the
#'   other columns of the files as text, and the columns of `trials` (none for notes on trials that are not in
#'   `trials`).
#' @export
#' @examples
#' file <- tempfile("anna", fileext = ".csv")
#' writeLines(c("trial_id,label,note", "t1,evasive,asks back", "t2,plain,"), file)
#' read_notes(c(anna = file))
read_notes <- function(files, trials = NULL) {
  check_arguments()
  readers <- if (is.null(names(files))) sub("[.][^.]*$", "", basename(files)) else names(files)
  if (length(files) == 0 || anyDuplicated(readers)) {
    stop_with("Notes need one file for each reader, each with a different name.")
  }
  notes <- Map(notes_of, unname(files), readers)
  columns <- unique(unlist(lapply(notes, names)))
  notes <- do.call(rbind, lapply(notes, function(own) {
    own[setdiff(columns, names(own))] <- rep(NA_character_, nrow(own))
    own[columns]
  }))
  rownames(notes) <- NULL
  if (is.null(trials)) {
    return(notes)
  }
  check_columns(trials, "trial_id", to = "be joined to notes")
  joined <- merge(notes, trials, by = "trial_id", sort = FALSE, suffixes = c("", "_of_trial"))
  joined <- as_plain_rows(joined[order(match(joined$reader, readers), match(joined$trial_id, trials$trial_id)), ])
  joined[c("reader", setdiff(names(joined), "reader"))]
}

notes_of <- function(file, reader) {
  if (!file.exists(file)) stop_with(sprintf("Can't read %s: there is no such file.", quoted(file)))
  notes <- read_csv_as_text(file)
  check_columns(notes, c("trial_id", "label", "note"), to = sprintf("read %s as notes", quoted(file)))
  if (anyDuplicated(notes$trial_id)) {
    stop_with(sprintf("Can't read %s: it has two notes on one trial.", quoted(file)))
  }
  cbind(data.frame(reader = rep(reader, nrow(notes))), notes)
}
