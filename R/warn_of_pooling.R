# What nobody should take for one kind of rows, or for answers: said wherever rows are put together.

# Warns of each of these columns that takes more than one value within a group of rows, once for each column.
# `within`: columns that make the groups (none: all rows are one). `named_columns`: columns that the caller uses by
# name, so that their values are kept apart on purpose. `kinds`: the columns looked at.
warn_of_pooling <- function(data, within, named_columns = character(), kinds = kinds_of_rows()) {
  for (name in setdiff(intersect(kinds, names(data)), c(within, named_columns))) {
    if (length(unique(data[[name]])) < 2) next # as nearly always; what follows takes longer than a short fit's rest
    values <- as.character(data[[name]])
    pairs <- unique(data.frame(group = group_codes(data, within), value = values)[!is.na(values), , drop = FALSE])
    if (anyDuplicated(pairs$group) > 0) {
      distinct <- sort(unique(pairs$value), method = "radix")
      warning(sprintf("Rows of more than one %s are put together: %s.", name, toString(distinct)), call. = FALSE)
    }
  }
}

kinds_of_rows <- function() c("study", "source", "study_version", "variant", "token_source")

# Points of one scale and of another, or a scale and a number, are no answers to one question. Python's fits, which pass
# the columns of their formula only, say the same (analysis/rows/cells.py).
warn_of_pooled_units <- function(rows, columns) {
  units <- c("question", "kind", "low", "high")
  is_answer <- any(c("rating", "scored", "number", "measured") %in% columns)
  if (!is_answer || any(c("question", "test") %in% columns) || !all(units %in% names(rows))) {
    return(invisible())
  }
  asked <- unique(as.data.frame(rows[units]))
  asked <- asked[order(asked$question, method = "radix"), ]
  others <- ifelse(asked$kind == "number", "a number", "0 or 1")
  scales <- ifelse(is.na(asked$low) | is.na(asked$high), "a scale", sprintf("%g to %g", asked$low, asked$high))
  unit <- ifelse(asked$kind == "scale", scales, others)
  if (length(unique(unit)) > 1 || sum(unit == "a number") > 1) {
    warning(sprintf(
      "Answers in different units are analysed together: %s. To fit each question alone: by = \"question\".",
      toString(sprintf("%s (%s)", asked$question, unit))
    ), call. = FALSE)
  }
}

# A refusal has a count of tokens, too, and is no answer. Fits of what a refusal decides itself (`is_valid`) want it.
warn_of_refusals <- function(rows, columns) {
  n <- sum(is_without_answer(rows))
  if (n > 0 && !any(c("is_refusal", "is_valid", "outcome") %in% columns)) {
    kept <- if ("is_valid" %in% names(rows)) "is_valid" else "!is_refusal"
    warning(sprintf(
      "Trials without an answer are taken for answers: %d of %s. Without them: subset(data, %s).", n,
      counted(nrow(rows), "row"), kept
    ), call. = FALSE)
  }
}

# One trial may have several rows (pairs of words, say), but no two that say the same.
warn_of_repeated_rows <- function(rows) {
  twice <- rows$trial_id[duplicated(rows$trial_id)] # none of rows without the column
  n <- sum(duplicated(as.data.frame(rows[rows$trial_id %in% twice, , drop = FALSE])))
  if (n > 0) {
    warning(sprintf(
      "%d of %s repeat another one, trial_id and all: intervals are too narrow. One of each: unique(data).", n,
      counted(nrow(rows), "row")
    ), call. = FALSE)
  }
}

# Repetitions that are the same answer again, more often than chance has it, are no answers of their own. A fit that
# knows of word and wording (fit_crossed()) has a component for what they share. Several rows of one trial are no
# repetitions.
warn_of_same_answers <- function(rows, columns) {
  keys <- c("item", "wording", "condition")
  outcome <- intersect("tokens", columns)
  if (length(outcome) == 0 || !all(keys %in% names(rows)) || all(keys[1:2] %in% columns)) {
    return(invisible())
  }
  if (!is.null(rows$trial_id)) rows <- rows[!duplicated(rows$trial_id), , drop = FALSE]
  if (is.null(rows$group)) rows$group <- rep("", nrow(rows))
  if (anyDuplicated(rows[c(intersect(c("model", "test"), names(rows)), "group", keys)]) == 0) {
    return(invisible())
  }
  found <- repetitions_of(rows, NA, outcome, "condition")
  if (found$share_identical > found$share_by_chance + .2) {
    warning(sprintf(
      paste(
        "Of %d words in a wording and condition that were repeated, %d got the same answer every time:",
        "%d rows hold %s."
      ),
      found$n_repeated, found$n_identical, found$n, counted(found$n_effective, "answer")
    ), call. = FALSE)
  }
}
