#' Average marginal interaction effects of two attributes
#'
#' What a combination of two levels adds to the effects of both, each averaged over the levels of the other with equal
#' weights (Egami & Imai 2019): the mean of the cell, less that of its row and of its column, plus the mean of all
#' cells. It has no reference level, and sums to 0 over each row and column.
#'
#' @inheritParams marginal_means
#' @param attributes the names of two attributes; all their combinations must have been shown.
#' @return A [slant_fit]. `estimates` has a row per combination: `term` is `"first: level x second: level"`.
#' @source Egami & Imai (2019), <https://doi.org/10.1080/01621459.2018.1476246>.
#' @export
#' @examples
#' profiles <- expand.grid(group = c("a", "b"), job = c("clerk", "nurse"), person = 1:20)
#' profiles$rating <- 3 + (profiles$group == "b" & profiles$job == "nurse") + sin(seq_len(nrow(profiles)))
#' amie(profiles, "rating", c("group", "job"), cluster = "person")$estimates
amie <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL) {
  check_arguments()
  if (length(attributes) != 2) stop_with("`attributes` must name two attributes.")
  to <- "compute interaction effects"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, function(rows) {
    names <- lapply(rows$factors, base::levels)
    n <- lengths(names)
    cells <- interaction(rows$factors[[1]], rows$factors[[2]], sep = "\037", lex.order = FALSE)
    if (any(is_empty <- tabulate(cells, nlevels(cells)) == 0)) {
      lacking <- sub("\037", " and ", base::levels(cells)[is_empty], fixed = TRUE)
      stop_with(
        sprintf("Can't compute interaction effects: never shown together: %s.", quoted(lacking)),
        "All combinations are needed."
      )
    }
    found <- cell_means(cells, rows)
    centred <- function(k) diag(k) - 1 / k
    named <- Map(level_terms, attributes, names)
    terms <- as.vector(outer(named[[1]], named[[2]], paste, sep = " x "))
    list(estimates = combined_rows(
      terms, kronecker(centred(n[[2]]), centred(n[[1]])), found$mean, found$covariance, max(rows$cluster)
    ))
  })
}
