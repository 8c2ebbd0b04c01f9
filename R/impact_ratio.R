#' Adverse impact ratios
#'
#' The rate of each level of an attribute (a group, say) over the highest rate, or over that of the first level, with an
#' interval: the four-fifths rule of the US Uniform Guidelines calls a ratio below .8 evidence of adverse impact. It is
#' below only if its whole interval is.
#'
#' The standard error is that of the logarithm of the ratio (delta method, clusters as in [marginal_means()]); the
#' interval is `exp(log(ratio) ± 1.96 * std_error)`. If the highest level is picked from the data
#' (`against = "highest"`), ratios are biased downwards, the more so the more levels there are. Choices between profiles
#' shown together depend on each other: prefer an outcome that each profile has alone. A rate of 0 has no ratio (`NA`).
#'
#' @inheritParams marginal_means
#' @param outcome name of a column of 0 and 1: selected or not.
#' @param against `"highest"`: the level with the highest rate; `"first"`: the first of the `levels` of the attribute.
#' @return A [slant_fit]. `estimates` has a row per level but the one it is compared with: `estimate` is the ratio,
#'   `std_error` that of its logarithm, `p_value` of the ratio 1 (z). `tables$ratios` has all levels: `attribute`,
#'   `level`, `reference`, `rate`, `n`, `ratio`, `conf_low`, `conf_high`, `is_below_four_fifths`.
#' @source 29 CFR 1607.4 D (Uniform Guidelines on Employee Selection Procedures, 1978).
#' @export
#' @examples
#' profiles <- data.frame(group = rep(c("a", "b"), 100), hired = rep(c(1, 1, 1, 0), 50))
#' impact_ratio(profiles, "hired", "group")$tables$ratios
impact_ratio <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL,
                         against = c("highest", "first"), by = NULL) {
  check_arguments()
  against <- one_of(against, c("highest", "first"), "against")
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, "compute impact ratios", function(rows) {
    if (!all(rows$y %in% 0:1)) stop_with(sprintf("Can't compute impact ratios: \"%s\" must be 0 or 1.", outcome))
    parts <- Map(function(name, cells) ratio_rows(name, cells, rows, against), names(rows$factors), rows$factors)
    ratios <- do.call(rbind, unname(parts))
    others <- ratios[ratios$level != ratios$reference & !is.na(ratios$ratio), , drop = FALSE]
    statistic <- log(others$ratio) / others$std_error
    list(
      estimates = estimate_rows(
        level_terms(others$attribute, others$level), others$ratio, others$std_error, NA_real_, statistic,
        2 * stats::pnorm(-abs(statistic)),
        conf_low = others$conf_low, conf_high = others$conf_high
      ),
      tables_of_group = list(ratios = cbind(
        term = level_terms(ratios$attribute, ratios$level), ratios[names(ratios) != "std_error"]
      ))
    )
  })
}

ratio_rows <- function(name, cells, rows, against) {
  found <- cell_means(cells, rows)
  reference <- if (against == "highest") which.max(found$mean) else 1L
  of_log <- found$covariance / outer(found$mean, found$mean)
  variance <- diag(of_log) + of_log[reference, reference] - 2 * of_log[, reference]
  has_ratio <- found$mean > 0 & found$mean[[reference]] > 0
  ratio <- ifelse(has_ratio, found$mean / found$mean[[reference]], NA_real_)
  is_other <- seq_along(ratio) != reference
  std_error <- ifelse(has_ratio & is_other, sqrt(pmax(0, variance)), NA_real_)
  half_width <- stats::qnorm(.975) * std_error
  conf_high <- ratio * exp(half_width)
  frame_of(
    attribute = rep(name, length(ratio)), level = levels(cells),
    reference = rep(levels(cells)[[reference]], length(ratio)), rate = found$mean, n = found$n, ratio = ratio,
    std_error = std_error, conf_low = ratio * exp(-half_width), conf_high = conf_high,
    is_below_four_fifths = is_other & has_ratio & !is.na(conf_high) & conf_high < .8
  )
}
