#' How much of the variance is by prompt and by word?
#'
#' Shares of the variance components of a model with random intercepts, such as
#' `tokens ~ condition + (1 | wording) + (1 | item)`: what the condition leaves unexplained adds up to 1.
#'
#' @param data the `variances` of [fit_lme4()].
#' @param by names of the columns that define the groups.
#' @return A data frame with one row per group and variance component: `group`, `variance` (in squared units of the
#'   outcome), `share` (0 to 1).
#' @noRd
check_variance_shares <- function(data, by = NULL) {
  check_columns(data, c(by, "group", "term", "variance"), to = "share out the variance")
  if (any(!data$term %in% c("intercept", "residual"))) {
    stop_with(
      "Can't share out the variance: the model has random slopes.",
      "With them the variance is another one in each condition. Take a model like y ~ x + (1 | g) + (1 | h)."
    )
  }
  total <- stats::ave(data$variance, group_codes(data, by), FUN = sum)
  cbind(data[c(by, "group", "variance")], share = data$variance / total, row.names = NULL)
}
