# What every engine shares: the loop over groups, the fixed result columns, and one row that says why a group failed.

# Fits each group of `data`, in the order in which the groups first appear.
#
# `columns`: the columns that the fit uses; rows with a missing value in one of them are dropped and counted.
# `fit_one`: function(rows) -> list(estimates, fit, variances, model); an error in it fails its group only.
# `save_to`: path of an .rds file for the list of models, or NULL. A message says that it can't be written.
# Dropped rows are said in a message; in a warning, columns such as `source` that differ within a group, refusals that
# are taken for answers, and rows that are there twice.
# Returns list(estimates, fits, variances, messages), each a data frame that begins with the columns `by`; `models`, a
# list named by group (NULL where a group failed), with the attribute `covariances` of estimates by group; and, where
# `fit_one` returns `tables_of_group`, `tables`: a list of further such data frames. Labels of `data` (model_label, say)
# go with estimates and tables.
fit_each_group <- function(data, by, columns, fit_one, save_to = NULL) {
  check_columns(data, c(by, columns))
  # Two columns of one name reach nobody safely.
  reserved <- unlist(lapply(c("estimates", "fits", "variances", "messages"), function(table) names(empty_table(table))))
  clash <- intersect(by, reserved)
  if (length(clash) > 0) {
    stop_with(
      sprintf("Can't fit by %s: the results have a column of that name.", quoted(clash)),
      "Rename the column first."
    )
  }
  if (length(both <- intersect(by, columns)) > 0) { # within a group of equal values there are none to compare
    stop_with(
      sprintf("Can't fit each group of %s: the fit is of that column.", quoted(both)),
      "Leave it out of `by`, or fit something else."
    )
  }
  groups <- group_rows(data, by)
  fitted <- lapply(groups, function(rows) fit_group(data, rows, by, columns, fit_one))
  models <- stats::setNames(lapply(fitted, `[[`, "model"), names(groups))
  written_file(save_to, function(path) saveRDS(models, path))
  tables <- c("estimates", "fits", "variances", "messages")
  result <- stats::setNames(
    lapply(tables, function(table) {
      none <- cbind(data[0, by, drop = FALSE], empty_table(table))
      as_plain_rows(do.call(rbind, c(list(none), lapply(fitted, `[[`, table))))
    }), tables
  )
  covariances <- stats::setNames(lapply(fitted, `[[`, "covariance"), names(groups))
  result$models <- structure(models, covariances = Filter(Negate(is.null), covariances))
  extra <- unique(unlist(lapply(fitted, function(group) names(group$tables))))
  if (length(extra) > 0) {
    result$tables <- stats::setNames(lapply(extra, function(table) {
      parts <- Filter(Negate(is.null), lapply(unname(fitted), function(group) group$tables[[table]]))
      has_rows <- vapply(parts, nrow, 1L) > 0
      as_plain_rows(if (any(has_rows)) do.call(rbind, parts[has_rows]) else parts[[1]])
    }), extra)
  }
  labelled <- intersect(c("estimates", "tables"), names(result))
  result[labelled] <- with_study_labels(result[labelled], data)
  result
}

fit_group <- function(data, rows, by, columns, fit_one) {
  keys <- data[rows[seq_len(min(1, length(rows)))], by, drop = FALSE]
  used <- chosen_rows(data, rows, unique(columns))
  is_complete <- stats::complete.cases(used)
  complete <- rows[is_complete]
  used <- chosen_rows(used, which(is_complete))
  result <- with_conditions(function() {
    check_rows(nrow(used), sum(!is_complete), data[rows, unique(columns), drop = FALSE])
    say_what_is_missing(data[rows, unique(columns), drop = FALSE], sum(!is_complete))
    kinds <- chosen_rows(data, complete, intersect(kinds_of_rows(), names(data)))
    warn_of_pooling(kinds, within = character(), named_columns = columns)
    warn_of_refusals(chosen_rows(data, complete), columns)
    warn_of_repeated_rows(chosen_rows(data, rows))
    warn_of_same_answers(chosen_rows(data, complete), columns)
    warn_of_pooled_units(chosen_rows(data, complete), columns)
    fit_one(used)
  })
  fit <- fit_row(result, n = nrow(used), n_missing = sum(!is_complete))
  list(
    estimates = with_keys(keys, result$value$estimates),
    fits = with_keys(keys, fit),
    variances = with_keys(keys, result$value$variances),
    messages = with_keys(keys, result$conditions),
    tables = lapply(result$value$tables_of_group, function(table) {
      if (nrow(table) == 0) table else with_keys(keys, table)
    }),
    covariance = attr(result$value$estimates, "covariance"), # where it is not the model's own
    model = result$value$model
  )
}

