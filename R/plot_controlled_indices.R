#' What the indices of games measure, as figures
#'
#' SI, BGD and GASI of games whose structure is known, each against the probability `p` with which groups keep to a
#' class of jobs of their own: see [simulate_structured_games()].
#'
#' @param data a data frame with one row per index and value of `p`, such as [controlled_indices()]: `index`, `p`,
#'   `estimate`, `conf_low`, `conf_high`, `boot_low`, `boot_high` (drawn where there is no t interval). Used where
#'   there: `n_games`, `source`.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @source Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases Through Adaptive Exploration,
#'   figures 9, 10 and 11.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot_controlled_indices(controlled_indices(p = c(0, .5, 1), n_games = 5, n_draws = 20))
plot_controlled_indices <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  indices <- data_of(data, "indices")
  needed <- c("index", "p", "estimate", "conf_low", "conf_high", "boot_low", "boot_high")
  check_columns(indices, needed, to = "draw controlled indices")
  # each value of p takes the place of a model
  indices$model <- sprintf("p = %s", indices$p)
  indices$variant <- "structured"
  cells <- game_cells(indices, index_labels(), to = "controlled indices")
  n_columns <- columns_within(width, nlevels(cells$column_shown), each_in = 1.6, beside_in = .5)
  n_rows <- ceiling(nlevels(cells$column_shown) / n_columns)
  .data <- ggplot2::.data
  plot <- ggplot2::ggplot(cells, ggplot2::aes(x = .data$p, y = .data$estimate)) +
    ggplot2::geom_blank(ggplot2::aes(y = 0)) +
    ggplot2::geom_line(colour = "#0072B2", linewidth = .4, alpha = .5) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$low, ymax = .data$high), data = cells[!is.na(cells$low), ], colour = "#0072B2"
    ) +
    ggplot2::geom_point(colour = "#0072B2", size = 1.8) +
    ggplot2::facet_wrap(
      ggplot2::vars(.data$column_shown),
      ncol = n_columns, scales = "free_y",
      labeller = ggplot2::as_labeller(function(labels) wrapped(labels, 24))
    ) +
    ggplot2::scale_x_continuous(breaks = seq(0, 1, .2), labels = function(at) sprintf("%g", at)) +
    figure_theme() +
    ggplot2::theme(
      panel.grid.major.y = ggplot2::element_line(colour = "grey92"), axis.text.y = ggplot2::element_text(hjust = 1),
      panel.spacing.x = ggplot2::unit(18, "pt"), strip.text = ggplot2::element_text(hjust = 0)
    ) +
    ggplot2::labs(
      title = "Do the indices follow a structure that is known?",
      subtitle = "SI, BGD: groups keep to a class of jobs with probability p. GASI: games share one mapping with it.",
      x = "Probability p", y = NULL,
      caption = caption_of(
        "Simulated games: nobody was asked.", games_note(cells), marks_note(cells), structure_note(cells)
      )
    )
  finish_figure(plot, file, controlled_in_words(cells), width, height, width_in = 9, height_in = 1.7 + 2.5 * n_rows)
}

structure_note <- function(cells) {
  if (!"si" %in% cells$index) {
    return(NULL)
  }
  paste(
    "Groups may share a class in the experiment on SI, and classes that no group has are not drawn: at p = 0 it",
    "therefore lies above the level of chance."
  )
}

controlled_in_words <- function(cells) {
  each <- vapply(split(cells, cells$column_shown), function(one) {
    one <- one[order(one$p), ]
    ends <- one[c(1, nrow(one)), ]
    sprintf(
      "%s goes from %.2f at p = %g to %.2f at p = %g", short_names(as.character(one$column_shown[[1]])),
      ends$estimate[[1]], ends$p[[1]], ends$estimate[[2]], ends$p[[2]]
    )
  }, "")
  sprintf(
    "Indices of simulated games against how closely groups keep to a class of jobs. %s. %s",
    paste(each, collapse = "; "), paste(games_note(cells), collapse = " ")
  )
}
