#' Is a null a null? Two one-sided tests
#'
#' That a difference is not significant does not show that it is small. This tests whether Cohen's d lies within
#' `-bound` and `bound`: by two one-sided t tests of the raw difference against the bounds in tokens, which are `bound`
#' times the pooled standard deviation (Lakens, 2017). The 90 % interval (for `alpha` .05) lies within the bounds
#' exactly where the test is significant.
#'
#' @inheritParams check_skew
#' @param bound the smallest |d| that would matter.
#' @return A data frame with one row per group: `n_reference`, `n_other`, `d`, `bound`; `p_difference` of the pooled t
#'   test against 0; `p_equivalence`, the larger of the two one-sided p values; `conf_low` and `conf_high`, the
#'   `1 - 2 * alpha` interval of d by the same tests; `smallest_bound`, the bound that could just be shown;
#'   `is_possible`, whether so many trials could show equivalence at all, were d exactly 0; `finding`:
#'   `"equivalent"`, `"different"`, `"both"` (there, and smaller than the bound) or `"undecided"`; `status`, `messages`.
#' @references Lakens, D. (2017). Equivalence tests. Social Psychological and Personality Science, 8, 355-362.
#' @noRd
check_equivalence <- function(data, bound = .1, alpha = .05, by = NULL, outcome = "tokens", contrast = "condition",
                              levels = NULL) {
  check_alpha(alpha)
  if (!is.numeric(bound) || length(bound) != 1 || !is.finite(bound) || bound <= 0) {
    stop_with("`bound` must be one number above 0: the smallest |d| that would matter, such as .1.")
  }
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- data.frame(
    n_reference = integer(), n_other = integer(), d = double(), bound = double(), p_difference = double(),
    p_equivalence = double(), conf_low = double(), conf_high = double(), smallest_bound = double(),
    is_possible = logical(), finding = character()
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    check_outcome(rows, outcome)
    values <- sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast)
    two_one_sided_tests(values[[1]], values[[2]], outcome, bound, alpha)
  })
}

two_one_sided_tests <- function(reference, other, outcome, bound, alpha) {
  n <- c(length(reference), length(other))
  df <- sum(n) - 2
  d <- d_of(reference, other, outcome)
  std_error <- sqrt(sum(1 / n))
  p_difference <- 2 * stats::pt(-abs(d / std_error), df)
  p_equivalence <- stats::pt((abs(d) - bound) / std_error, df)
  half_width <- stats::qt(1 - alpha, df) * std_error
  data.frame(
    n_reference = n[[1]], n_other = n[[2]], d = d, bound = bound, p_difference = p_difference,
    p_equivalence = p_equivalence, conf_low = d - half_width, conf_high = d + half_width,
    smallest_bound = abs(d) + half_width, is_possible = half_width < bound,
    finding = finding_of(p_difference < alpha, p_equivalence < alpha)
  )
}

finding_of <- function(is_different, is_equivalent) {
  if (is_different) {
    return(if (is_equivalent) "both" else "different")
  }
  if (is_equivalent) "equivalent" else "undecided"
}

# Cohen's d as effect_size() has it, without its interval.
d_of <- function(reference, other, outcome) {
  (mean(other) - mean(reference)) / sqrt(pooled_variance_of(reference, other, outcome))
}
