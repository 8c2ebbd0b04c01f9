# The layers and checks that several figures are made of.

# The rows that have a value, or an error that says what is missing, or what stands there twice. `to`: what is drawn.
rows_to_draw <- function(rows, has_value, to, nothing, keys = NULL, twice = NULL, advice = NULL) {
  rows <- rows[has_value, , drop = FALSE]
  if (nrow(rows) == 0) {
    stop_with(sprintf("Can't draw %s: there is no %s.", to, nothing))
  }
  if (!is.null(keys) && anyDuplicated(rows[keys]) > 0) {
    stop_with(sprintf("Can't draw %s: %s.", to, twice), advice)
  }
  rows
}

# A column `…_shown` for each of `ids`: a factor of labels in their order.
with_shown <- function(rows, ids) {
  for (id in ids) rows[[paste0(id, "_shown")]] <- ordered_labels(rows, id)
  rows
}

# Names on the upright axis, the last one on top.
names_on_y <- function(names, margin = .5) {
  ggplot2::scale_y_continuous(
    breaks = seq_along(names), labels = names, limits = c(1 - margin, length(names) + margin), expand = c(0, 0)
  )
}

lines_between <- function(names) {
  ggplot2::geom_hline(yintercept = seq_along(names)[-1] - .5, colour = "grey88", linewidth = .3)
}

zero_line <- function() {
  ggplot2::geom_vline(xintercept = 0, colour = "grey35", linetype = "dashed", linewidth = .4)
}

# Neighbours differ in colour and in shape.
colours_and_shapes <- function(n) {
  list(
    ggplot2::scale_colour_manual(values = recycled_colours(n), drop = FALSE),
    ggplot2::scale_shape_manual(values = recycled_shapes(n), drop = FALSE)
  )
}

# One legend for colour and shape.
one_legend <- function(...) ggplot2::guides(colour = ggplot2::guide_legend(...), shape = ggplot2::guide_legend(...))

# Level lines where the upright axis has numbers.
grid_of_numbers <- function() ggplot2::theme(panel.grid.major.y = ggplot2::element_line(colour = "grey92"))

# "2 tests and 3 models", for the texts that stand for a figure.
counted_shown <- function(rows, ids) {
  n <- vapply(rows[paste0(ids, "_shown")], nlevels, 1L)
  all_in_words(mapply(counted, n, ids, USE.NAMES = FALSE))
}
