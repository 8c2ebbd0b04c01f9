#' Interference: predicted probabilities (or means), and their difference between conditions
#'
#' For each model and test, from the draws of a fitted model: the probability in each condition (Table 2 of the paper),
#' and the contrast of the conditions, congruent minus incongruent, as a difference of probabilities ΔP and as a
#' difference of log odds S (Table 1).
#'
#' Both are given in two kinds. `"population"` leaves the items' effects at 0, their mean: a median item, and no mean
#' over a population of them. These are the numbers that the paper prints. `"item_averaged"` is the mean over the items
#' that were asked (over new ones, [fit_lme4()] has `"new_items"`): in each draw, the probability is
#' computed for each item with its own effect, and averaged over all items that the data hold for that test,
#' whatever condition or model they were asked in, so that both conditions average over the same items, each counted
#' once. Other random effects are at 0. Near the ceiling the two differ much. S is on the scale of the coefficients, and
#' for `"item_averaged"` the difference of the log odds of the averaged probabilities.
#'
#' @param fit a `brmsfit`, or draws under brms's names (`b_…`, `r_item[…]`): a matrix, or a data frame such as the
#'   Parquet file that [fit_brms()] keeps.
#' @param parts what `brms_parts()` made of the data that were fitted; not needed with a `brmsfit`.
#' @param kinds which kinds.
#' @param contrast name of the column with the two conditions.
#' @param by names of the columns whose combinations are the cells.
#' @param item name of the column with the items. Where nothing varies by it, there is no average over items.
#' @param family of `bayes_family()`. Of numbers, predictions are means, and the one scale is `"difference"`.
#' @return A list of two data frames. `predictions`: `model`, `test`, `condition`, `kind`, `estimate` (posterior mean),
#'   `conf_low`, `conf_high` (95 % credible interval), in probability. `contrasts`: `model`, `test`, `kind`, `scale`
#'   (`"delta_p"` in probability, `"s"` in log odds), `estimate` (mean), `median`, `std_error` (standard deviation of
#'   the draws), `conf_low`, `conf_high`, `p_positive` (share of the draws above 0), `mde` (the effect whose 95 %
#'   interval leaves 0 out in 80 % of studies, were posteriors normal and as wide as this one); no rows where there
#'   are no two conditions.
#' @source Cohen & Kincaid (2026), Tables 1 and 2.
#' @noRd
condition_effects <- function(fit, parts = NULL, kinds = c("population", "item_averaged"), contrast = "condition",
                          by = c("model", "test"), item = "item", family = parts$family) {
  asked <- missing(kinds)
  kinds <- match.arg(kinds, several.ok = TRUE)
  if (inherits(fit, "brmsfit")) {
    # brm() leaves text as it is, where fit_brms() makes factors, and codes it by its sorted values, as factor() does.
    data <- fit$data
    data[] <- lapply(data, function(column) if (is.character(column)) factor(column) else column)
    parts <- list(data = data, formula = fit$formula$formula, dropped = attr(fit, "dropped"))
    family <- bayes_family(fit$family$family)
    fit <- posterior::as_draws_matrix(fit)
  }
  draws <- as.matrix(fit)
  if (asked && !item %in% grouping_variables(parts$formula)) kinds <- "population"
  design <- effect_design(parts, contrast, by)
  by_kind <- lapply(kinds, function(kind) {
    logits <- if (kind == "population") {
      population_logits(draws, design)
    } else {
      family$link(item_averages(draws, design, parts, item, family$inverse_link))
    }
    list(
      predictions = cbind(design$cells, kind = kind, spread_rows(family$inverse_link(logits))[interval_columns()]),
      contrasts = condition_contrasts(logits, design, kind, contrast, by, family)
    )
  })
  both <- c(predictions = "predictions", contrasts = "contrasts")
  lapply(both, function(table) as_plain_rows(do.call(rbind, lapply(by_kind, `[[`, table))))
}

interval_columns <- function() c("estimate", "conf_low", "conf_high")

