# The rows to draw: a data frame as it is, a lazy table (open_trials()) read, or of what a fit returned the `table` of
# that name.
figure_rows <- function(x, table = NULL) {
  if (inherits(x, "tbl_lazy")) {
    return(as.data.frame(x))
  }
  if (is.data.frame(x) || !is.list(x)) {
    return(x)
  }
  rows <- if (is.null(table)) NULL else if (is.data.frame(x[[table]])) x[[table]] else x$tables[[table]]
  if (!is.data.frame(rows)) {
    stop_with(
      if (is.null(table)) {
        "Can't draw: the rows must come as a data frame, but they are a list."
      } else {
        sprintf("Can't draw: the fit has no table %s.", quoted(table))
      },
      sprintf("Tables there are: %s.", toString(c(names(x), names(x$tables))))
    )
  }
  rows
}

# Rows that say of what model and test they are: what is fitted to all of them together has no column of it, or NA.
with_cells <- function(rows, columns) {
  if (!is.data.frame(rows)) {
    return(rows)
  }
  for (name in columns) {
    values <- if (name %in% names(rows)) as.character(rows[[name]]) else rep(NA_character_, nrow(rows))
    if (anyNA(values)) rows[[name]] <- ifelse(is.na(values), sprintf("All %ss", name), values)
  }
  rows
}
