#' Are all answers of a condition alike?
#'
#' Where all or none of the answers of a cell are the same, a logistic model has no finite estimate by likelihood, and
#' one with priors gives what the priors say. What such a cell can be is bounded by its exact interval.
#'
#' @inheritParams check_missing_bounds
#' @return A data frame with one row per group and condition: `condition`; `n` valid answers; `n_true`; `rate` with
#'   `conf_low` and `conf_high` (the exact 95 % interval of Clopper and Pearson); `is_separated` (the rate is 0 or 1);
#'   `status`, `messages`.
#' @references Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case
#'   of the binomial. Biometrika, 26, 404-413. Albert, A. & Anderson, J. A. (1984). On the existence of maximum
#'   likelihood estimates in logistic regression models. Biometrika, 71, 1-10.
#' @noRd
check_separation <- function(data, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, outcome, to = "look for separated cells")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- data.frame(
    condition = character(), n = integer(), n_true = integer(), rate = double(), conf_low = double(),
    conf_high = double(), is_separated = logical()
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    by_condition(rows, contrast, levels, function(of_condition) {
      y <- zeros_and_ones(of_condition[[outcome]], outcome)
      limits <- stats::binom.test(sum(y), length(y))$conf.int
      data.frame(
        n = length(y), n_true = sum(y), rate = mean(y), conf_low = limits[[1]], conf_high = limits[[2]],
        is_separated = sum(y) %in% c(0, length(y))
      )
    })
  })
}
