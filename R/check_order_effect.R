#' Is the effect of the condition the same with the order in the model?
#'
#' A logistic regression ([stats::glm()]) of each further condition against the first, without the order, with it, and
#' with an interaction of both. The order is whatever column is named: whether the right option was shown first, or
#' whether a block was asked first. p values are of likelihood ratios, which stay valid if all answers of a cell are
#' alike and Wald's do not; there the coefficients have no finite value and are NA.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer; those that are not valid (`outcome` is NA) take no part.
#' @param outcome name of the column that is TRUE or FALSE (or 1 and 0).
#' @param order name of the column that holds the order, of two values.
#' @param alpha the level of significance.
#' @return A data frame with one row per group and further condition: `condition`, `reference`; `n` answers whose order
#'   is known; `association`, Cramér's V of order and condition; `is_confounded` (V is 1: one tells the other, and
#'   nothing below is known); `estimate` and `p_value`, of the condition in log odds, reference less condition;
#'   `estimate_ordered` and `p_ordered`, the same with the order in the model; `estimate_order` and `p_order`, of the
#'   order (its second value less its first); `p_interaction`; `changes_conclusion` (significant, or of another sign
#'   while significant, in only one of the two); `p_holm`, `p_interaction` corrected by Holm's method for all rows;
#'   `status`, `messages`.
#' @references McCullagh, P. & Nelder, J. A. (1989). Generalized Linear Models, chapter 4. Hauck, W. W. & Donner, A.
#'   (1977). Wald's test as applied to hypotheses in logit analysis. Journal of the American Statistical Association,
#'   72, 851-853.
#' @noRd
check_order_effect <- function(data, order, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL,
                               alpha = .05) {
  check_alpha(alpha)
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(outcome, order), to = "check the order")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- data.frame(
    condition = character(), reference = character(), n = integer(), association = double(),
    is_confounded = logical(), estimate = double(), p_value = double(), estimate_ordered = double(),
    p_ordered = double(), estimate_order = double(), p_order = double(), p_interaction = double(),
    changes_conclusion = logical()
  )
  with_holm(check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    rows <- rows[!is.na(rows[[order]]), , drop = FALSE]
    if (length(unique(rows[[order]])) < 2) {
      stop_with(if (nrow(rows) == 0) "The order is not known." else "The order is the same in all answers.")
    }
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      both <- rbind(reference, other)
      is_other <- rep(0:1, c(nrow(reference), nrow(other)))
      order_in_logit(zeros_and_ones(both[[outcome]], outcome), is_other, as.character(both[[order]]), alpha)
    })
  }), "p_interaction")
}

order_in_logit <- function(y, is_other, order, alpha) {
  counts <- table(order, is_other)
  association <- cramers_v(counts)
  row <- data.frame(
    n = length(y), association = association, is_confounded = is.na(association) || association > 1 - 1e-9
  )
  if (row$is_confounded) {
    return(cbind(row, data.frame(
      estimate = NA_real_, p_value = NA_real_, estimate_ordered = NA_real_, p_ordered = NA_real_,
      estimate_order = NA_real_, p_order = NA_real_, p_interaction = NA_real_, changes_conclusion = NA
    )))
  }
  second <- as.integer(order == max(order))
  fits <- list(none = cbind(1), order = cbind(1, second), condition = cbind(1, is_other),
               both = cbind(1, is_other, second), crossed = cbind(1, is_other, second, is_other * second))
  # Warnings of probabilities of 0 and 1 say what check_separation() says.
  fits <- lapply(fits, function(x) {
    suppressWarnings(stats::glm.fit(matrix(x, length(y), ncol(x)), y, family = stats::binomial()))
  })
  p_of <- function(small, large) {
    gain <- max(0, fits[[small]]$deviance - fits[[large]]$deviance)
    stats::pchisq(gain, fits[[large]]$rank - fits[[small]]$rank, lower.tail = FALSE)
  }
  alone <- -fits$condition$coefficients[[2]]
  both <- -fits$both$coefficients[[2]]
  p_alone <- p_of("none", "condition")
  p_both <- p_of("order", "both")
  cbind(row, data.frame(
    estimate = finite(alone), p_value = p_alone, estimate_ordered = finite(both), p_ordered = p_both,
    estimate_order = finite(fits$both$coefficients[[3]]), p_order = p_of("condition", "both"),
    p_interaction = p_of("both", "crossed"),
    changes_conclusion = conclusion(alone, p_alone, alpha) != conclusion(both, p_both, alpha)
  ))
}

# Log odds beyond 10 are those of cells in which all answers are alike: they grow as long as glm() goes on.
finite <- function(log_odds) if (abs(log_odds) > 10) NA_real_ else log_odds
