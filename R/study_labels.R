# What a study calls its models, tests and conditions goes with results, too: views of trials hold it in
# columns NAME_label, and the order in NAME_no, and what is computed of them by group would have the bare names alone.

# Tables with NAME_label and NAME_no after their own columns, for each column NAME of theirs that `data` have a label
# of; and where models are labelled, with their source and what their tokens are.
with_study_labels <- function(tables, data) {
  if (!is.data.frame(tables)) {
    return(if (is.list(tables)) lapply(tables, with_study_labels, data = data) else tables)
  }
  named <- Filter(function(name) all(c(name, paste0(name, "_label")) %in% names(data)), names(tables))
  for (name in named) {
    tables <- with_columns_by_value(tables, name, labels_in(data, name, paste0(name, c("_label", "_no"))))
  }
  if ("model" %in% named) {
    for (kind in c("source", "token_source")) {
      tables <- with_columns_by_value(tables, "model", labels_in(data, "model", kind))
    }
  }
  tables
}

with_columns_by_value <- function(table, name, labels) {
  place <- match(as.character(table[[name]]), labels$value)
  for (column in setdiff(names(labels), c("value", names(table)))) table[[column]] <- labels[[column]][place]
  table
}

# One row a value of NAME: `value`, and those of `columns` that the data have. NULL where a value has several of them
# (labels in two studies, say): none can stand for all its rows; and where the data have none.
labels_in <- function(data, name, columns) {
  columns <- intersect(columns, names(data))
  if (length(columns) == 0) {
    return(NULL)
  }
  labels <- unique(data.frame(value = as.character(data[[name]]), as.list(data)[columns], stringsAsFactors = FALSE))
  if (anyDuplicated(labels$value) == 0) labels
}

# A table of differences with what the study calls the two sides, `reference` and `compared`, where the data have
# labels.
with_side_labels <- function(table, data, contrast, levels) {
  levels <- as.character(unlist(levels))
  if (!any(endsWith(names(data), "_label")) || length(levels) != 2 || nrow(table) == 0) {
    return(table)
  }
  label <- paste0(contrast, "_label")
  labels <- labels_in(data, contrast, label)
  sides <- c(reference = levels[[1]], compared = levels[[2]])
  for (side in setdiff(names(sides), names(table))) {
    name <- labels[[label]][match(sides[[side]], labels$value)]
    table[[side]] <- if (length(name) == 1 && !is.na(name)) name else sides[[side]]
  }
  table
}

# Views of trials and tables of results call their columns test, condition and group. A paper may have its words for
# them (domain, block, category), which its formulas are printed with: views have both, and a formula may use either.

paper_words <- c(test = "domain", condition = "block", group = "category")

# The name of each of these columns of ours among `names`: our own, or else the paper's.
words_for <- function(columns, names) {
  theirs <- unname(paper_words[columns])
  ifelse(!columns %in% names & theirs %in% names, theirs, columns)
}

# Our own names of columns that may have a paper's.
our_words <- function(columns) {
  ours <- names(paper_words)[match(columns, paper_words)]
  ifelse(is.na(ours), columns, ours)
}

# A table of results, or a list of them, with its tests and conditions under our own names.
with_our_words <- function(tables) {
  if (!is.data.frame(tables)) {
    return(lapply(tables, with_our_words))
  }
  is_theirs <- names(tables) %in% paper_words[c("test", "condition")] & !our_words(names(tables)) %in% names(tables)
  names(tables)[is_theirs] <- our_words(names(tables)[is_theirs])
  tables
}
