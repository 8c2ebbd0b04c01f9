#' Average marginal component effects of attributes
#'
#' How much a level changes the outcome, compared with the first level of its attribute, on average over what else was
#' shown (Hainmueller, Hopkins & Yamamoto 2014). Where combinations of two attributes were never shown (`linked`), the
#' effect is averaged over the levels of the other one that both levels can have, each with the same weight or by how
#' often they were shown.
#'
#' One least-squares fit has all attributes, linked ones with all their cells; each effect is a combination of its
#' coefficients, with the covariance clustered as `sandwich::vcovCL(type = "HC1", cadjust = TRUE)`, or of few clusters
#' as in [marginal_means()]. With `declared$cells` each effect is within the cells of what was crossed with its
#' attribute (of a job within names), and errors of a factor's own levels are pooled as in [mean_contrasts()]. A
#' coefficient of a regression without the cells is not this effect where combinations are forbidden. With a forced
#' choice, effects of subgroups may differ through the reference alone: compare marginal means ([marginal_means()]).
#'
#' @inheritParams marginal_means
#' @param linked a list of pairs of attributes of which some combinations were never shown, such as
#'   `list(c("education", "job"))`, or `"education:job"`. An attribute is in one pair at most.
#' @param levels a list by attribute of its levels, the reference first; if not given, those of a factor, or in
#'   alphabetical order.
#' @param strata `"equal"`: levels of the linked attribute have the same weight; `"shown"`: by how often they were
#'   shown.
#' @return A [slant_fit]. `estimates` has a row per level but the first: `term` is `"attribute: level"`, `estimate` in
#'   units of the outcome, with t. `tables$levels` adds `attribute`, `level`,
#'   `reference`, `n` (rows) and `n_strata` (levels of the linked attribute; `NA` without one).
#' @source Hainmueller, Hopkins & Yamamoto (2014), <https://doi.org/10.1093/pan/mpt024>.
#' @export
#' @examples
#' profiles <- expand.grid(group = c("a", "b"), job = c("clerk", "doctor", "nurse"), person = 1:20)
#' profiles$rating <- 3 + (profiles$group == "b") + sin(seq_len(nrow(profiles)))
#' amce(profiles, "rating", c("group", "job"), cluster = "person")$estimates
amce <- function(data, outcome, attributes, cluster = NULL, weights = NULL, linked = list(), levels = NULL,
                 strata = c("equal", "shown"), by = NULL, declared = NULL,
                 correction = c("small_sample", "cregg")) {
  check_arguments()
  strata <- one_of(strata, c("equal", "shown"), "strata")
  correction <- one_of(correction, small_or_cregg, "correction")
  linked <- checked_pairs(linked, attributes)
  to <- "compute effects of attributes"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, declared = declared, function(rows) {
    parts <- parts_of_effects(rows, attributes, linked, strata, correction)
    list(
      estimates = do.call(rbind, lapply(parts, `[[`, "estimates")),
      tables_of_group = list(levels = do.call(rbind, lapply(parts, `[[`, "levels")))
    )
  })
}

# By attribute its effects in attribute_rows(): list(estimates, levels).
parts_of_effects <- function(rows, attributes, linked = list(), strata = "equal", correction = "small_sample") {
  partner <- partners_of(attributes, linked)
  shared <- if (length(rows$cells) == 0) cell_regression(regression_blocks(rows$factors, linked), rows)
  lapply(attributes, function(name) {
    own <- rows_of(rows, name)
    model <- if (is.null(shared)) model_of_effect(name, partner[[name]], own, linked) else shared
    effects_of(name, partner[[name]], own, model, strata, correction)
  })
}

partners_of <- function(attributes, linked) {
  partner <- stats::setNames(rep(NA_character_, length(attributes)), attributes)
  for (pair in linked) partner[pair] <- rev(pair)
  partner
}

