#' How much of the variance is by prompt and by word?
#'
#' Shares of the variance components of a model with random intercepts, such as
#' `tokens ~ condition + (1 | wording) + (1 | item)`: what the condition leaves unexplained adds up to 1.
#'
#' @param variances the `variances` of [fit_lme4()].
#' @param by names of the columns that define the groups.
#' @return A data frame with one row per group and variance component: `group`, `variance` (in squared units of the
#'   outcome), `share` (0 to 1).
#' @export
#' @examples
#' variances <- data.frame(
#'   test = "flowers_insects", group = c("item", "wording", "residual"), term = c("intercept", "intercept", "residual"),
#'   variance = c(691, 127, 6714)
#' )
#' check_variance_shares(variances, by = "test")
check_variance_shares <- function(variances, by = NULL) {
  check_columns(variances, c(by, "group", "term", "variance"), to = "share out the variance")
  if (any(!variances$term %in% c("intercept", "residual"))) {
    stop_with(
      "Can't share out the variance: the model has random slopes.",
      "With them the variance is another one in each condition. Take a model like y ~ x + (1 | g) + (1 | h)."
    )
  }
  total <- stats::ave(variances$variance, group_codes(variances, by), FUN = sum)
  cbind(variances[c(by, "group", "variance")], share = variances$variance / total, row.names = NULL)
}
