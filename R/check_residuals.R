#' Are the residuals of a mixed model as it assumes?
#'
#' A linear mixed model takes its residuals for normal and equally spread. Token counts rarely are: they have a floor
#' and a long right tail. This says by how much, for each model; `plot_residuals()` draws it.
#'
#' @inheritParams fit_lme4
#' @param data a data frame with one row per trial; leave refusals out first, as the paper does.
#' @param contrast name of the fixed factor whose sides are compared for spread.
#' @return A data frame with one row per group:
#'   `n` rows; `residual_sd` in units of the outcome; `skewness` and `excess_kurtosis` of the residuals (both 0 if
#'   normal); `qq_correlation` with the normal quantiles (1 if normal); `share_beyond_3`, the share of residuals that
#'   are more than three standard deviations away (.0027 if normal); `largest`, the largest residual in standard
#'   deviations; `sd_ratio`, the residuals' standard deviation in the last level of `contrast` over that in the first;
#'   `spread_correlation`, Spearman's correlation of the absolute residual with the fitted value (0 if equally spread);
#'   `status` and `messages`.
#' @noRd
check_residuals <- function(data, formula = "tokens ~ condition + (1 | wording)", by = NULL,
                            levels = NULL, contrast = "condition") {
  levels <- if (is.null(levels)) stats::setNames(list(levels_of(data, contrast)), contrast) else levels
  maker <- model_maker(data, formula, levels)
  empty <- data.frame(
    n = integer(), residual_sd = double(), skewness = double(), excess_kurtosis = double(), qq_correlation = double(),
    share_beyond_3 = double(), largest = double(), sd_ratio = double(), spread_correlation = double()
  )
  check_each_group(data, by, unique(c(maker$columns, contrast)), empty, function(rows) {
    residuals_in_numbers(maker$fit(rows), as.character(rows[[contrast]]), levels[[contrast]])
  })
}

residuals_in_numbers <- function(model, sides, levels) {
  residual <- unname(stats::residuals(model))
  standardised <- residual / stats::sigma(model)
  spread <- tapply(residual, base::factor(sides, levels = unlist(levels)), stats::sd)
  data.frame(
    n = length(residual), residual_sd = stats::sigma(model), skewness = skewness_of(residual),
    excess_kurtosis = excess_kurtosis_of(residual),
    qq_correlation = stats::cor(sort(residual), stats::qnorm(stats::ppoints(length(residual)))),
    share_beyond_3 = mean(abs(standardised) > 3), largest = max(abs(standardised)),
    sd_ratio = spread[[length(spread)]] / spread[[1]],
    spread_correlation = stats::cor(abs(residual), stats::fitted(model), method = "spearman")
  )
}
