#' Welch's t-test of two sides, one per group of rows
#'
#' R's own [stats::t.test()] with unequal variances: the mean of the second level minus that of the first. With
#' `contrast = "is_refusal"` and all tests of a model pooled it is the comparison of the RM-IAT paper's section 3.2:
#' how much longer refusals are than all other answers.
#'
#' @inheritParams effect_size
#' @param contrast name of the column that tells the two sides apart, as text, a factor or `TRUE` and `FALSE`.
#' @param save_to path of an `.rds` file for the objects of class `htest` (a list named by group), or `NULL`.
#' @return The same list of four data frames as [fit_lme4()]. `estimates` has one row per group, with the term
#'   `"mean_difference"`: its estimate, standard error and 95 % interval in units of the outcome (tokens), `df` after
#'   Welch, the `statistic` t and its two-sided `p_value`. `variances` holds the variance of each side (squared units)
#'   and in `n_groups` its number of rows. A group with fewer than two rows on a side has no estimate, and a warning.
#' @source Lee & Lai (2025), section 3.2.
#' @noRd
welch_test <- function(data, outcome = "tokens", contrast = "is_refusal", levels = c("FALSE", "TRUE"), by = NULL,
                       save_to = NULL) {
  levels <- two_levels(levels, contrast, to = "run a Welch test")
  check_columns(data, c(outcome, contrast, by), to = "run a Welch test")
  fit_one <- function(rows) {
    values <- lapply(levels, function(level) rows[[outcome]][as.character(rows[[contrast]]) == level])
    if (any(lengths(values) < 2)) { # a model that hardly ever refuses is no failure: it has nothing to compare
      n <- lengths(values)
      warning(sprintf(
        "A test needs two rows on each side: \"%s\" is %s.", contrast,
        paste(sprintf("\"%s\" in %d", levels[n < 2], n[n < 2]), collapse = " and ")
      ), call. = FALSE)
      fit <- list(n_groups = sum(n > 0), singular = FALSE)
      return(list(estimates = NULL, fit = fit, variances = NULL, model = NULL))
    }
    check_outcome(rows, outcome)
    if (stats::var(values[[1]]) == 0 && stats::var(values[[2]]) == 0) {
      stop_with(sprintf("The outcome \"%s\" does not vary on either side: t is not defined.", outcome))
    }
    test <- stats::t.test(values[[2]], values[[1]], var.equal = FALSE)
    list(
      estimates = estimate_rows(
        "mean_difference", mean(values[[2]]) - mean(values[[1]]), test$stderr, test$parameter, test$statistic,
        test$p.value,
        conf_low = test$conf.int[[1]], conf_high = test$conf.int[[2]]
      ),
      fit = list(n_groups = 2L, singular = FALSE, optimiser = "stats::t.test"),
      variances = data.frame(
        group = levels, term = outcome, variance = vapply(values, stats::var, 1), n_groups = lengths(values)
      ),
      model = test
    )
  }
  slant_fit(fit_each_group(data, by, c(outcome, contrast), fit_one, save_to))
}
