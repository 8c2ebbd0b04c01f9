# Row numbers of each group, in order of first appearance; without `by`, one group of all rows.
group_rows <- function(data, by) {
  if (length(by) == 0) {
    return(list(all = seq_len(nrow(data))))
  }
  # By the places of the values: joined as text, ("a / b", "c") would be ("a", "b / c"), and NA the word "NA".
  codes <- lapply(unname(as.list(data[by])), function(column) match(column, unique(column)))
  key <- do.call(paste, codes)
  groups <- split(seq_along(key), factor(key, levels = unique(key)))
  first <- data[vapply(groups, `[[`, 1L, 1L), by, drop = FALSE]
  stats::setNames(groups, make.unique(do.call(paste, c(unname(lapply(first, as.character)), sep = " / "))))
}

# These rows of some columns; all rows are not copied, for a million of them take a fifth of a second each time.
chosen_rows <- function(data, rows, columns = names(data)) {
  chosen <- if (identical(columns, names(data))) data else data[columns]
  if (length(rows) == nrow(data)) chosen else chosen[rows, , drop = FALSE]
}

# A number for each row, the same for rows of one group.
group_codes <- function(data, within) {
  if (length(within) == 0) {
    return(rep(1L, nrow(data)))
  }
  groups <- group_rows(data, within)
  codes <- integer(nrow(data))
  codes[unlist(groups, use.names = FALSE)] <- rep(seq_along(groups), lengths(groups))
  codes
}
