#' Could the missing answers have made the difference?
#'
#' What refused, cut-off or malformed answers would have been is unknown. The difference between two conditions in the
#' share of an answer (of a forced choice, the consistent one) is bounded by what it would be had all missing answers
#' gone one way, or the other: no assumption on why they are missing is needed.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer that was asked for.
#' @param outcome name of the column that is TRUE or FALSE (or 1 and 0), NA if the answer is missing.
#' @return A data frame with one row per group and further condition: `condition`, `reference`; `n_reference` and
#'   `n_other` valid answers; `n_missing_reference` and `n_missing_other`; `delta_p` of valid answers (reference less
#'   condition) with `conf_low` and `conf_high` (Newcombe's 95 % interval); `delta_p_all_true` and `delta_p_all_false`,
#'   had all missing ones gone the same way; `delta_p_lowest` and `delta_p_highest`, had those of the one condition gone
#'   one way and of the other the other; `is_sign_kept_by_missing`, whether both have the sign of `delta_p`: of
#'   missing answers only, however few the valid ones are; `bounds_conf_low` and `bounds_conf_high`, the 95 % interval
#'   of Imbens and Manski, which adds what chance does (answers taken as independent); `status`, `messages`.
#' @references Imbens, G. W. & Manski, C. F. (2004). Confidence intervals for partially identified parameters.
#'   Econometrica, 72, 1845-1857. Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources,
#'   24, 343-360. Horowitz, J. L. & Manski, C. F. (2000). Nonparametric analysis of randomized experiments with missing
#'   covariate and outcome data. Journal of the American Statistical Association, 95, 77-84. Newcombe, R. G. (1998).
#'   Interval estimation for the difference between independent proportions. Statistics in Medicine, 17, 873-890.
#' @noRd
check_missing_bounds <- function(data, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, outcome, to = "bound a difference")
  empty <- data.frame(
    condition = character(), reference = character(), n_reference = integer(), n_other = integer(),
    n_missing_reference = integer(), n_missing_other = integer(), delta_p = double(), conf_low = double(),
    conf_high = double(), delta_p_all_true = double(), delta_p_all_false = double(), delta_p_lowest = double(),
    delta_p_highest = double(), is_sign_kept_by_missing = logical(), bounds_conf_low = double(),
    bounds_conf_high = double()
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
  # One more answer of either kind, so that shares of 0 and 1 have an error, too (Agresti & Caffo 2000).
  error_with <- function(of_reference, of_other) {
    shares <- (n_true + n_missing * c(of_reference, of_other) + 1) / (n + n_missing + 2)
    sqrt(sum(shares * (1 - shares) / (n + n_missing + 2)))
  }
  lowest <- with_missing(0, 1)
  highest <- with_missing(1, 0)
  interval <- interval_of_bounds(lowest, highest, error_with(0, 1), error_with(1, 0))
  cbind(
    data.frame(n_reference = n[[1]], n_other = n[[2]], n_missing_reference = n_missing[[1]],
               n_missing_other = n_missing[[2]]),
    observed,
    data.frame(
      delta_p_all_true = with_missing(1, 1), delta_p_all_false = with_missing(0, 0), delta_p_lowest = lowest,
      delta_p_highest = highest,
      is_sign_kept_by_missing = sign(lowest) == sign(observed$delta_p) & sign(highest) == sign(observed$delta_p),
      bounds_conf_low = interval[[1]], bounds_conf_high = interval[[2]]
    )
  )
}

# The 95 % interval of a number of which only bounds are known, with their standard errors: Imbens and Manski (2004),
# equations 6 and 7. Where the bounds are one number, it is that of a normal estimate; where they are far apart, it adds
# 1.645 standard errors to either.
interval_of_bounds <- function(lowest, highest, error_lowest, error_highest, alpha = .05) {
  error <- max(error_lowest, error_highest)
  if (!is.finite(error) || !is.finite(highest - lowest)) {
    return(c(NA_real_, NA_real_))
  }
  gap <- if (error > 0) (highest - lowest) / error else 0
  missed <- function(c) stats::pnorm(c + gap) - stats::pnorm(-c) - (1 - alpha)
  c <- stats::uniroot(missed, stats::qnorm(1 - alpha / c(1, 2)) + c(-.01, .01), tol = 1e-10)$root
  c(lowest - c * error_lowest, highest + c * error_highest)
}
