#' Marginal means of the levels of attributes
#'
#' The mean of an outcome over all profiles that show a level, for each level of each attribute of a conjoint, a
#' vignette study or an audit: what Leeper, Hobolt & Tilley (2020) recommend for describing preferences and for
#' comparing groups, as no level is a reference.
#'
#' With weights w, the mean of a level is `sum(w * y) / sum(w)` over its rows. Errors are clustered. Where each level of
#' an attribute was seen in 40 clusters or more they are sums of changes within clusters (Liang & Zeger 1986), times
#' G / (G - 1), on t with G - 1 degrees of freedom. Where a level was seen in fewer they are bias-reduced (CR2) with
#' Satterthwaite's degrees of freedom, the numbers of `clubSandwich` for the same linear model. Intervals of an outcome
#' of 0 and 1 are Wilson's with the effective number of answers (p (1 - p) over the clustered variance; over few
#' clusters at most the number of answers), so they stay within 0 and 1. An error that can't be estimated (all answers
#' of all clusters are the same) is `NA`.
#'
#' @section Which clusters:
#' `declared` says what the study varied, and each attribute gets its clusters from that. The levels of a property of
#' another factor (the gender of a name) cluster by that factor, because several jobs of one name are not independent
#' answers about its gender. All else clusters by `cluster`: what was shown, the person, the persona. Where a level is
#' one cluster alone, the prompts of `declared$prompt` are the clusters, never the trials that repeat them. Without
#' `declared`, `cluster` holds for all attributes. `fits$optimiser` says which clusters were used, and why.
#'
#' If neither is given and `data` are the trials of a factorial study ([open_trials()]), their columns tell both: the
#' factors are those of which each `item` has one value, and a property is what each level of a factor has one value of.
#' Rows of other tables are then independent.
#'
#' @param data a data frame with one row per profile (or vignette).
#' @param outcome name of a numeric column: a choice as 0 or 1, or a rating. Rows in which a column that is used is
#'   missing are left out and counted (`n_missing` of `fits`).
#' @param attributes names of the columns with the levels that were shown.
#' @param cluster name of the column of what rows have in common (the respondent: person, persona, template), or
#'   `NULL`: see "Which clusters". One model is one respondent: its answers to many wordings cluster by wording. Two
#'   names cluster in two ways, with the smaller number of clusters less 1 as degrees of freedom (a negative variance
#'   falls back to the larger one-way variance, with a message); with fewer than ten on a side a mixed model is better.
#' @param weights name of a column of weights, or `NULL`.
#' @param levels a list by attribute of its levels in their order; if not given, those of a factor, or in alphabetical
#'   order.
#' @param by names of the columns that tell groups of rows apart, or `NULL`.
#' @param declared a list of what the study varied: `properties`, by attribute the column whose levels have it;
#'   `cells`, the columns that were crossed with each other; `prompt`, the columns that tell prompts apart (if nearly
#'   all repetitions of prompts are copies, each prompt counts once, with a message); of regressions also `cluster`.
#'   `NULL`: nothing is declared.
#' @param correction `"small_sample"`: as above; `"cregg"`: errors of sums of changes within clusters whatever their
#'   number, and normal intervals, as package cregg prints them.
#' @return A [slant_fit]. `estimates` has a row per level: `term` is `"attribute: level"`, `estimate` its mean in units
#'   of the outcome, `std_error`, `df`, `conf_low` and `conf_high` (95 %); nothing is tested. `tables$levels` adds
#'   `attribute`, `level`, `n` (rows), `clusters`, `n_clusters` (of the level with the fewest) and `method`.
#' @source Leeper, Hobolt & Tilley (2020), <https://doi.org/10.1017/pan.2019.30>; over 40 clusters and more, and with
#'   `correction = "cregg"`, standard errors are those of their package cregg 0.3.7. Pustejovsky & Tipton (2018),
#'   <https://doi.org/10.1080/07350015.2016.1247004>.
#' @export
#' @examples
#' profiles <- data.frame(
#'   person = rep(1:50, each = 4), group = rep(c("a", "b"), 100),
#'   job = rep(c("nurse", "clerk"), each = 2, times = 50)
#' )
#' profiles$chosen <- as.integer(seq_len(200) %% 3 == 0)
#' marginal_means(profiles, "chosen", c("group", "job"), cluster = "person")$estimates
marginal_means <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL,
                           declared = NULL, correction = c("small_sample", "cregg")) {
  check_arguments()
  correction <- one_of(correction, small_or_cregg, "correction")
  to <- "compute marginal means"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, declared = declared, function(rows) {
    parts <- lapply(attributes, function(name) {
      own <- rows_of(rows, name)
      values <- own$factors[[name]]
      found <- means_of_levels(values, own, correction)
      terms <- level_terms(name, levels(values))
      n <- length(terms)
      list(
        estimates = cbind(frame_of(term = terms), found$rows[names(empty_table("estimates"))[-1]]),
        levels = cbind(
          frame_of(term = terms, attribute = rep(name, n), level = levels(values), n = tabulate(values, n)),
          about_clusters(n, values, own$choice, found$method)
        )
      )
    })
    list(
      estimates = do.call(rbind, lapply(parts, `[[`, "estimates")),
      tables_of_group = list(levels = do.call(rbind, lapply(parts, `[[`, "levels")))
    )
  })
}

