# What fit_dsl() and fit_ppi() can estimate of a coded outcome besides coefficients: means of levels, ratios of rates,
# and average marginal component effects as amce() has them.

corrected_estimators <- c("regression", "amce", "marginal_means", "impact_ratio")

# What is estimated, as regressions: a formula, perhaps columns that its rows lack, and what is made of its solution.
estimands <- function(formula, rows, estimator, coded, family) {
  attributes <- Filter(function(name) is.factor(rows[[name]]), all.vars(without_random_terms(formula)[[3]]))
  linked <- if (estimator == "amce") linked_by(formula, attributes) else list()
  if (estimator %in% c("regression", "amce")) say_never_shown(attributes, rows, linked)
  if (estimator == "regression") {
    return(list(list(formula = formula, of = identity)))
  }
  if (length(attributes) == 0 || family != "gaussian" || !identical(all.vars(formula[[2]]), coded)) {
    stop_with(sprintf("Only a coded outcome has %s, linear and by attributes: as in angry ~ condition.", estimator))
  }
  if (estimator == "amce") {
    return(list(effects_estimand(formula, rows, attributes, linked)))
  }
  do.call(c, lapply(attributes, function(name) {
    known <- levels(droplevels(rows[[name]]))
    if (estimator == "marginal_means") {
      terms <- level_terms(name, known)
      named <- function(solved) replace(solved, "estimate", list(stats::setNames(solved$estimate, terms)))
      return(list(list(formula = stats::reformulate(c("0", name), formula[[2]]), of = named)))
    }
    rates <- stats::reformulate(c("0", "side"), formula[[2]])
    lapply(known, function(level) {
      ratio <- function(solved) log_ratio(solved, level_terms(name, level))
      list(formula = rates, columns = list(side = factor(rows[[name]] != level)), of = ratio)
    })
  }))
}

# The rows with the columns of an estimand, each level of which people must have coded.
rows_with <- function(rows, columns, is_coded = NULL) {
  for (name in names(columns)) {
    rows[[name]] <- columns[[name]]
    if (!is.null(is_coded) && any(unseen <- tabulate(rows[[name]][is_coded], nlevels(rows[[name]])) == 0)) {
      stop_with(
        sprintf("People have coded no text of %s = %s.", name, quoted(levels(rows[[name]])[[which(unseen)[[1]]]])),
        "Draw more texts (collect sample), or estimate less."
      )
    }
  }
  rows
}

# One regression on all attributes, of linked ones on the combinations that were shown: effects are combinations of its
# coefficients.
effects_estimand <- function(formula, rows, attributes, linked) {
  blocks <- regression_blocks(rows[attributes], linked)
  partner <- partners_of(attributes, linked)
  weights <- do.call(rbind, lapply(attributes, function(name) {
    weights_of_effects(name, partner[[name]], rows[attributes], block_columns(blocks))$weights
  }))
  in_words <- function(text, by) gsub("\037", by, text, fixed = TRUE)
  columns <- lapply(blocks, function(block) factor(block, labels = in_words(levels(block), ", ")))
  names(columns) <- in_words(names(blocks), " and ")
  terms <- attr(stats::terms(formula), "term.labels")
  others <- Filter(function(term) !any(all.vars(str2lang(term)) %in% attributes), terms)
  list(
    formula = stats::reformulate(c(sprintf("`%s`", names(columns)), others), formula[[2]]),
    columns = columns[setdiff(names(columns), attributes)],
    of = function(solved) {
      combined(solved, cbind(weights, matrix(0, nrow(weights), length(solved$estimate) - ncol(weights))))
    }
  )
}

# The pairs of attributes that a formula has the interactions of.
linked_by <- function(formula, attributes) {
  terms <- stats::terms(formula)
  is_pair <- attr(terms, "order") > 1
  pairs <- strsplit(attr(terms, "term.labels")[is_pair], ":", fixed = TRUE)
  named <- unlist(pairs)
  if (any(lengths(pairs) != 2) || anyDuplicated(named) || !all(named %in% attributes)) {
    stop_with(
      "Effects are averaged over one other attribute: an interaction must be of two, each in one at most.",
      "As in: angry ~ gender + education * job"
    )
  }
  pairs
}

# Linear combinations of a solution, one for each row of `weights`.
combined <- function(solved, weights) {
  moved <- t(weights %*% solved$inverse)
  list(
    estimate = stats::setNames(drop(weights %*% solved$estimate), rownames(weights)), inverse = diag(nrow(weights)),
    scores = solved$scores %*% moved, by_label = if (!is.null(solved$by_label)) solved$by_label %*% moved,
    n_coefficients = length(solved$estimate), without = function(is_out) drop(weights %*% solved$without(is_out))
  )
}

# The log of the first of two rates over the second; missing where a corrected rate is 0 or less.
log_ratio <- function(solved, term) {
  ratio_of <- function(rates) if (all(rates > 0)) log(rates[[1]] / rates[[2]]) else NA_real_
  changes <- solved$scores %*% t(solved$inverse)
  list(
    estimate = stats::setNames(ratio_of(solved$estimate), term), inverse = diag(1),
    scores = changes %*% (c(1, -1) / solved$estimate), without = function(is_out) ratio_of(solved$without(is_out))
  )
}

# Where combinations of two attributes were never shown, coefficients of a regression without them are no AMCEs.
say_never_shown <- function(attributes, rows, linked = list()) {
  pairs <- if (length(attributes) > 1) utils::combn(attributes, 2, simplify = FALSE)
  is_linked <- vapply(pairs, function(pair) any(vapply(linked, setequal, NA, pair)), NA)
  for (pair in Filter(function(pair) any(table(droplevels(rows[pair])) == 0), pairs[!is_linked])) {
    message(sprintf(
      "Some combinations of %s and %s were never shown: %s %s %s * %s, with estimator = \"amce\".",
      pair[[1]], pair[[2]],
      "these are AMCEs only if the effect of each is the same at all levels of the other. To average over the levels",
      "that both sides can have, write", pair[[1]], pair[[2]]
    ))
  }
}
