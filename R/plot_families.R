#' Do newer and larger models of a family stratify more?
#'
#' The indices of games by family of models, within each family from the older or smaller model on the left to the newer
#' or larger one on the right. Lines join the models of one answer format; they are there for the eye, not a trend.
#'
#' @param data a data frame as for [plot_stratification()], with `family` (rows without one are left out) and `order`
#'   (a number: the place in the family), of one condition. Used if present: `family_label`.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, figure 3.
#' @noRd
plot_families <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  indices <- figure_rows(data, "indices")
  cells <- families_to_draw(indices)
  n_families <- nlevels(cells$family_shown)
  notes <- c(source_note(cells), games_note(cells))
  finish_figure(
    family_panels(cells), file,
    alt_text(
      sprintf(
        "Indices of stratification in %d famil%s of models%s", n_families, if (n_families == 1) "y" else "ies",
        levels_in_words(cells$format_shown, "answer format")
      ),
      notes = c(dots_in_words(cells), notes)
    ),
    width, height, max(7, 1.4 + .45 * n_families + .55 * nrow(unique(cells[c("family_shown", "model_shown")]))),
    2.6 + 1.9 * nlevels(cells$column_shown),
    title = given_title(indices, "Do newer and larger models stratify more?"),
    subtitle = "Within a family newer or larger models stand to the right. Higher: groups are more apart.",
    caption = c(notes, marks_note(cells, has_bands = FALSE))
  )
}

families_to_draw <- function(indices) {
  check_columns(indices, c("family", "order"), to = "draw families")
  rows <- indices[!is.na(indices$family), , drop = FALSE]
  cells <- game_cells(rows, index_labels(), to = "families")
  if (nlevels(cells$variant_shown) > 1) {
    stop_with(
      "Can't draw families: rows of more than one condition.",
      sprintf("Found: %s. Keep one.", quoted(levels(cells$variant_shown)))
    )
  }
  cells$family_shown <- droplevels(ordered_labels(cells, "family"))
  in_order <- unique(as.character(cells$model_shown[order(cells$family_shown, cells$order)]))
  cells$model_shown <- factor(cells$model_shown, in_order)
  # one after another; families have scales of their own
  offsets <- -places_around(nlevels(cells$series_shown), .18)
  cells$x <- as.integer(cells$model_shown) + offsets[as.integer(cells$series_shown)]
  cells
}

family_panels <- function(cells) {
  formats <- levels(cells$series_shown)
  models <- levels(cells$model_shown)
  ggplot2::ggplot(cells) +
    ggplot2::geom_blank(ggplot2::aes(y = 0)) +
    level_lines(cells) +
    curves(cells, "series_shown", size = 2.2, stroke = .8, bar_width = .6) +
    ggplot2::facet_grid(
      ggplot2::vars(.data$column_shown), ggplot2::vars(.data$family_shown),
      scales = "free", space = "free_x", switch = "y",
      labeller = ggplot2::labeller(column_shown = function(labels) wrapped(labels, 22))
    ) +
    ggplot2::scale_x_continuous(breaks = seq_along(models), labels = models, expand = ggplot2::expansion(add = .5)) +
    level_types(cells) +
    colours_and_shapes(length(formats)) +
    ggplot2::guides(
      colour = dots_guide(formats, NULL), shape = dots_guide(formats, NULL),
      linetype = ggplot2::guide_legend(order = 2)
    ) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      panel.grid.major.x = ggplot2::element_blank(),
      axis.text.x = ggplot2::element_text(angle = 35, hjust = 1, colour = "grey10"),
      axis.text.y = ggplot2::element_text(hjust = 1), strip.placement = "outside",
      panel.spacing.y = ggplot2::unit(14, "pt"), strip.text.x = ggplot2::element_text(hjust = 0)
    )
}

# The lines of chance and people: those of a row of panels, whatever the family.
level_lines <- function(cells) {
  level <- function(column, kind) {
    known <- cells[!is.na(cells[[column]]), ]
    means <- tapply(known[[column]], droplevels(known$column_shown), mean)
    columns <- factor(names(means), levels(cells$column_shown))
    data.frame(column_shown = columns, at = as.vector(means), kind = rep(kind, length(means)))
  }
  lines <- rbind(level("random_level", level_kinds(cells)[[1]]), level("human", level_kinds(cells)[[2]]))
  ggplot2::geom_hline(
    ggplot2::aes(yintercept = .data$at, linetype = .data$kind), lines, colour = "grey25", linewidth = .5
  )
}
