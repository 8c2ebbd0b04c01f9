#' Cohen's d, one per group of rows
#'
#' The difference of two means in units of their pooled standard deviation, second level minus first (incompatible
#' minus compatible), as in Table S3 of the RM-IAT paper. Computed in base R, with the numbers of `effsize::cohen.d()`.
#'
#' With sizes n1 and n2, the standard error is `sqrt((n1 + n2) / (n1 * n2) + d^2 / (2 * (n1 + n2)))`, and the 95 %
#' interval is `d ± qt(.975, n1 + n2 - 2) * std_error`.
#'
#' @inheritParams fit_lme4
#' @param outcome name of the numeric column that is compared.
#' @param contrast name of the column that tells the two sides apart.
#' @param levels the two values of `contrast`: the reference first, then the one it is subtracted from.
#' @param save_to path of an `.rds` file for `models`, or `NULL`.
#' @return The same as [fit_lme4()]. `estimates` has one row per group, with the term
#'   `"cohens_d"` and no `statistic` or `p_value` (d is not tested); `variances` holds the pooled variance, in
#'   squared units of the outcome.
#' @export
#' @examples
#' trials <- data.frame(
#'   condition = rep(c("compatible", "incompatible"), each = 4),
#'   tokens = c(64, 128, 64, 192, 128, 256, 192, 192)
#' )
#' effect_size(trials)$estimates
effect_size <- function(data, outcome = "tokens", contrast = "condition", levels = NULL,
                        by = NULL, save_to = NULL) {
  check_arguments()
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  result <- fit_two_sides(data, outcome, contrast, levels, by, save_to, "compute an effect size", function(values) {
    standardised_difference(values[[1]], values[[2]], outcome)
  })
  result$estimates <- with_side_labels(result$estimates, data, contrast, levels)
  result
}

# A fit of `compare(values, ...)`, of the outcomes of both sides of `contrast`, to each group. `to`: ends "Can't …".
fit_two_sides <- function(data, outcome, contrast, levels, by, save_to, to, compare, ...) {
  check_columns(data, c(outcome, contrast, by), to)
  slant_fit(fit_each_group(data, by, c(outcome, contrast), function(rows) {
    check_outcome(rows, outcome)
    compare(sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast), ...)
  }, save_to))
}

# `levels` as two strings; it may come as list(condition = c(…)), the way fit_lme4() takes it.
two_levels <- function(levels, contrast, to = "compute an effect size") {
  values <- if (is.list(levels) && !is.null(levels[[contrast]])) levels[[contrast]] else levels
  values <- as.character(unlist(values))
  if (length(values) != 2 || anyDuplicated(values) > 0) {
    stop_with(
      sprintf("Can't %s: `levels` must be two different values of \"%s\".", to, contrast),
      sprintf("Found: %s.", quoted(values))
    )
  }
  values
}

# Values of the two sides; rows of other levels take no part.
sides <- function(values, labels, levels, contrast) {
  parts <- lapply(levels, function(level) values[labels == level])
  for (i in 1:2) {
    if (length(parts[[i]]) < 2) {
      stop_with(sprintf(
        "\"%s\" must be \"%s\" in at least two rows, but it is in %d.", contrast, levels[[i]], length(parts[[i]])
      ))
    }
  }
  parts
}

standardised_difference <- function(reference, other, outcome) {
  variance <- pooled_variance_of(reference, other, outcome)
  d <- cohens_d(reference, other)
  list(
    estimates = estimate_rows(
      "cohens_d", d$estimate, d$std_error, d$df,
      conf_low = d$conf_low, conf_high = d$conf_high
    ),
    fit = list(n_groups = 2L, singular = FALSE, optimiser = "Cohen's d, pooled variance"),
    variances = data.frame(group = "pooled", term = outcome, variance = variance, n_groups = 2L),
    model = d
  )
}

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
#' @return A data frame of one row: `estimate` (in units of the pooled standard deviation; `NaN` or infinite if no
#'   group varies), `std_error`, `df`, `conf_low`, `conf_high`.
#' @references Cohen, J. (1988). *Statistical power analysis for the behavioral sciences* (2nd ed.). Erlbaum.
#'
#'   Hedges, L. V., & Olkin, I. (1985). *Statistical methods for meta-analysis*. Academic Press.
#' @keywords internal
#' @noRd
cohens_d <- function(reference, other) {
  n <- c(length(reference), length(other))
  df <- sum(n) - 2
  # Standard deviations squared again: plain variances differ from effsize's numbers in the last bit.
  pooled_sd <- sqrt(((n[[1]] - 1) * stats::sd(reference)^2 + (n[[2]] - 1) * stats::sd(other)^2) / df)
  d <- (mean(other) - mean(reference)) / pooled_sd
  std_error <- sqrt(sum(n) / prod(n) + d^2 / (2 * sum(n)))
  half_width <- stats::qt(.975, df) * std_error
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
