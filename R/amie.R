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
amie <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, by = NULL, declared = NULL,
                 correction = c("small_sample", "cregg")) {
  check_arguments()
  correction <- one_of(correction, small_or_cregg, "correction")
  if (length(attributes) != 2) stop_with("`attributes` must name two attributes.")
  to <- "compute interaction effects"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, declared = declared, function(rows) {
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
    own <- rows_of(rows, attributes[[fewer_clusters(rows)]])
    if (is_alone(cells, own$choice$codes)) own$choice <- cluster_within_cells(own, cells)
    centred <- function(k) diag(k) - 1 / k
    weights <- kronecker(centred(n[[2]]), centred(n[[1]]))
    others <- list()
    if (is_nested(cells, own$choice$codes[[1]])) others <- rows_crossed_with(cells, rows, attributes)
    model <- cell_regression(c(list(cells = cells), others), own)
    others <- matrix(0, nrow(weights), length(model$estimates) - ncol(weights))
    contrasts <- cbind(0, weights[, -1, drop = FALSE], others)
    found <- contrast_error(model, contrasts, cells, own$choice, correction, TRUE, counts = FALSE)
    named <- Map(level_terms, attributes, names)
    terms <- as.vector(outer(named[[1]], named[[2]], paste, sep = " x "))
    list(estimates = rows_of_contrasts(terms, contrasts, model, found$error))
  })
}

# The attribute whose levels were seen in fewer clusters, of both.
fewer_clusters <- function(rows) {
  least <- vapply(names(rows$factors), function(name) {
    min(clusters_at_levels(rows$factors[[name]], rows$choices[[name]]$codes[[1]]))
  }, 1L)
  which.min(least)
}

# Where a combination is one cluster (a job of a name), what is left are prompts, or else rows.
cluster_within_cells <- function(rows, cells) {
  if (!is.null(rows$prompts) && !is_alone(cells, list(rows$prompts))) {
    reason <- "a combination is one item"
    return(list(codes = list(rows$prompts), columns = "prompt", reason = reason, is_property = FALSE))
  }
  independent_rows(data.frame(y = rows$y), "a combination is one item")
}

rows_crossed_with <- function(cells, rows, attributes) {
  others <- rows$cells[setdiff(names(rows$cells), c(attributes, unlist(rows$properties[attributes])))]
  Filter(function(other) nlevels(other) > 1 && all(table(cells, other) > 0), others)
}
