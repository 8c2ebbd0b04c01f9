#' Cohen's d of two independent groups, with its confidence interval
#'
#' In base R, so that the paper's first table can be recomputed without any package. The same numbers as
#' `effsize::cohen.d(other, reference)`, which the paper used (pooled, no correction for small samples, central t):
#' a test compares them wherever that package is installed.
#'
#' With means m1 (`reference`) and m2 (`other`), standard deviations s1, s2 and sizes n1, n2:
#'
#' - `d = (m2 - m1) / sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2))` (Cohen 1988, p. 67);
#' - its standard error is `sqrt((n1 + n2) / (n1 n2) + d^2 / (2 (n1 + n2)))` (Hedges and Olkin 1985, p. 86, for large
#'   samples, with d in place of their unbiased estimate, as effsize has it);
#' - its interval is `d ± t * standard error`, t with `n1 + n2 - 2` degrees of freedom.
#'
#' @param reference,other the outcomes of the two groups, two or more numbers each, none of them missing.
#' @param conf_level the probability that the interval is for.
#' @return A data frame of one row: `estimate` (in units of the pooled standard deviation; `NaN` or infinite if no
#'   group varies), `std_error`, `df`, `conf_low`, `conf_high`.
#' @references Cohen, J. (1988). *Statistical power analysis for the behavioral sciences* (2nd ed.). Erlbaum.
#'
#'   Hedges, L. V., & Olkin, I. (1985). *Statistical methods for meta-analysis*. Academic Press.
#' @keywords internal
#' @noRd
cohens_d <- function(reference, other, conf_level = .95) {
  n <- c(length(reference), length(other))
  df <- sum(n) - 2
  # Standard deviations squared again: plain variances differ from effsize's numbers in the last bit.
  pooled_sd <- sqrt(((n[[1]] - 1) * stats::sd(reference)^2 + (n[[2]] - 1) * stats::sd(other)^2) / df)
  d <- (mean(other) - mean(reference)) / pooled_sd
  std_error <- sqrt(sum(n) / prod(n) + d^2 / (2 * sum(n)))
  half_width <- stats::qt((1 + conf_level) / 2, df) * std_error
  frame_of(estimate = d, std_error = std_error, df = df, conf_low = d - half_width, conf_high = d + half_width)
}

# In squared units of the outcome.
pooled_variance <- function(reference, other) {
  n <- c(length(reference), length(other))
  ((n[[1]] - 1) * stats::var(reference) + (n[[2]] - 1) * stats::var(other)) / (sum(n) - 2)
}

pooled_variance_of <- function(reference, other, outcome) {
  variance <- pooled_variance(reference, other)
  if (variance == 0) {
    stop_with(sprintf("The outcome \"%s\" does not vary within the conditions: d is not defined.", outcome))
  }
  variance
}
