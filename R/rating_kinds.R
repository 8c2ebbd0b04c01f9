# Ratings whose thresholds, or whose discrimination, differ between the values of a column (models, personas): brms's
# thres(gr = ) and disc ~ 0 + column. Rows with the same values of both are of one kind, and have the same thresholds;
# these are multiplied by the discrimination here, as the predictor is: F(disc * (threshold - predictor)).

# The columns as fit_brms() is given them, checked: list(thresholds, disc), NULL if all rows share them.
kind_columns <- function(data, formula, family, thresholds_by, disc_by) {
  columns <- list(thresholds = thresholds_by, disc = disc_by)
  for (argument in names(columns)) {
    name <- columns[[argument]]
    if (is.null(name)) next
    if (!identical(family, "cumulative")) {
      stop_with(sprintf("Can't fit: `%s_by` is for ratings, family = \"cumulative\".", argument))
    }
    check_columns(data, name)
    if (name %in% all.vars(formula[[2]])) stop_with(sprintf("Can't fit: `%s_by` is the rating itself.", argument))
  }
  if (isTRUE(thresholds_by %in% attr(stats::terms(without_random_terms(formula)), "term.labels"))) {
    stop_with(
      sprintf("Can't fit: thresholds of each %s take the place of its effect on all ratings.", thresholds_by),
      sprintf("Take `%s` out of the formula; its interactions may stay.", thresholds_by)
    )
  }
  columns[!vapply(columns, is.null, NA)]
}

# Those that differ in the rows, as factors in the data: list(data, columns, dropped).
with_kind_columns <- function(data, source, columns, levels, dropped) {
  for (argument in names(columns)) {
    name <- columns[[argument]]
    known <- listed_levels(source, name, levels[intersect(name, names(levels))])[[name]]
    if (is.null(known)) known <- sort(unique(as.character(source[[name]])), method = "radix")
    if (length(known) < 2) {
      message(sprintf("All rows are of one %s, %s: it has nothing of its own.", name, known))
      dropped[[name]] <- known
      columns[[argument]] <- NULL
    } else if (!is.factor(data[[name]]) || is.null(attr(data[[name]], "contrasts"))) {
      data[[name]] <- factor(as.character(source[[name]]), known)
    }
  }
  list(data = data, columns = columns, dropped = dropped)
}

# The formula as brms has it: the number of thresholds is that of the points as observed, also of simulated ratings.
rating_formula <- function(formula, n_points, columns = list()) {
  thresholds <- call("thres", n_points - 1)
  if (!is.null(columns$thresholds)) thresholds$gr <- as.name(columns$thresholds)
  formula[[2]] <- call("|", formula[[2]], thresholds)
  if (is.null(columns$disc)) {
    return(formula)
  }
  of_disc <- stats::as.formula(sprintf("disc ~ 0 + %s", columns$disc))
  brms::bf(formula) + brms::lf(of_disc, cmc = FALSE) # the first level's is 1: log disc is 0
}

# The kind of each row, a number from 1, and a row of each kind.
rating_kinds <- function(parts) {
  columns <- unique(unlist(parts$kind_columns))
  if (length(columns) == 0) {
    return(list(kind = rep(1L, nrow(parts$data)), rows = parts$data[1, character(), drop = FALSE]))
  }
  of_kinds <- parts$data[columns]
  key <- do.call(paste, c(lapply(of_kinds, as.integer), sep = " "))
  rows <- of_kinds[!duplicated(key), , drop = FALSE]
  in_order <- do.call(order, lapply(unname(as.list(rows)), as.integer))
  list(kind = match(key, unique(key)[in_order]), rows = rows[in_order, , drop = FALSE])
}

# Of each kind: `thresholds` (draws and thresholds) and `disc` (a number a draw), the former multiplied by the latter.
draws_of_kinds <- function(draws, parts, rows = rating_kinds(parts)$rows) {
  lapply(seq_len(max(1, nrow(rows))), function(number) {
    group <- if (!is.null(parts$kind_columns$thresholds)) {
      match(as.character(rows[[parts$kind_columns$thresholds]][[number]]), levels_of_thresholds(parts))
    }
    name <- parts$kind_columns$disc
    disc <- if (is.null(name)) {
      rep(1, nrow(draws))
    } else {
      coding <- stats::contrasts(parts$data[[name]])[as.character(rows[[name]][[number]]), ]
      as.vector(exp(unclass(draws[, startsWith(colnames(draws), "b_disc_"), drop = FALSE]) %*% coding))
    }
    list(thresholds = threshold_draws(draws, length(parts$points) - 1, group) * disc, disc = disc)
  })
}

# brms has thresholds of groups in the order of their names, sorted as factor() does, or of their levels.
levels_of_thresholds <- function(parts) levels(parts$data[[parts$kind_columns$thresholds]])

# The columns of one group, which is counted from 1; NULL of all rows alike.
threshold_draws <- function(draws, n_thresholds = NULL, group = NULL) {
  found <- grep("^b_Intercept\\[", colnames(draws))
  if (!is.null(group)) found <- found[(group - 1) * n_thresholds + seq_len(n_thresholds)]
  unclass(draws[, found, drop = FALSE])
}

# Thresholds of each draw and row, for draws and likelihoods of the family; see parameters_at().
row_thresholds <- function(draws, parts) {
  kinds <- rating_kinds(parts)
  of_kinds <- draws_of_kinds(draws, parts, kinds$rows)
  structure(
    list(kind = kinds$kind, thresholds = lapply(of_kinds, `[[`, "thresholds"), disc = lapply(of_kinds, `[[`, "disc")),
    class = "row_thresholds"
  )
}

# One draw: a list of the thresholds of each kind, and the kind of each row. One row: a matrix of all draws.
thresholds_at <- function(all, draw, row) {
  if (!isTRUE(row)) {
    return(all$thresholds[[all$kind[[row]]]])
  }
  list(kind = all$kind, thresholds = lapply(all$thresholds, function(one) one[draw, ]))
}

# Predictors times the discrimination of each row.
discriminated <- function(predictors, all) {
  for (number in seq_along(all$disc)) {
    own <- all$kind == number
    predictors[, own] <- predictors[, own, drop = FALSE] * all$disc[[number]]
  }
  predictors
}

# Names of thresholds and of discriminations, in brms's order: "1|2", or "small: 1|2"; "disc: modelmedium".
threshold_names <- function(points, groups = NULL) {
  names <- paste(points[-length(points)], points[-1], sep = "|")
  if (is.null(groups)) names else paste(rep(groups, each = length(names)), names, sep = ": ")
}

names_of_disc <- function(parts) {
  name <- parts$kind_columns$disc
  if (is.null(name)) {
    return(character())
  }
  coding <- stats::contrasts(parts$data[[name]])
  ending <- if (is.null(colnames(coding))) seq_len(ncol(coding)) else colnames(coding)
  paste0("disc: ", name, ending)
}
