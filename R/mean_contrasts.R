#' Differences between marginal means
#'
#' All pairs of levels of each attribute, or what separates two groups (models, personas) at each level: of marginal
#' means, which depend on no reference level, and with p corrected for how many were compared. Effects against a
#' reference ([amce()]) may differ between groups through the reference alone.
#'
#' Pairs are compared within the cells of what the attribute was crossed with (`declared$cells`, else the other
#' attributes), as [amce()] does, so that jobs are no error of names. Errors are clustered as in [marginal_means()], and
#' groups whose rows share clusters (the same words asked of two models) are compared within them. Where clusters have
#' one level each (items of a name) and levels fewer than 40, their error is pooled over all levels, for of three items
#' each some agree by chance. Errors of yes or no over fewer clusters are at least those of independent answers. Pairs
#' of properties (gender) come before those of what has them (names).
#'
#' @inheritParams marginal_means
#' @param between name of a column whose values are compared at each level (`"model"`, `"persona"`), or `NULL`: the
#'   levels of each attribute are compared.
#' @param correction how p is corrected for all comparisons of a group of rows: `"holm"`, `"bonferroni"`, `"BH"` or
#'   `"none"` (see [stats::p.adjust()]).
#' @return A [slant_fit]. `estimates` has a row per pair: `term` is `"attribute: second - first"`, with `between`
#'   `"attribute: level: second - first"`; intervals are not corrected. `tables$contrasts` has the same next to
#'   `attribute`, `level`, `first`, `second`, `p_adjusted`, `n_compared`, `clusters`, `n_clusters` and `method`.
#' @source Leeper, Hobolt & Tilley (2020), <https://doi.org/10.1017/pan.2019.30>; Holm (1979).
#' @export
#' @examples
#' profiles <- expand.grid(group = c("a", "b", "c"), model = c("m", "n"), template = 1:20)
#' profiles$rating <- 3 + (profiles$group == "b") + sin(seq_len(nrow(profiles)))
#' mean_contrasts(profiles, "rating", "group", cluster = "template")$tables$contrasts
#' mean_contrasts(profiles, "rating", "group", cluster = "template", between = "model")$estimates
mean_contrasts <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL,
                           between = NULL, correction = c("holm", "bonferroni", "BH", "none"), declared = NULL) {
  check_arguments()
  correction <- one_of(correction, c("holm", "bonferroni", "BH", "none"), "correction")
  if (isTRUE(between %in% c(attributes, by))) {
    stop_with(sprintf("`between` must be no attribute and none of `by`, but is %s.", quoted(between)))
  }
  used <- c(attributes, between)
  to <- "compare marginal means"
  properties <- names(declared$properties)
  ordered <- c(intersect(attributes, properties), setdiff(attributes, properties))
  fit_attributes(data, outcome, used, cluster, weights, levels, by, to, declared = declared, function(rows) {
    parts <- lapply(ordered, function(name) pairs_of(name, between, rows_of(rows, name)))
    estimates <- do.call(rbind, lapply(parts, `[[`, "estimates"))
    contrasts <- do.call(rbind, lapply(parts, `[[`, "contrasts"))
    contrasts <- cbind(contrasts, estimates[setdiff(names(estimates), c("term", "statistic"))])
    contrasts$p_adjusted <- stats::p.adjust(estimates$p_value, correction)
    contrasts$n_compared <- rep(sum(!is.na(estimates$p_value)), nrow(contrasts))
    list(estimates = estimates, tables_of_group = list(contrasts = contrasts))
  })
}

# Every pair of levels of an attribute, within the cells of what it was crossed with; or of values of `between` at each
# level, where both were shown.
pairs_of <- function(name, between, rows) {
  cells <- rows$factors[[name]]
  sides <- if (is.null(between)) NULL else rows$factors[[between]]
  all <- if (is.null(sides)) cells else interaction(cells, sides, sep = "\037", lex.order = FALSE, drop = TRUE)
  compared <- levels(if (is.null(sides)) cells else sides)
  pairs <- utils::combn(compared, 2)
  at <- if (is.null(sides)) NA_character_ else levels(cells)
  keys <- frame_of(
    level = rep(at, each = ncol(pairs)), first = rep(pairs[1, ], length(at)), second = rep(pairs[2, ], length(at))
  )
  place <- function(side) {
    match(if (is.null(sides)) side else paste(keys$level, side, sep = "\037"), levels(all))
  }
  first <- place(keys$first)
  second <- place(keys$second)
  is_there <- !is.na(first) & !is.na(second)
  keys <- keys[is_there, , drop = FALSE]
  weights <- matrix(0, nrow(keys), nlevels(all))
  weights[cbind(seq_len(nrow(keys)), second[is_there])] <- 1
  weights[cbind(seq_len(nrow(keys)), first[is_there])] <- -1
  others <- if (is.null(sides)) crossed_blocks(name, rows, others_of(name, rows)) else list()
  model <- cell_regression(c(list(levels = all), others), rows)
  contrasts <- matrix(0, nrow(weights), length(model$estimates))
  contrasts[, seq_len(ncol(weights))[-1]] <- weights[, -1]
  is_pooled <- is.null(sides) && !rows$choice$is_property
  found <- contrast_error(model, contrasts, all, rows$choice, "none", is_pooled, counts = FALSE)
  what <- paste(keys$second, keys$first, sep = " - ")
  terms <- level_terms(name, if (is.null(sides)) what else paste(keys$level, what, sep = ": "))
  list(
    estimates = rows_of_contrasts(terms, contrasts, model, found$error),
    contrasts = as_plain_rows(cbind(
      frame_of(term = terms, attribute = rep(name, length(terms))), keys,
      about_clusters(length(terms), all, rows$choice, found$method)
    ))
  )
}