small_or_cregg <- c("small_sample", "cregg")

# Means of the levels of a factor over its clusters: list(rows of estimates, method, model, n_effective). Where answers
# are 0 or 1, intervals are Wilson's with the effective number of answers.
means_of_levels <- function(values, rows, correction) {
  model <- level_regression(values, rows)
  n_levels <- nlevels(values)
  found <- contrast_error(model, diag(n_levels), values, rows$choice, correction, FALSE, counts = FALSE)
  estimates <- rows_of_contrasts(levels(values), diag(n_levels), model, found$error, is_tested = FALSE)
  estimates$df <- found$error$df
  result <- list(rows = estimates, method = found$method, model = model, error = found$error)
  if (correction == "cregg") {
    half <- stats::qnorm(.975) * found$error$std_error
    result$rows[c("conf_low", "conf_high")] <- list(estimates$estimate - half, estimates$estimate + half)
  } else if (all(rows$y %in% 0:1)) {
    result$n_effective <- effective_numbers(model, found)
    result$rows[c("conf_low", "conf_high")] <- wilson_of_rates(
      estimates$estimate, result$n_effective, stats::qt(.975, found$error$df)
    )
  }
  result
}

# How many independent answers a share is worth: p (1 - p) over its variance. Over few clusters that is never more than
# there are answers, nor more than answers are worth at the other levels: clusters of a level may agree by chance.
effective_numbers <- function(model, found) {
  share <- model$estimates
  n <- diag(model$bread)^-1
  n <- n^2 / diag(model$meat) # Kish's, with weights
  binomial <- share * (1 - share) / n
  effect <- ifelse(binomial > 0, found$error$std_error^2 / binomial, NA_real_)
  if (!found$method %in% c("HC1", "cregg")) {
    pooled <- sum(found$error$std_error^2) / sum(binomial)
    effect <- pmax(1, effect, if (is.finite(pooled)) pooled else 1, na.rm = TRUE)
  }
  effect[is.na(effect) | effect == 0] <- 1
  unname(n / effect)
}

# The means of the figure of levels: long rows, one attribute of one profile each, in the order in which levels are
# drawn. Intervals are over the profiles (`item`) that were shown, for the templates and personas that were asked.
level_means <- function(data, by) {
  check_columns(data, c("attribute", "level", "item", "answer", by))
  as_plain_rows(do.call(rbind, lapply(unique(data$attribute), function(attribute) {
    rows <- data[data$attribute == attribute, , drop = FALSE]
    shown <- list(level = unique(rows$level))
    means <- marginal_means(rows, "answer", "level", "item", levels = shown, by = by)$estimates
    cbind(means[by], frame_of(
      attribute = rep(attribute, nrow(means)), level = sub("level: ", "", means$term, fixed = TRUE),
      estimate = means$estimate, std_error = means$std_error, conf_low = means$conf_low, conf_high = means$conf_high
    ))
  })))
}

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
  told <- declare_trials(data, cluster, declared)
  cluster <- told$cluster
  declared <- told$declared
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
