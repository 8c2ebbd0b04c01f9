# What tells kinds of rows apart that nobody should take for one: said wherever rows are put together.

# Warns of each of these columns that takes more than one value within a group of rows, once for each column.
# `within`: columns that make the groups (none: all rows are one). `named_columns`: columns that the caller uses by
# name, so that their values are told apart on purpose. `kinds`: the columns looked at.
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
