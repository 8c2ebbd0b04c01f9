#' Could the missing answers have made the difference?
#'
#' What refused, cut-off or malformed answers would have been is unknown. The difference between two conditions in the
#' share of an answer (of a forced choice, the consistent one) is bounded by what it would be had all missing answers
#' gone one way, or the other: no assumption on why they are missing is needed.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer that was asked for.
#' @param outcome name of the column that is TRUE or FALSE (or 1 and 0), NA where the answer is missing.
#' @return A data frame with one row per group and further condition: `condition`, `reference`; `n_reference` and
#'   `n_other` valid answers; `n_missing_reference` and `n_missing_other`; `delta_p` of valid answers (reference less
#'   condition) with `conf_low` and `conf_high` (Newcombe's 95 % interval); `delta_p_all_true` and `delta_p_all_false`,
#'   had all missing ones gone the same way; `delta_p_lowest` and `delta_p_highest`, had those of the one condition gone
#'   one way and of the other the other; `is_sign_certain`, whether both have the sign of `delta_p`; `status`,
#'   `messages`.
#' @references Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources, 24, 343-360.
#'   Horowitz, J. L. & Manski, C. F. (2000). Nonparametric analysis of randomized experiments with missing covariate and
#'   outcome data. Journal of the American Statistical Association, 95, 77-84. Newcombe, R. G. (1998). Interval
#'   estimation for the difference between independent proportions. Statistics in Medicine, 17, 873-890.
#' @noRd
check_missing_bounds <- function(data, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, outcome, to = "bound a difference")
  empty <- data.frame(
    condition = character(), reference = character(), n_reference = integer(), n_other = integer(),
    n_missing_reference = integer(), n_missing_other = integer(), delta_p = double(), conf_low = double(),
    conf_high = double(), delta_p_all_true = double(), delta_p_all_false = double(), delta_p_lowest = double(),
    delta_p_highest = double(), is_sign_certain = logical()
  )
  check_each_group(data, by, contrast, empty, function(rows) {
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      bounds_of_difference(reference[[outcome]], other[[outcome]], outcome)
    })
  })
}

bounds_of_difference <- function(reference, other, outcome) {
  valid <- lapply(list(reference, other), function(values) zeros_and_ones(values[!is.na(values)], outcome))
  n <- lengths(valid)
  n_missing <- c(sum(is.na(reference)), sum(is.na(other)))
  n_true <- vapply(valid, sum, 1)
  observed <- if (all(n > 0)) {
    share_difference(n_true[[1]], n[[1]], n_true[[2]], n[[2]])
  } else {
    data.frame(delta_p = NA_real_, conf_low = NA_real_, conf_high = NA_real_)
  }
  with_missing <- function(of_reference, of_other) {
    shares <- (n_true + n_missing * c(of_reference, of_other)) / (n + n_missing)
    shares[[1]] - shares[[2]]
  }
  lowest <- with_missing(0, 1)
  highest <- with_missing(1, 0)
  cbind(
    data.frame(n_reference = n[[1]], n_other = n[[2]], n_missing_reference = n_missing[[1]],
               n_missing_other = n_missing[[2]]),
    observed,
    data.frame(
      delta_p_all_true = with_missing(1, 1), delta_p_all_false = with_missing(0, 0), delta_p_lowest = lowest,
      delta_p_highest = highest,
      is_sign_certain = sign(lowest) == sign(observed$delta_p) & sign(highest) == sign(observed$delta_p)
    )
  )
}
