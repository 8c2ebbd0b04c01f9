#' Mixed models as the paper prints them
#'
#' One row per model and test with the numbers of Tables S6 to S10 of the RM-IAT paper. The paper prints one table per
#' model; here they stand below each other.
#'
#' @param fit what [fit_lme4()] returned for `tokens ~ condition + (1 | wording)`, or another formula with one effect of
#'   the condition and one random intercept.
#' @param effect begin of the name of the effect that is shown next to the intercept.
#' @return A data frame that begins with the columns of groups: `intercept` and `intercept_std_error`, `condition`,
#'   `condition_std_error` and `stars` (all in units of the outcome; stars at p < .05, .01, .001), `var_prompt` and
#'   `var_residual` (variances, squared units), `n` rows, `log_lik` (REML). Nothing is rounded. A fit that failed has
#'   `NA` in all of them but `n`.
#' @source Lee & Lai (2025), Tables S6 to S10.
#' @export
#' @examples
#' fit <- fit_lme4(
#'   subset(simulate_trials(), is_valid), "tokens ~ condition + (1 | wording)",
#'   by = c("model", "test"), levels = list(condition = c("compatible", "incompatible"))
#' )
#' table <- mixed_model_table(fit)
#' print(table, digits = 4)
mixed_model_table <- function(fit, effect = "condition") {
  if (!inherits(fit, "slant_fit") || !is.data.frame(fit$estimates)) {
    stop_with(sprintf("`fit` must be a fit, as fit_lme4() returns, but is %s.", in_short(fit)))
  }
  if (!is_text(effect)) {
    stop_with(sprintf("`effect` must be the name of a column, but is %s.", in_short(effect)))
  }
  keys <- fit$fits[setdiff(names(fit$fits), names(empty_table("fits")))]
  # The value of the first row of each group that `is_row` marks.
  of_group <- function(table, is_row, column) {
    rows <- table[is_row, , drop = FALSE]
    rows[[column]][match(group_labels(keys), group_labels(rows[names(keys)]))]
  }
  is_intercept <- fit$estimates$term == "intercept"
  is_effect <- startsWith(fit$estimates$term, effect)
  is_residual <- fit$variances$group == "residual"
  p_value <- of_group(fit$estimates, is_effect, "p_value")
  data.frame(
    keys,
    intercept = of_group(fit$estimates, is_intercept, "estimate"),
    intercept_std_error = of_group(fit$estimates, is_intercept, "std_error"),
    condition = of_group(fit$estimates, is_effect, "estimate"),
    condition_std_error = of_group(fit$estimates, is_effect, "std_error"),
    stars = ifelse(is.na(p_value), NA, strrep("*", (p_value < .05) + (p_value < .01) + (p_value < .001))),
    var_prompt = of_group(fit$variances, !is_residual, "variance"),
    var_residual = of_group(fit$variances, is_residual, "variance"),
    n = fit$fits$n, log_lik = fit$fits$log_lik, check.names = FALSE
  )
}

# One text per row that no other combination of these columns has.
group_labels <- function(keys) {
  lengths <- lapply(unname(as.list(keys)), function(column) paste0(nchar(as.character(column)), ":", column))
  if (length(lengths) == 0) rep("all", nrow(keys)) else do.call(paste, lengths)
}
