#' One-sample t tests, one per group of rows
#'
#' R's own [stats::t.test()] of the mean of an outcome against a number: of D against 0 (or of decisions against .5), as
#' in Bai et al. (2025). It takes rows as independent; answers to the same pair of names are not, and a mixed model with
#' the pair as a random effect says what is left then.
#'
#' @inheritParams fit_lme4
#' @param outcome name of the numeric column. Rows in which it is missing are left out and counted (`n_missing`).
#' @param mu the number that the mean is tested against, in units of the outcome.
#' @param save_to path of an `.rds` file for the objects of class `htest` (a list named by group), or `NULL`.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per group, with the term `"mean"`: its
#'   estimate, standard error and 95 % interval in units of the outcome, `df` = n - 1, the `statistic` t of the
#'   difference from `mu`, and its two-sided `p_value`. `variances` holds the variance of the outcome. Where the outcome
#'   does not vary (every answer has the same D), t and p are not defined: the mean is given, the rest is `NA`, and a
#'   warning says so. A group with fewer than two rows has no estimate, and a warning.
#' @source Bai et al. (2025), <https://doi.org/10.1073/pnas.2416228122>, results of study 1.
#' @noRd
t_test <- function(data, outcome, by = NULL, mu = 0, save_to = NULL) {
  check_columns(data, c(outcome, by), to = "run a t test")
  if (!is.numeric(mu) || length(mu) != 1 || !is.finite(mu)) stop_with("Can't run a t test: `mu` must be one number.")
  fit_one <- function(rows) {
    if (!is.numeric(rows[[outcome]])) stop_with(sprintf("The outcome \"%s\" must be numbers.", outcome))
    values <- rows[[outcome]]
    fit <- list(n_groups = 1L, singular = FALSE, optimiser = "stats::t.test")
    if (length(values) < 2) {
      warning(sprintf("A t test needs two rows: there is %s.", if (length(values)) "one" else "none"), call. = FALSE)
      return(list(estimates = NULL, fit = fit, variances = NULL, model = NULL))
    }
    estimate <- estimate_rows("mean", mean(values), NA_real_)
    model <- NULL
    if (stats::var(values) == 0) {
      warning(sprintf("The outcome \"%s\" is %s in all rows: t and p are not defined.", outcome, format(values[[1]])),
        call. = FALSE
      )
    } else {
      model <- stats::t.test(values, mu = mu)
      estimate[-(1:2)] <- c(
        model$stderr, model$parameter, model$statistic, model$p.value, model$conf.int[[1]], model$conf.int[[2]]
      )
    }
    variances <- data.frame(group = outcome, term = outcome, variance = stats::var(values), n_groups = length(values))
    list(estimates = estimate, fit = fit, variances = variances, model = model)
  }
  slant_fit(fit_each_group(data, by, outcome, fit_one, save_to))
}
