#' How often intervals hold the truth
#'
#' Counts the intervals that hold the truth, and gives the band in which that share lies by chance if each interval
#' holds it with the probability `level`. Bayesian intervals do so on average over truths that are drawn from the prior,
#' not for any one truth: a prior that pulls towards 0 covers small effects more often and large ones less.
#'
#' @param data a data frame such as [recover_contrasts()]: `truth`, `conf_low`, `conf_high`, and the columns of
#'   `by`.
#' @param by columns to count by. The band holds for data sets that know nothing of each other, so count by model and
#'   test: cells of one data set share their words.
#' @param level what the intervals claim.
#' @param band probability with which the share lies within the band, if they keep what they claim.
#' @return A data frame with one row per group: the columns of `by`, `n`, `n_held`, `coverage`, `band_low`, `band_high`
#'   (shares), `is_in_band`.
#' @export
#' @examples
#' set.seed(1)
#' recovered <- data.frame(truth = 0, estimate = rnorm(100))
#' recovered <- transform(recovered, conf_low = estimate - 1.96, conf_high = estimate + 1.96)
#' interval_coverage(recovered, by = character())
interval_coverage <- function(data, by = c("model", "test"), level = .95, band = .99) {
  check_arguments()
  check_columns(data, c(by, "truth", "conf_low", "conf_high"), to = "count intervals")
  group <- factor(group_codes(data, by))
  first <- data[match(levels(group), group), by, drop = FALSE]
  n <- as.integer(table(group))
  n_held <- as.integer(tapply(holds_truth(data), group, sum))
  limits <- stats::qbinom(rep(c((1 - band) / 2, (1 + band) / 2), each = length(n)), n, level) / n
  counts <- data.frame(
    n, n_held,
    coverage = n_held / n, band_low = limits[seq_along(n)], band_high = limits[-seq_along(n)]
  )
  counts$is_in_band <- counts$coverage >= counts$band_low & counts$coverage <= counts$band_high
  structure(cbind(first, counts), row.names = seq_along(n))
}

holds_truth <- function(rows) rows$conf_low <= rows$truth & rows$truth <= rows$conf_high