# The cells that the data hold, and by what brms's coefficients are multiplied in each.
effect_design <- function(parts, contrast, by) {
  fixed <- stats::delete.response(stats::terms(without_random_terms(parts$formula)))
  columns <- words_for(c(by, contrast), c(all.vars(fixed), names(parts$dropped)))
  used <- intersect(columns, all.vars(fixed))
  cells <- unique(parts$data[used])
  in_order <- if (length(used) == 0) 1 else do.call(order, unname(cells))
  cells <- if (length(used) == 0) parts$data[1, used, drop = FALSE] else cells[in_order, , drop = FALSE]
  rows <- cells
  # the other covariates where they are in the middle: a number at its mean, a factor at its reference level
  for (name in setdiff(all.vars(fixed), names(cells))) {
    value <- parts$data[[name]]
    rows[[name]] <- if (is.numeric(value)) mean(value) else factor(levels(value)[[1]], levels = levels(value))
    if (is.factor(value)) stats::contrasts(rows[[name]]) <- stats::contrasts(value)
  }
  list(
    rows = rows, x = stats::model.matrix(fixed, rows),
    cells = stats::setNames(named_cells(cells, parts$dropped, columns), c(by, contrast)),
    sides = levels(parts$data[[columns[[length(columns)]]]])
  )
}

# The cells in words: a factor that was dropped has one level, one that was never there has none.
named_cells <- function(cells, dropped, columns) {
  values <- lapply(columns, function(name) {
    value <- if (name %in% names(cells)) as.character(cells[[name]]) else c(dropped[[name]], NA_character_)[[1]]
    rep_len(value, nrow(cells))
  })
  as_plain_rows(as.data.frame(stats::setNames(values, columns)))
}

as_plain_rows <- function(rows) {
  row.names(rows) <- NULL
  rows
}

# Log odds in each draw (rows) and cell (columns).
population_logits <- function(draws, design) {
  coefficients <- draws[, grep("^b_", colnames(draws)), drop = FALSE]
  tcrossprod(unclass(coefficients), design$x)
}

# Probabilities (or means) averaged over items, in each draw and cell.
item_averages <- function(draws, design, parts, item, inverse_link) {
  # brms orders columns by coefficient, then by item.
  columns <- grep(sprintf("r_%s[", item), colnames(draws), fixed = TRUE)
  n_items <- nlevels(parts$data[[item]])
  if (length(columns) == 0 || length(columns) %% n_items != 0) {
    stop_with(
      sprintf("Can't average over items: the draws have no effects of \"%s\".", item),
      "Ask for kinds = \"population\" only, or keep the draws of the random effects."
    )
  }
  by_coefficient <- split(columns, (seq_along(columns) - 1) %/% n_items)
  effects <- lapply(by_coefficient, function(own) unclass(draws[, own, drop = FALSE]))
  middle <- population_logits(draws, design)
  terms <- lapply(grouped_terms(parts$formula[[3]], item), function(side) call("~", side))
  z <- do.call(cbind, lapply(terms, function(term) stats::model.matrix(stats::as.formula(term), design$rows)))
  within <- words_for("test", names(parts$data))
  averages <- vapply(seq_len(nrow(design$x)), function(cell) {
    # The items of the cell's test, in whatever condition and model they were asked.
    test <- design$rows[cell, , drop = FALSE][[within]]
    of_test <- if (is.null(test)) TRUE else parts$data[[within]] == as.character(test)
    is_own <- levels(parts$data[[item]]) %in% as.character(parts$data[[item]][of_test])
    of_items <- Reduce(`+`, Map(function(effect, weight) effect[, is_own, drop = FALSE] * weight, effects, z[cell, ]))
    rowMeans(inverse_link(middle[, cell] + of_items))
  }, numeric(nrow(draws)))
  matrix(averages, nrow = nrow(draws))
}

# What is left of the bars that group by `item`.
grouped_terms <- function(part, item) {
  if (!is.call(part)) {
    return(NULL)
  }
  if (as.character(part[[1]]) %in% c("|", "||")) {
    return(if (identical(all.vars(part[[3]]), item)) list(part[[2]]))
  }
  unlist(lapply(as.list(part)[-1], grouped_terms, item = item), recursive = FALSE)
}

# One row for each column of draws.
spread_rows <- function(draws) {
  quantiles <- vapply(seq_len(ncol(draws)), function(column) {
    stats::quantile(draws[, column], probs = c(.5, .025, .975), names = FALSE)
  }, numeric(3))
  frame_of(
    estimate = unname(colMeans(draws)), median = quantiles[1, ], std_error = unname(apply(draws, 2, stats::sd)),
    conf_low = quantiles[2, ], conf_high = quantiles[3, ], p_positive = unname(colMeans(draws > 0))
  )
}