# The attribute (with the one it is linked to) next to the cells that the study declares, which hold whatever else
# varied: of jobs the names themselves, not their gender.
model_of_effect <- function(name, partner, rows, linked) {
  pair <- Filter(function(pair) name %in% pair, linked)
  own <- regression_blocks(rows$factors[stats::na.omit(c(name, partner))], pair)
  cell_regression(c(own, crossed_blocks(name, rows, others_of(name, rows, stats::na.omit(partner)))), rows)
}

checked_pairs <- function(linked, attributes) {
  if (is.character(linked)) linked <- strsplit(linked, ":", fixed = TRUE)
  pairs <- lapply(unname(as.list(linked)), function(pair) as.character(unlist(pair)))
  named <- unlist(pairs)
  if (any(lengths(pairs) != 2) || anyDuplicated(named) || !all(named %in% attributes)) {
    stop_with(
      "`linked` must be a list of pairs of attributes, each attribute in one pair at most.",
      "As in: linked = list(c(\"education\", \"job\"))"
    )
  }
  pairs
}

# Attributes as blocks of the regression; a linked pair is one block of the cells that were shown.
regression_blocks <- function(factors, linked) {
  alone <- factors[setdiff(names(factors), unlist(linked))]
  pairs <- lapply(linked, function(pair) {
    cells <- paste(factors[[pair[[1]]]], factors[[pair[[2]]]], sep = "\037")
    factor(cells, unique(cells))
  })
  c(alone, stats::setNames(pairs, vapply(linked, paste, "", collapse = "\037")))
}

effects_of <- function(name, partner, rows, found, strata, correction) {
  cells <- rows$factors[[name]]
  reference <- levels(cells)[[1]]
  compared <- levels(cells)[-1]
  of_effects <- weights_of_effects(name, partner, rows$factors, names(found$estimates), strata)
  weights <- of_effects$weights
  terms <- rownames(weights)
  is_pooled <- name %in% names(rows$cells) && !rows$choice$is_property
  error <- contrast_error(found, weights, cells, rows$choice, correction, is_pooled)
  list(
    estimates = rows_of_contrasts(terms, weights, found, error$error),
    levels = cbind(frame_of(
      term = terms, attribute = rep(name, length(terms)), level = compared, reference = rep(reference, length(terms)),
      n = tabulate(cells, nlevels(cells))[-1], n_strata = of_effects$n_strata
    ), about_clusters(length(terms), cells, rows$choice, error$method))
  )
}

# An attribute's effects as weights of the coefficients (`columns`) of regression_blocks(): list(weights, a row an
# effect; n_strata).
weights_of_effects <- function(name, partner, factors, columns, strata = "equal") {
  cells <- factors[[name]]
  reference <- levels(cells)[[1]]
  compared <- levels(cells)[-1]
  others <- if (is.na(partner)) NULL else factors[[partner]]
  shares <- lapply(compared, function(level) {
    sides <- c(reference, level)
    if (is.null(others)) {
      return(c(all = 1))
    }
    counts <- table(cells, others)[sides, , drop = FALSE]
    shared <- colSums(counts > 0) == 2
    if (!any(shared)) {
      stop_with(
        sprintf("Can't compare \"%s\" with \"%s\": they share no level of \"%s\".", sides[[2]], sides[[1]], partner),
        "Another reference: `levels`, with it first."
      )
    }
    weights <- if (strata == "equal") rep(1, sum(shared)) else table(others)[shared]
    stats::setNames(as.vector(weights) / sum(weights), colnames(counts)[shared])
  })
  weights <- matrix(0, length(compared), length(columns), dimnames = list(level_terms(name, compared), columns))
  for (i in seq_along(compared)) {
    for (stratum in names(shares[[i]])) {
      for (side in c(reference, compared[[i]])) {
        wanted <- if (is.na(partner)) {
          paste(name, side, sep = "\037")
        } else {
          c(paste(name, partner, side, stratum, sep = "\037"), paste(partner, name, stratum, side, sep = "\037"))
        }
        column <- match(TRUE, columns %in% wanted)
        sign <- if (side == reference) -1 else 1
        if (!is.na(column)) weights[i, column] <- weights[i, column] + sign * shares[[i]][[stratum]]
      }
    }
  }
  list(weights = weights, n_strata = if (is.na(partner)) rep(NA_integer_, length(compared)) else lengths(shares))
}

