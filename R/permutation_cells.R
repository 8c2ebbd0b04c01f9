# What a refit is made of, cell by cell: its rows in one order, and the difference between the conditions of each cell.

# Rows without a gap, and the columns that the fit sees, or that are kept apart. Sums of floating-point numbers depend
# on the order of rows: it is made one. Beside a column NAME stays NAME_no, the order of its levels.
in_fixed_order <- function(data, formula, more = character()) {
  check_columns(data, more, to = "permute")
  used <- unique(c(all.vars(checked_formula(formula, names(data))), more))
  columns <- c(used, intersect(paste0(used, "_no"), names(data)))
  data <- data[stats::complete.cases(data[used]), columns, drop = FALSE]
  keys <- lapply(rev(used), function(name) as_sortable(data[[name]]))
  as_plain_rows(data[do.call(order, c(unname(keys), method = "radix")), , drop = FALSE])
}

as_sortable <- function(values) if (is.numeric(values)) values else as.character(values)

sides_of <- function(levels, data, contrast) {
  sides <- as.character(unlist(levels[[contrast]]))
  if (length(sides) == 0) sides <- sort(unique(as.character(data[[contrast]])), method = "radix")
  sides[sides %in% data[[contrast]]]
}

# The cells in the order of their levels, for each the first row of either side (all rows of one side have the same
# fixed effects), and the rows of its test: the items of all of them are averaged over, in whatever model they were
# answered, as condition_effects() does, so that cells and fits are about the same items.
cells_of <- function(data, contrast, within, sides, levels) {
  keys <- unit_keys(data, within)
  test <- words_for("test", within)
  ordered <- listed_levels(data, within, levels)
  places <- lapply(within, function(name) match(as_sortable(data[[name]]), ordered[[name]]))
  first <- which(!duplicated(keys))
  if (length(within) > 0) first <- first[do.call(order, lapply(places, function(place) place[first]))]
  of_side <- lapply(sides, function(side) as.character(data[[contrast]]) == side)
  rows <- data[first, within, drop = FALSE]
  rows[] <- lapply(rows, as.character)
  rownames(rows) <- NULL
  list(
    rows = rows,
    is_separated = unname(vapply(keys[first], is_separated_cell, TRUE, of_side, keys, as.numeric(data[[1]]))),
    sides = lapply(of_side, function(has_side) match(keys[first], ifelse(has_side, keys, NA))),
    members = lapply(first, function(row) {
      if (!test %in% within) seq_len(nrow(data)) else which(data[[test]] == data[[test]][[row]])
    })
  )
}

# Whether the outcome of a cell is all alike on one of its sides.
is_separated_cell <- function(key, of_side, keys, outcome) {
  any(vapply(of_side, function(has_side) length(unique(outcome[has_side & keys == key])) == 1, logical(1)))
}

# First side minus second, of what a refitter returned (NULL where it failed).
condition_differences <- function(fit, cells) {
  kinds <- c("delta_p", "delta_p_items", "s")
  columns <- c(outer(c("", "_sd", "_mcse"), kinds, function(end, kind) paste0(kind, end)), "rhat", "ess_bulk")
  differences <- as.data.frame(matrix(NA_real_, nrow(cells$rows), length(columns), dimnames = list(NULL, columns)))
  for (place in if (is.null(fit)) integer() else seq_len(nrow(differences))) {
    at <- vapply(cells$sides, function(side) side[[place]], 1L)
    if (length(at) == 2 && !anyNA(at)) differences[place, ] <- difference_in_cell(fit, at, cells$members[[place]])
  }
  cbind(differences, is_separated = cells$is_separated)
}

# `at`: one row of the design for either side; `members`: the rows whose items are averaged over.
difference_in_cell <- function(fit, at, members) {
  eta <- lapply(at, function(row) as.vector(fit$draws %*% fit$design[row, ]))
  values <- list(
    stats::plogis(eta[[1]]) - stats::plogis(eta[[2]]), difference_over_units(fit, eta, members), eta[[1]] - eta[[2]]
  )
  unlist(c(lapply(values, summed_up, fit$chains), agreement_of_chains(values[[1]], fit$chains)))
}

# The difference of probabilities averaged over items, each with its random intercept.
difference_over_units <- function(fit, eta, members) {
  if (is.null(fit$of_units)) {
    return(rep(NA_real_, length(eta[[1]])))
  }
  intercepts <- fit$of_units[, unique(fit$unit_no[members]), drop = FALSE]
  rowMeans(stats::plogis(intercepts + eta[[1]]) - stats::plogis(intercepts + eta[[2]]))
}

summed_up <- function(values, chains) {
  if (chains == 0 || anyNA(values)) {
    return(c(values[[1]], NA, NA))
  }
  c(mean(values), stats::sd(values), as.numeric(posterior::mcse_mean(matrix(values, ncol = chains))))
}

agreement_of_chains <- function(values, chains) {
  if (chains == 0) {
    return(c(NA, NA))
  }
  by_chain <- matrix(values, ncol = chains)
  c(as.numeric(posterior::rhat(by_chain)), as.numeric(posterior::ess_bulk(by_chain)))
}
