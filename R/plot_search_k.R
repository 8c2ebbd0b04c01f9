#' What speaks for which number of topics
#'
#' The four measures of `stm::searchK()`, a panel each, over the numbers of topics that were tried.
#'
#' @param data a data frame with one row per number of topics, such as `search_topics()` returns or the table
#'   `topic_searches` of the database: `n_topics`, `heldout_likelihood`, `residual_dispersion`, `semantic_coherence`,
#'   `exclusivity`; `source` for the caption.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_search_k <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- search_to_draw(figure_rows(data))
  n_columns <- columns_within(width, 2, each_in = 2.6, margin_in = .4)
  plot <- ggplot2::ggplot(rows) +
    curves(rows, size = 2, linewidth = .6, alpha = NA) +
    panels_by("measure", n_columns, scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = sort(unique(rows$x))) +
    figure_theme() +
    grid_of_numbers()
  finish_figure(
    plot, file, search_in_words(rows), width, height, 8, 2 + 7.2 / n_columns,
    title = "What speaks for which number of topics",
    subtitle = "The measures rarely agree: they are for choosing with the words of the topics in view.",
    caption = source_note(rows), x = "Number of topics"
  )
}

search_measures <- function() {
  c(
    heldout_likelihood = "Held-out likelihood (higher is better)",
    residual_dispersion = "Dispersion of residuals (nearer to 1 is better)",
    semantic_coherence = "Semantic coherence (higher is better)",
    exclusivity = "Exclusivity (higher is better)"
  )
}

search_to_draw <- function(search) {
  measures <- search_measures()
  check_columns(search, c("n_topics", names(measures)), to = "draw numbers of topics")
  if (nrow(search) == 0) {
    stop_with("Can't draw numbers of topics: none was tried.", "To try some: analyze topics search")
  }
  if (anyDuplicated(search$n_topics) > 0) {
    stop_with("Can't draw numbers of topics: a number has several rows.", "Keep the rows of one search.")
  }
  numbers <- cbind(x = search$n_topics, search[intersect("source", names(search))])
  rows <- do.call(rbind, lapply(names(measures), function(name) {
    cbind(numbers, measure = measures[[name]], at = search[[name]])
  }))
  rows$measure <- factor(rows$measure, levels = measures)
  rows[!is.na(rows$at), , drop = FALSE]
}

search_in_words <- function(rows) {
  best <- vapply(split(rows, droplevels(rows$measure)), function(of_measure) {
    name <- of_measure$measure[[1]]
    at <- of_measure$at
    place <- if (grepl("nearer to 1", name)) which.min(abs(at - 1)) else which.max(at)
    sprintf("%s is best with %g topics", sub(" \\(.*", "", name), of_measure$x[[place]])
  }, "")
  alt_text(
    sprintf("Four measures for %g to %g topics", min(rows$x), max(rows$x)),
    values = best, notes = source_note(rows)
  )
}
