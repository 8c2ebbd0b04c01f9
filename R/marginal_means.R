#' Marginal means of the levels of attributes
#'
#' The mean of an outcome over all profiles that show a level, for each level of each attribute of a conjoint, a
#' vignette study or an audit: what Leeper, Hobolt & Tilley (2020) recommend for describing preferences and for
#' comparing groups, as no level is a reference.
#'
#' With weights w, the mean of a level is `sum(w * y) / sum(w)` over its rows, and each row changes it by
#' `w * (y - mean) / sum(w)`; the standard error is the root of the sum over clusters of the squared sums of these
#' changes, times G / (G - 1) with G clusters. Intervals are of t with G - 1 degrees of freedom.
#'
#' @param data a data frame with one row per profile (or vignette).
#' @param outcome name of a numeric column: a choice as 0 or 1, or a rating. Rows in which a column that is used is
#'   missing are left out and counted (`n_missing` of `fits`).
#' @param attributes names of the columns with the levels that were shown.
#' @param cluster name of the column of what rows have in common (the respondent: person, persona, template), or
#'   `NULL`: rows are independent. One model is one respondent: its answers to many wordings cluster by wording.
#' @param weights name of a column of weights, or `NULL`.
#' @param levels a list by attribute of its levels in their order; if not given, those of a factor, or in alphabetical
#'   order.
#' @param by names of the columns that tell groups of rows apart, or `NULL`.
#' @return A [slant_fit]. `estimates` has a row per level: `term` is `"attribute: level"`, `estimate` its mean in units
#'   of the outcome, `std_error`, `df`, `conf_low` and `conf_high` (95 %); nothing is tested. `tables$levels` adds
#'   `attribute`, `level` and `n` (rows).
#' @source Leeper, Hobolt & Tilley (2020), <https://doi.org/10.1017/pan.2019.30>; the numbers are those of their package
#'   cregg 0.3.7.
#' @export
#' @examples
#' profiles <- data.frame(
#'   person = rep(1:50, each = 4), group = rep(c("a", "b"), 100), job = rep(c("nurse", "clerk"), each = 2, times = 50)
#' )
#' profiles$chosen <- as.integer(seq_len(200) %% 3 == 0)
#' marginal_means(profiles, "chosen", c("group", "job"), cluster = "person")$estimates
marginal_means <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL) {
  check_arguments()
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, "compute marginal means", function(rows) {
    parts <- Map(function(name, cells) {
      found <- cell_means(cells, rows)
      terms <- level_terms(name, levels(cells))
      estimates <- combined_rows(
        terms, diag(length(terms)), found$mean, found$covariance, max(rows$cluster),
        is_tested = FALSE
      )
      list(
        estimates = estimates,
        levels = frame_of(term = terms, attribute = rep(name, length(terms)), level = levels(cells), n = found$n)
      )
    }, names(rows$factors), rows$factors)
    list(
      estimates = do.call(rbind, lapply(unname(parts), `[[`, "estimates")),
      tables_of_group = list(levels = do.call(rbind, lapply(unname(parts), `[[`, "levels")))
    )
  })
}
