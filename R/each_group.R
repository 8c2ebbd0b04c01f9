# What checks share: the loop over groups, and one row that says why a group could not be checked.

# Runs `check_one(rows)` on each group of `data`, in the order in which the groups first appear; it returns one data
# frame of the columns of `empty` (a data frame of no rows).
#
# `columns`: the columns that the check uses; rows with a missing value in one of them are dropped, and a message says
# so. Returns one data frame: the columns `by`, those of `empty`, then `status` ("ok", "warned", "failed") and
# `messages` (text, "" if none). A group that fails is one row with its reason and else no values.
check_each_group <- function(data, by, columns, empty, check_one) {
  check_columns(data, c(by, columns), to = "check")
  clash <- intersect(by, c(names(empty), "status", "messages"))
  if (length(clash) > 0) {
    stop_with(sprintf("Can't check by %s: the results have a column of that name.", quoted(clash)))
  }
  parts <- lapply(group_rows(data, by), function(rows) {
    keys <- data[rows[seq_len(min(1, length(rows)))], by, drop = FALSE]
    is_complete <- stats::complete.cases(chosen_rows(data, rows, columns))
    used <- chosen_rows(data, rows[is_complete])
    result <- with_conditions(function() {
      check_rows(nrow(used), sum(!is_complete))
      say_what_is_missing(data[rows, columns, drop = FALSE], sum(!is_complete))
      warn_of_pooling(used, within = character(), named_columns = c(by, columns))
      check_one(used)
    })
    kinds <- result$conditions$kind
    table <- if (is.null(result$value)) empty[NA_integer_, , drop = FALSE] else result$value
    table$status <- if ("error" %in% kinds) "failed" else if ("warning" %in% kinds) "warned" else "ok"
    table$messages <- paste(unique(result$conditions$text), collapse = " | ")
    with_keys(keys, table)
  })
  prototype <- cbind(data[0, by, drop = FALSE], empty, data.frame(status = character(), messages = character()))
  stacked(c(list(prototype), parts))
}

# Data frames one below the other; columns that one lacks are missing there.
stacked <- function(parts) {
  parts <- Filter(Negate(is.null), parts)
  columns <- unique(unlist(lapply(parts, names)))
  filled <- lapply(parts, function(part) {
    for (name in setdiff(columns, names(part))) {
      known <- Find(function(other) name %in% names(other), parts)[[name]]
      part[[name]] <- known[rep(NA_integer_, nrow(part))]
    }
    part[columns]
  })
  if (length(filled) > 0) as_plain_rows(do.call(rbind, filled))
}

# Does a test find a difference? NA where there is no p value.
is_significant <- function(p_value, alpha) p_value < alpha

# The third standardised moment (dividing by n): 0 for a normal distribution.
skewness_of <- function(values) mean((values - mean(values))^3) / mean((values - mean(values))^2)^1.5

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