condition_contrasts <- function(logits, design, kind, contrast, by, family) {
  cells <- design$cells
  pairs <- contrast_pairs(design, contrast, by)
  side <- function(values, number) values[, vapply(pairs, `[[`, numeric(1), number), drop = FALSE]
  difference <- function(values) {
    rows <- spread_rows(side(values, 1) - side(values, 2))
    cbind(rows, mde = minimum_detectable_effect(rows$std_error, rep(Inf, nrow(rows))))
  }
  keys <- cells[vapply(pairs, `[[`, numeric(1), 1), by, drop = FALSE]
  values <- list(response = family$inverse_link(logits), link = logits)[names(family$scales)]
  # No rows where there is nothing to contrast, and the columns all the same.
  tables <- Map(function(value, scale) {
    cbind(keys, frame_of(kind = rep(kind, nrow(keys)), scale = rep(scale, nrow(keys))), difference(value))
  }, values, family$scales)
  as_plain_rows(do.call(rbind, unname(tables)))
}

# The numbers of the two cells of each contrast, first side and second, in the order of the cells.
contrast_pairs <- function(design, contrast, by) {
  cells <- design$cells
  pairs <- lapply(split(seq_len(nrow(cells)), do.call(paste, c(cells[by], sep = "\r"))), function(of_cell) {
    of_cell[match(design$sides, cells[[contrast]][of_cell])]
  })
  pairs <- unname(Filter(function(pair) length(pair) == 2 && !anyNA(pair), pairs))
  pairs[order(vapply(pairs, `[[`, numeric(1), 1))]
}

# What a Bayesian model of token counts says of a condition: how many times as many tokens, and how many zeros.

# From the draws: `effects`, one row, with the ratio of medians (second side to the first), and `predictions`, the
# median of each side. Both are for a word and a wording of the middle, whose random effects are 0. `checks`: of
# cell_checks(), with the shares of zeros that are observed and predicted.
count_effects <- function(fit, parts, checks) {
  contrast <- contrast_of(parts)
  draws <- as.matrix(posterior::as_draws_matrix(fit))
  design <- effect_design(parts, contrast, c("model", "test"))
  is_hu <- grepl("^b_hu_", colnames(draws))
  predictors <- population_logits(draws[, !is_hu, drop = FALSE], design)
  medians <- vapply(seq_len(ncol(predictors)), function(cell) {
    parts$family$median(predictors[, cell], parameters_of_cell(draws, parts$family, design$x[cell, ]))
  }, numeric(nrow(draws)))
  medians <- matrix(medians, nrow = nrow(draws))
  cells <- stats::setNames(design$cells, c("model", "test", "condition"))
  predictions <- cbind(cells, kind = "population", spread_rows(medians)[interval_columns()])
  sides <- match(design$sides, cells$condition)
  if (length(sides) != 2 || anyNA(sides) || nrow(cells) != 2) {
    return(list(predictions = as_plain_rows(predictions)))
  }
  list(predictions = as_plain_rows(predictions), effects = ratio_row(medians[, sides], design$sides, parts, checks))
}

# The parameters next to the linear predictor, as the functions of the family take them, one number a draw.
parameters_of_cell <- function(draws, family, x) {
  values <- lapply(stats::setNames(family$parameters, family$parameters), function(name) {
    if (name != "hu") {
      return(draws[, name])
    }
    # brms names the intercept first, then the coefficients, in the order of the design
    stats::plogis(as.vector(draws[, grepl("^b_hu_", colnames(draws)), drop = FALSE] %*% x))
  })
  if (length(values) == 1) values[[1]] else values
}

# The smallest |d| that matters, if nothing else is said: half of what Cohen calls small, as in check_equivalence().
smallest_effect <- .1

ratio_row <- function(medians, sides, parts, checks) {
  ratio <- medians[, 2] / medians[, 1]
  labels <- as.character(parts$data[[contrast_of(parts)]])
  sd_log <- pooled_sd(log(parts$outcome + parts$family$step / 2), labels, sides)
  between <- stats::quantile(ratio, c(.5, .025, .975), names = FALSE, na.rm = TRUE)
  zeros <- checks[checks$statistic == "zeros" & !is.na(checks$condition), ]
  zeros <- zeros[match(sides, zeros$condition), ]
  data.frame(
    term = paste0(contrast_of(parts), sides[[2]]), family = parts$family$name, step = parts$family$step,
    ratio = between[[1]], ratio_low = between[[2]], ratio_high = between[[3]], p_above = mean(ratio > 1, na.rm = TRUE),
    median_reference = stats::median(medians[, 1]), median_other = stats::median(medians[, 2]),
    zeros_reference = zeros$observed[[1]], zeros_reference_predicted = zeros$predicted[[1]],
    zeros_other = zeros$observed[[2]], zeros_other_predicted = zeros$predicted[[2]], sd_log = sd_log,
    bound = smallest_effect, p_within_bound = mean(abs(log(ratio)) < smallest_effect * sd_log, na.rm = TRUE),
    prior = parts$priors$b
  )
}
