#' What speaks for which number of topics
#'
#' The four measures of `stm::searchK()`, a panel each, over the numbers of topics that were tried.
#'
#' @param data a data frame with one row per number of topics, such as `search_topics()` returns or the table
#'   `topic_searches` of the database: `n_topics`, `heldout_likelihood`, `residual_dispersion`, `semantic_coherence`,
#'   `exclusivity`; `source` for the caption.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @noRd
plot_search_k <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- search_to_draw(data_of(data))
  n_columns <- columns_within(width, 2, each_in = 2.6, beside_in = .4)
  .data <- ggplot2::.data
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$n_topics, y = .data$value)) +
    # A line of one point draws nothing but a complaint.
    (if (length(unique(rows$n_topics)) > 1) ggplot2::geom_line(colour = "#0072B2", linewidth = .6)) +
    ggplot2::geom_point(colour = "#0072B2", size = 2) +
    ggplot2::facet_wrap(ggplot2::vars(.data$measure), ncol = n_columns, scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = sort(unique(rows$n_topics))) +
    ggplot2::labs(
      title = "What speaks for which number of topics",
      subtitle = "The measures rarely agree: they are for choosing with the words of the topics in view.",
      x = "Number of topics", y = NULL, caption = caption_of(source_note(rows))
    ) +
    figure_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_line(colour = "grey90"))
  finish_figure(plot, file, search_in_words(rows), width, height, width_in = 8, height_in = 2 + 7.2 / n_columns)
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
    stop_with("Can't draw numbers of topics: one has several rows.", "Keep the rows of one search.")
  }
  kept <- search[intersect(c("n_topics", "source"), names(search))]
  rows <- do.call(rbind, lapply(names(measures), function(name) {
    cbind(kept, measure = measures[[name]], value = search[[name]])
  }))
  rows$measure <- factor(rows$measure, levels = measures)
  rows[!is.na(rows$value), , drop = FALSE]
}

search_in_words <- function(rows) {
  said <- vapply(split(rows, droplevels(rows$measure)), function(one) {
    best <- if (grepl("nearer to 1", one$measure[[1]])) which.min(abs(one$value - 1)) else which.max(one$value)
    sprintf("%s is best with %g topics", sub(" \\(.*", "", one$measure[[1]]), one$n_topics[[best]])
  }, "")
  sprintf(
    "Four measures for %g to %g topics. %s. %s", min(rows$n_topics), max(rows$n_topics), paste(said, collapse = "; "),
    source_note(rows)
  )
}
