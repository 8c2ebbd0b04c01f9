#' Difference of trimmed means, one per group of rows
#'
#' Yuen's test: the means of two sides without the lowest and the highest fifth of each, compared with winsorised
#' variances and Welch's degrees of freedom. Few very long answers, as token counts have them, hardly move it.
#'
#' Of n rows of a side, `floor(trim * n)` are cut off at either end. The standard error is
#' `sqrt(sum((n - 1) * winsorised variance / (h * (h - 1))))` over both sides, with h the rows that are left.
#'
#' @inheritParams effect_size
#' @param trim the share that is cut off at either end of each side, from 0 (Welch's test) to below .5.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per group, with the term
#'   `"trimmed_difference"`: second level minus first, in units of the outcome, with Yuen's t and its `df`. `variances`
#'   holds the winsorised variance of each side and in `n_groups` its number of rows before trimming.
#' @source Yuen (1974), The two-sample trimmed t for unequal population variances, Biometrika 61, 165-170.
#' @noRd
trimmed_difference <- function(data, outcome = "tokens", contrast = "condition",
                               levels = NULL, by = NULL, trim = .2, save_to = NULL) {
  to <- "compare trimmed means"
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to)
  if (!is.numeric(trim) || length(trim) != 1 || is.na(trim) || trim < 0 || trim >= .5) {
    stop_with(sprintf("Can't %s: `trim` must be a number of at least 0 and below .5.", to))
  }
  fit_two_sides(data, outcome, contrast, levels, by, save_to, to, yuen_test, levels, outcome, trim)
}

yuen_test <- function(values, levels, outcome, trim) {
  trimmed <- lapply(values, trimmed_side, trim = trim)
  part <- function(name) vapply(trimmed, `[[`, 1, name)
  error <- part("squared_error")
  if (sum(error) == 0) {
    stop_with(sprintf("The outcome \"%s\" does not vary on either side once it is trimmed: t is not defined.", outcome))
  }
  difference <- trimmed[[2]]$mean - trimmed[[1]]$mean
  std_error <- sqrt(sum(error))
  df <- sum(error)^2 / sum(error^2 / (part("n_left") - 1))
  list(
    estimates = tested_rows("trimmed_difference", difference, std_error, df),
    fit = list(n_groups = 2L, singular = FALSE, optimiser = sprintf("Yuen, trim %s", format(trim))),
    variances = data.frame(
      group = levels, term = outcome, variance = part("winsorised"), n_groups = as.integer(lengths(values))
    ),
    model = trimmed
  )
}

# One side: its trimmed mean, winsorised variance, squared standard error, and the number of rows that are left.
trimmed_side <- function(values, trim) {
  n <- length(values)
  cut <- floor(trim * n)
  sorted <- sort(values)
  n_left <- n - 2 * cut
  if (n_left < 2) {
    stop_with(sprintf("A trimmed mean needs two rows on each side, but of %d there are %d left.", n, n_left))
  }
  limits <- sorted[c(cut + 1, n - cut)]
  winsorised <- stats::var(pmin(pmax(sorted, limits[[1]]), limits[[2]]))
  list(
    mean = mean(sorted[(cut + 1):(n - cut)]), winsorised = winsorised, n_left = n_left,
    squared_error = (n - 1) * winsorised / (n_left * (n_left - 1))
  )
}

#' Difference of medians, one per group of rows
#'
#' The median of the second level minus that of the first, with a percentile bootstrap: each side is drawn again with
#' replacement `n_draws` times. Unlike formulas for the standard error of a median, this holds where many counts are the
#' same, as where a provider counts in steps of 64; then the medians take few values, and the interval may be as wide as
#' nothing.
#'
#' Same rows in the same order, same seed: same numbers, on every machine and from both languages. The random numbers
#' of the session stay as they were.
#'
#' @inheritParams effect_size
#' @param n_draws number of bootstrap samples.
#' @param seed of the draws, a whole number; each group starts from it again.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per group, with the term
#'   `"median_difference"` in units of the outcome: `std_error` is the standard deviation of the drawn differences,
#'   `conf_low` and `conf_high` are their 2.5 % and 97.5 % quantiles (R's type 7), `p_value` is twice the smaller share
#'   of draws on one side of 0 (those at 0 count half; at least `1 / n_draws`). No `statistic`, no `df`. `variances` is
#'   empty.
#' @source Wilcox (2012), Introduction to Robust Estimation and Hypothesis Testing, section 5.4.2.
#' @noRd
median_difference <- function(data, outcome = "tokens", contrast = "condition", levels = NULL, by = NULL,
                              n_draws = 2000, seed = 20250930, save_to = NULL) {
  check_arguments(more = list(n_draws = argument_kinds$whole(2)))
  to <- "compare medians"
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to)
  fit_two_sides(data, outcome, contrast, levels, by, save_to, to, function(values) {
    drawn <- with_seed(seed, drawn_medians(values, n_draws))
    interval <- unname(stats::quantile(drawn, c(.025, .975)))
    if (interval[[1]] == interval[[2]]) {
      message("The counts are so much alike that the medians differ by the same in nearly all draws.")
    }
    below <- mean(drawn < 0) + mean(drawn == 0) / 2
    list(
      estimates = estimate_rows(
        "median_difference", stats::median(values[[2]]) - stats::median(values[[1]]), stats::sd(drawn),
        p_value = min(1, max(2 * min(below, 1 - below), 1 / length(drawn))), conf_low = interval[[1]],
        conf_high = interval[[2]]
      ),
      fit = list(
        n_groups = 2L, singular = FALSE,
        optimiser = sprintf("percentile bootstrap, %d draws, seed %s", length(drawn), format(seed))
      ),
      model = drawn
    )
  })
}

drawn_medians <- function(values, n_draws) {
  one_side <- function(side) {
    vapply(seq_len(n_draws), function(i) stats::median(side[sample.int(length(side), replace = TRUE)]), 1)
  }
  reference <- one_side(values[[1]])
  one_side(values[[2]]) - reference
}
