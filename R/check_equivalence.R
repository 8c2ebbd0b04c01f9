#' Is a null a null? Two one-sided tests
#'
#' That a difference is not significant does not show that it is small. This tests whether Cohen's d lies within
#' `-bound` and `bound`: by two one-sided t tests of the raw difference against the bounds in tokens, which are `bound`
#' times the pooled standard deviation (Lakens, 2017). The 90 % interval (for `alpha` .05) lies within the bounds
#' exactly when the test is significant.
#'
#' Of effects, as [fit_crossed()] has them in its table `effects`, standard errors and degrees of freedom are those over
#' words and wordings: an effect is shown to be small for others than these. Of trials they are those of independent
#' answers, which says something of these words and wordings alone (`generalises_to` is `""`).
#'
#' @inheritParams check_skew
#' @param data a data frame with one row per effect (`estimate`, `std_error`, `df`, `p_value`, `sd`), or one per trial.
#' @param bound the smallest |d| that would matter.
#' @return A data frame with one row per effect or group: `d`, `std_error` (of d), `df`, `bound`; `p_difference` against
#'   0 (of trials: the pooled t test); `p_equivalence`, the larger of the two one-sided p values; `conf_low` and
#'   `conf_high`, the `1 - 2 * alpha` interval of d by the same tests; `smallest_bound`, the bound that could just be
#'   shown; `is_possible`, whether such a study could show equivalence at all, were d exactly 0; `finding`:
#'   `"equivalent within the bound"`, `"differs by more than the bound"` or `"not decided"`; `percentile`, where
#'   the median of one condition lies in the other at the bound (a reason for it, or against it), `generalises_to`;
#'   of trials `status`, `messages`.
#' @references Lakens, D. (2017). Equivalence tests. Social Psychological and Personality Science, 8, 355-362.
#' @noRd
check_equivalence <- function(data, bound = .1, alpha = .05, by = NULL, outcome = "tokens", contrast = "condition",
                              levels = NULL) {
  check_alpha(alpha)
  if (!is.numeric(bound) || length(bound) != 1 || !is.finite(bound) || bound <= 0) {
    stop_with("`bound` must be one number above 0: the smallest |d| that would matter, such as .1.")
  }
  if (all(c("estimate", "std_error", "df", "sd") %in% names(data))) {
    return(equivalence_of_effects(data, by, bound, alpha))
  }
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- two_one_sided_tests(double(), double(), double(), double(), bound, alpha, character())
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    check_outcome(rows, outcome)
    values <- sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast)
    n <- lengths(values)
    std_error <- sqrt(sum(1 / n))
    d <- d_of(values[[1]], values[[2]], outcome)
    p_difference <- 2 * stats::pt(-abs(d / std_error), sum(n) - 2)
    two_one_sided_tests(d, std_error, sum(n) - 2, p_difference, bound, alpha, "")
  })
}

# An effect that could not be fitted has no row.
equivalence_of_effects <- function(data, by, bound, alpha) {
  check_columns(data, c(by, "p_value"), to = "test equivalence")
  data <- data[!is.na(data$estimate) & !is.na(data$std_error), , drop = FALSE]
  over <- if (is.null(data$generalises_to)) rep("wording, item", nrow(data)) else data$generalises_to
  tests <- two_one_sided_tests(
    data$estimate / data$sd, data$std_error / data$sd, data$df, data$p_value, bound, alpha, over
  )
  as_plain_rows(cbind(data[by], tests))
}

two_one_sided_tests <- function(d, std_error, df, p_difference, bound, alpha, generalises_to) {
  p_equivalence <- stats::pt((abs(d) - bound) / std_error, df)
  half_width <- stats::qt(1 - alpha, df) * std_error
  frame_of(
    d = d, std_error = std_error, df = as.double(df), bound = rep(bound, length(d)), p_difference = p_difference,
    p_equivalence = p_equivalence, conf_low = d - half_width, conf_high = d + half_width,
    smallest_bound = abs(d) + half_width, is_possible = half_width < bound,
    finding = verdict_of(d, bound, std_error, df, alpha),
    percentile = rep(100 * stats::pnorm(bound), length(d)), generalises_to = generalises_to
  )
}

# Of the bound alone, in the words of every comparison: two one-sided tests at alpha (the 1 - 2 alpha interval lies
# within the bound), or the 1 - alpha interval lies beyond it. Without an error nothing is decided.
verdict_of <- function(difference, bound, std_error, df, alpha) {
  away <- (abs(difference) - bound) / std_error
  words_of_verdict(
    stats::pt(away, df) < alpha & std_error > 0, stats::pt(away, df, lower.tail = FALSE) < alpha / 2 & std_error > 0
  )
}

words_of_verdict <- function(is_equivalent, is_beyond) {
  ifelse(
    is_equivalent %in% TRUE, "equivalent within the bound",
    ifelse(is_beyond %in% TRUE, "differs by more than the bound", "not decided")
  )
}

# Cohen's d as effect_size() has it, without its interval.
d_of <- function(reference, other, outcome) {
  (mean(other) - mean(reference)) / sqrt(pooled_variance_of(reference, other, outcome))
}
