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
    stop_with("Notes need one file for each reader, and no two of one name.")
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
  if (!file.exists(file)) {
    stop_with(sprintf("Can't read %s: there is no such file.", quoted(file)))
  }
  notes <- read_csv_as_text(file)
  check_columns(notes, c("trial_id", "label", "note"), to = sprintf("read %s as notes", quoted(file)))
  if (anyDuplicated(notes$trial_id)) {
    stop_with(sprintf("Can't read %s: it has two notes on one trial.", quoted(file)))
  }
  cbind(data.frame(reader = rep(reader, nrow(notes))), notes)
}
