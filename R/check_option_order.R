#' Can the condition be distinguished from the order of the options?
#'
#' In the RM-IAT as published the option that the first group goes to is named first, so that the order of the options
#' changes with the condition: whatever the order does to a model looks like an effect of the condition. Where the
#' order varies within conditions (the study's variant `balanced`), the effect of each is estimated next to the other.
#'
#' @inheritParams check_residuals
#' @param first name of the column that holds the option that is named first.
#' @param contrast name of the column that holds the condition.
#' @return A data frame with one row per group: `n` trials whose order is known; `n_orders`, how many options come first
#'   in some trial; `association`, Cramér's V of order and condition (1: one tells the other); `is_confounded` (V is 1);
#'   `estimate` and `p_value`, the condition effect with the order in the model, in units of the outcome;
#'   `estimate_order` and `p_order`, the effect of the order (the second option in alphabetical order first, less the
#'   other); all four NA if the two can't be distinguished; `status`, `messages`.
#' @noRd
check_option_order <- function(data, formula = "tokens ~ condition + (1 | wording)", by = NULL, levels = NULL,
                               first = "first_option", contrast = "condition") {
  levels <- if (is.null(levels)) stats::setNames(list(levels_of(data, contrast)), contrast) else levels
  check_columns(data, c(first, contrast), to = "check the order of options")
  checked_formula(formula, names(data))
  empty <- data.frame(
    n = integer(), n_orders = integer(), association = double(), is_confounded = logical(), estimate = double(),
    p_value = double(), estimate_order = double(), p_order = double()
  )
  check_each_group(data, by, contrast, empty, function(rows) {
    rows <- rows[!is.na(rows[[first]]), , drop = FALSE]
    if (nrow(rows) == 0) {
      stop_with("It is not known which option was named first.")
    }
    counts <- table(as.character(rows[[first]]), as.character(rows[[contrast]]))
    association <- cramers_v(counts)
    row <- data.frame(
      n = nrow(rows), n_orders = nrow(counts), association = association,
      is_confounded = !is.na(association) && association > 1 - 1e-9
    )
    can_tell <- !row$is_confounded && nrow(counts) > 1
    unknown <- data.frame(estimate = NA_real_, p_value = NA_real_, estimate_order = NA_real_, p_order = NA_real_)
    cbind(row, if (can_tell) order_effects(rows, formula, levels, first) else unknown)
  })
}

cramers_v <- function(counts) {
  if (min(dim(counts)) < 2) {
    return(NA_real_)
  }
  expected <- outer(rowSums(counts), colSums(counts)) / sum(counts)
  sqrt(sum((counts - expected)^2 / expected) / sum(counts) / (min(dim(counts)) - 1))
}

order_effects <- function(rows, formula, levels, first) {
  options <- sort(unique(as.character(rows[[first]])), method = "radix")
  rows$first_option_ <- as.character(rows[[first]])
  fit <- fit_lme4(
    rows, paste(deparse1(checked_formula(formula, names(rows))), "+ first_option_"),
    levels = c(levels, list(first_option_ = options))
  )
  if (fit$fits$status == "failed") {
    stop_with(fit$fits$error)
  }
  for (text in fit$messages$text) warning(text, call. = FALSE)
  is_order <- startsWith(fit$estimates$term, "first_option_")
  effect <- fit$estimates[fit$estimates$term != "intercept" & !is_order, ][1, ]
  of_order <- fit$estimates[is_order, ][1, ]
  data.frame(
    estimate = effect$estimate, p_value = effect$p_value,
    estimate_order = of_order$estimate, p_order = of_order$p_value
  )
}