#' Average marginal interaction effects of two attributes
#'
#' What a combination of two levels adds to the effects of both, each averaged over the levels of the other with equal
#' weights (Egami & Imai 2019): the mean of the cell, less that of its row and of its column, plus the mean of all
#' cells. It has no reference level, and sums to 0 over each row and column.
#'
#' @inheritParams marginal_means
#' @param attributes the names of two attributes; all their combinations must have been shown.
#' @return A [slant_fit]. `estimates` has a row per combination: `term` is `"first: level x second: level"`.
#' @source Egami & Imai (2019), <https://doi.org/10.1080/01621459.2018.1476246>.
#' @export
#' @examples
#' profiles <- expand.grid(group = c("a", "b"), job = c("clerk", "nurse"), person = 1:20)
#' profiles$rating <- 3 + (profiles$group == "b" & profiles$job == "nurse") +
#'   sin(seq_len(nrow(profiles)))
#' amie(profiles, "rating", c("group", "job"), cluster = "person")$estimates
amie <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL, declared = NULL,
                 correction = c("small_sample", "cregg")) {
  check_arguments()
  correction <- one_of(correction, small_or_cregg, "correction")
  if (length(attributes) != 2) stop_with("`attributes` must name two attributes.")
  to <- "compute interaction effects"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, declared = declared, function(rows) {
    names <- lapply(rows$factors, base::levels)
    n <- lengths(names)
    cells <- interaction(rows$factors[[1]], rows$factors[[2]], sep = "\037", lex.order = FALSE)
    if (any(is_empty <- tabulate(cells, nlevels(cells)) == 0)) {
      lacking <- sub("\037", " and ", base::levels(cells)[is_empty], fixed = TRUE)
      stop_with(
        sprintf("Can't compute interaction effects: never shown together: %s.", quoted(lacking)),
        "All combinations are needed."
      )
    }
    # of both, the attribute whose levels were seen in fewer clusters
    n_of <- function(values, choice) min(clusters_at_levels(values, choice$codes[[1]]))
    least <- mapply(n_of, rows$factors, rows$choices)
    own <- rows_of(rows, attributes[[which.min(least)]])
    if (is_alone(cells, own$choice$codes)) { # a job of a name, say: what is left are prompts, or else rows
      own$choice <- independent_rows(data.frame(y = own$y), "a combination is one item")
      if (!is.null(own$prompts) && !is_alone(cells, list(own$prompts))) {
        own$choice[c("codes", "columns")] <- list(list(own$prompts), "prompt")
      }
    }
    centred <- function(k) diag(k) - 1 / k
    weights <- kronecker(centred(n[[2]]), centred(n[[1]]))
    others <- rows$cells[setdiff(names(rows$cells), c(attributes, unlist(rows$properties[attributes])))]
    is_crossed <- function(other) nlevels(other) > 1 && all(table(cells, other) > 0)
    others <- if (is_nested(cells, own$choice$codes[[1]])) Filter(is_crossed, others) else list()
    model <- cell_regression(c(list(cells = cells), others), own)
    others <- matrix(0, nrow(weights), length(model$estimates) - ncol(weights))
    contrasts <- cbind(0, weights[, -1, drop = FALSE], others)
    found <- contrast_error(model, contrasts, cells, own$choice, correction, TRUE, counts = FALSE)
    named <- Map(level_terms, attributes, names)
    terms <- as.vector(outer(named[[1]], named[[2]], paste, sep = " x "))
    list(estimates = rows_of_contrasts(terms, contrasts, model, found$error))
  })
}
