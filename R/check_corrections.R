#' Which results are left after correcting for the number of tests?
#'
#' Adjusts the p values of each group (the ten tests of one model) by Holm's method, which keeps the chance of any false
#' finding at `alpha`, and by Benjamini and Hochberg's, which keeps the expected share of false findings there.
#'
#' @param data a data frame with one row per test and the column `p_value`. A missing p takes no part.
#' @param by names of the columns that define the groups that are corrected together.
#' @param alpha the level of significance.
#' @return `estimates` with the columns `n_tests` (tests corrected together), `p_holm`, `p_bh`, `is_significant`,
#'   `is_significant_holm` and `is_significant_bh`.
#' @noRd
check_corrections <- function(data, by = NULL, alpha = .05) {
  check_columns(data, c(by, "p_value"), to = "correct for the number of tests")
  check_alpha(alpha)
  p <- data$p_value
  codes <- group_codes(data, by)
  adjusted <- function(method) stats::ave(p, codes, FUN = function(values) stats::p.adjust(values, method))
  data$n_tests <- as.integer(stats::ave(as.double(!is.na(p)), codes, FUN = sum))
  data$p_holm <- adjusted("holm")
  data$p_bh <- adjusted("BH")
  data$is_significant <- is_significant(p, alpha)
  data$is_significant_holm <- is_significant(data$p_holm, alpha)
  data$is_significant_bh <- is_significant(data$p_bh, alpha)
  as_plain_rows(data)
}
