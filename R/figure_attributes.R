# What the figures of attributes share: a row per level under the name of its attribute, in the order of the rows.

# `rows`: `attribute` and `level` (or a term "attribute: level"), `at`, `low`, `high`, and `model` or not.
attribute_figure_rows <- function(rows) {
  if (!all(c("attribute", "level") %in% names(rows))) {
    at <- regexpr(": ", rows$term, fixed = TRUE)
    rows$attribute <- substr(rows$term, 1, at - 1)
    rows$level <- substr(rows$term, at + 2, nchar(rows$term))
  }
  rows$attribute_shown <- ordered_labels(rows, "attribute")
  levels(rows$attribute_shown) <- gsub("_", " ", levels(rows$attribute_shown), fixed = TRUE)
  rows$level_shown <- ordered_labels(rows, "level")
  rows$model_shown <- ordered_labels(with_cells(rows, "model"), "model")
  rows
}

# Dots with intervals, a panel an attribute, the first level on top; `reference`: a dashed line there, or NULL. With
# `floors`, rows have `panel`, of which each is a column, and `floor_low` to `floor_high`, shaded under their dots. Only
# those that `is_marked` have a dot.
attribute_dots <- function(rows, reference = NULL, floors = FALSE, is_marked = TRUE) {
  n_models <- nlevels(rows$model_shown)
  look <- if (n_models > 1) "model_shown"
  # the first model on top, too
  dodge <- ggplot2::position_dodge2(width = .6, reverse = TRUE)
  marked <- rows
  marked$at[!is_marked] <- NA
  colour <- if (is.null(look)) list(colour = model_colours()[[1]]) else list()
  mapped <- if (is.null(look)) {
    ggplot2::aes(x = .data$at, y = .data$level_shown, xmin = .data$low, xmax = .data$high)
  } else {
    ggplot2::aes(
      x = .data$at, y = .data$level_shown, xmin = .data$low, xmax = .data$high, colour = .data[[look]],
      shape = .data[[look]]
    )
  }
  ggplot2::ggplot(rows, mapped) +
    (if (!is.null(reference)) {
      ggplot2::geom_vline(xintercept = reference, colour = "grey35", linetype = "dashed", linewidth = .4)
    }) +
    (if (floors) {
      floor <- ggplot2::aes(xmin = .data$floor_low, xmax = .data$floor_high, group = .data$model_shown)
      ggplot2::geom_linerange(floor, position = dodge, linewidth = 3, colour = "grey82", na.rm = TRUE)
    }) +
    do.call(ggplot2::geom_linerange, c(list(position = dodge, linewidth = .6, na.rm = TRUE), colour)) +
    do.call(
      ggplot2::geom_point, c(list(data = marked, position = dodge, size = 2, stroke = .9, na.rm = TRUE), colour)
    ) +
    (if (!is.null(look)) {
      c(colours_and_shapes(n_models), list(one_legend(nrow = ceiling(n_models / 4))))
    }) +
    ggplot2::scale_y_discrete(limits = rev) +
    ggplot2::facet_grid(
      rows = ggplot2::vars(.data$attribute_shown), cols = if (floors) ggplot2::vars(.data$panel),
      scales = if (floors) "free" else "free_y", space = "free_y", switch = "y"
    ) +
    figure_theme() +
    ggplot2::theme(
      strip.placement = "outside", strip.text.y.left = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1),
      panel.spacing = grid::unit(8, "pt"), panel.grid.major.y = ggplot2::element_line(colour = "grey94")
    )
}

# Such dots as a figure with its words: `what` they are, `of` what; `notes` end the words. `...`: as finish_figure().
attribute_figure <- function(plot, rows, what, notes, file, width, height, ..., of = counted_levels(rows),
                             height_in = inches_by_level(rows)) {
  words <- alt_text(
    sprintf("%s with 95 %% intervals for %s", what, of), "The lowest and the highest", extremes_in_words(rows),
    notes = notes
  )
  finish_figure(plot, file, words, width, height, 8, height_in, ...)
}

inches_by_level <- function(rows) {
  n_levels <- nrow(unique(rows[c("attribute_shown", "level_shown")]))
  2.2 + n_levels * max(.24, .13 * (nlevels(rows$model_shown) + 1)) + .15 * nlevels(rows$attribute_shown)
}

counted_levels <- function(rows) {
  sprintf(
    "%s of %s", counted(nrow(unique(rows[c("attribute_shown", "level_shown")])), "level"),
    counted(nlevels(rows$attribute_shown), "attribute")
  )
}

check_figure_columns <- function(rows, columns) {
  check_columns(rows, columns, to = "draw")
  if (nrow(rows) == 0) stop_with("Can't draw: there are no rows.")
}
