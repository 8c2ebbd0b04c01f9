#' What the indices of games measure, as figures
#'
#' SI, BGD and GASI of games whose structure is known, each against the probability `p` with which groups keep to a
#' class of jobs of their own: see [simulate_structured_games()].
#'
#' @param data a data frame with one row per index and value of `p`, such as [controlled_indices()]: `index`, `p`,
#'   `estimate`, `conf_low`, `conf_high`, `boot_low`, `boot_high` (drawn where there is no t interval). Used if
#'   present: `n_games`, `source`.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, figures 9, 10 and 11.
#' @noRd
plot_controlled_indices <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  cells <- controlled_to_draw(figure_rows(data, "indices"))
  n_columns <- columns_within(width, nlevels(cells$column_shown), each_in = 1.6, margin_in = .5)
  plot <- ggplot2::ggplot(cells) +
    ggplot2::geom_blank(ggplot2::aes(y = 0)) +
    curves(cells) +
    panels_by(
      "column_shown", n_columns,
      scales = "free_y", labeller = ggplot2::as_labeller(function(labels) wrapped(labels, 24))
    ) +
    ggplot2::scale_x_continuous(breaks = seq(0, 1, .2), labels = function(at) sprintf("%g", at)) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(hjust = 1),
      panel.spacing.x = ggplot2::unit(18, "pt"), strip.text = ggplot2::element_text(hjust = 0)
    )
  finish_figure(
    plot, file, controlled_in_words(cells), width, height, 9,
    1.7 + 2.5 * ceiling(nlevels(cells$column_shown) / n_columns),
    title = "Do the indices follow a structure that is known?",
    subtitle = "SI, BGD: groups keep to a class of jobs with probability p. GASI: games share one mapping with it.",
    caption = c("Simulated games: nobody was asked.", games_note(cells), marks_note(cells), structure_note(cells)),
    x = "Probability p"
  )
}

controlled_to_draw <- function(indices) {
  needed <- c("index", "p", "estimate", "conf_low", "conf_high", "boot_low", "boot_high")
  check_columns(indices, needed, to = "draw controlled indices")
  # each value of p takes the place of a model
  indices$model <- sprintf("p = %s", indices$p)
  indices$variant <- "structured"
  cells <- game_cells(indices, index_labels(), to = "controlled indices")
  cells$x <- cells$p
  cells
}

structure_note <- function(cells) {
  if ("si" %in% cells$index) {
    paste(
      "Groups may share a class in the experiment on SI, and classes that no group has are not drawn: at p = 0 it",
      "therefore lies above the level of chance."
    )
  }
}

controlled_in_words <- function(cells) {
  ends <- vapply(split(cells, cells$column_shown), function(index) {
    index <- index[order(index$p), ][c(1, nrow(index)), ]
    sprintf(
      "%s goes from %.2f at p = %g to %.2f at p = %g", short_names(as.character(index$column_shown[[1]])),
      index$at[[1]], index$p[[1]], index$at[[2]], index$p[[2]]
    )
  }, "")
  alt_text(
    "Indices of simulated games against how closely groups keep to a class of jobs",
    values = ends, notes = games_note(cells)
  )
}