check_rows <- function(n, n_missing, data = NULL) {
  if (n > 0) {
    return(invisible(TRUE))
  }
  if (n_missing > 0) {
    is_empty <- vapply(data, function(column) all(is.na(column)), NA)
    where <- if (any(is_empty)) sprintf(" in %s", paste(names(data)[is_empty], collapse = ", ")) else ""
    stop_with(sprintf("No rows are left: all %d have a missing value%s.", n_missing, where))
  }
  stop_with("There are no rows.")
}

# The outcome of a trial without a count is unknown; that it takes no part must not go unsaid.
say_what_is_missing <- function(rows, n_missing) {
  if (n_missing > 0) {
    holey <- names(rows)[vapply(rows, anyNA, logical(1))]
    message(counted(n_missing, "row"), " without ", paste(holey, collapse = " or "), " left out.")
  }
}

# One row about a fit; what an engine doesn't know of stays NA.
fit_row <- function(result, n, n_missing) {
  conditions <- result$conditions
  row <- empty_table("fits")[NA_integer_, ]
  row[names(result$value$fit)] <- result$value$fit
  is_error <- conditions$kind == "error"
  row$n <- n
  row$n_missing <- n_missing
  row$messages <- paste(conditions$text[!is_error], collapse = " | ")
  row$error <- paste(conditions$text[is_error], collapse = " | ")
  row$status <- if (any(is_error)) {
    "failed"
  } else if (isTRUE(row$singular)) {
    "singular"
  } else if (any(conditions$kind == "warning")) {
    "warned"
  } else {
    "ok"
  }
  row
}

empty_table <- function(table) {
  switch(table,
    estimates = columns_of("term:text estimate std_error df statistic p_value conf_low conf_high"),
    fits = columns_of(
      "status:text n:whole n_missing:whole n_groups:whole log_lik aic bic singular:flag optimiser:text messages:text",
      "error:text"
    ),
    variances = columns_of("group:text term:text variance n_groups:whole"),
    messages = frame_of(kind = character(), text = character())
  )
}

# Rows of `estimates`; what an engine does not know of is NA. Intervals hold 95 %: of t, if nothing else is said.
estimate_rows <- function(term, estimate, std_error, df = NA_real_, statistic = NA_real_, p_value = NA_real_,
                          half_width = stats::qt(.975, df) * std_error, conf_low = estimate - half_width,
                          conf_high = estimate + half_width) {
  numbers <- list(
    estimate = estimate, std_error = std_error, df = df, statistic = statistic, p_value = p_value, conf_low = conf_low,
    conf_high = conf_high
  )
  do.call(frame_of, c(list(term = term_name(term)), lapply(numbers, rep_len, length(term))))
}

# The same with t of each estimate against 0; without degrees of freedom, Wald's z.
tested_rows <- function(term, estimate, std_error, df = Inf, ...) {
  statistic <- estimate / std_error
  p_value <- 2 * stats::pt(-abs(statistic), df)
  known <- ifelse(is.finite(df), df, NA_real_)
  estimate_rows(term, estimate, std_error, known, statistic, p_value, stats::qt(.975, df) * std_error, ...)
}

term_name <- function(name) sub("^\\(Intercept\\)$", "intercept", name)

# What data.frame() makes of columns of one length, or of one value, without its checks, which take as long as a short
# fit.
frame_of <- function(...) {
  columns <- list(...)
  n <- lengths(columns)
  rows <- if (any(n == 0)) 0 else max(n)
  if (rows != 1) columns[n == 1] <- lapply(columns[n == 1], rep, length.out = rows)
  structure(columns, class = "data.frame", row.names = seq_len(rows))
}

# A data frame of no rows with these columns: numbers, if nothing else stands behind a colon.
columns_of <- function(...) {
  named <- strsplit(unlist(strsplit(c(...), " ", fixed = TRUE)), ":", fixed = TRUE)
  kinds <- list(text = character(), whole = integer(), flag = logical())
  columns <- lapply(named, function(one) if (length(one) == 2) kinds[[one[[2]]]] else double())
  structure(stats::setNames(columns, vapply(named, `[[`, "", 1)), class = "data.frame", row.names = integer())
}

with_keys <- function(keys, table) {
  if (is.null(table) || nrow(table) == 0) {
    return(NULL)
  }
  do.call(frame_of, c(as.list(keys), as.list(table)))
}
