#' How do choices settle while a game is played?
#'
#' By round: how often the chosen group succeeded, was the one chosen last for this class, or was new in this class. A
#' panel for each model. Dots are single rounds, lines their running mean over five.
#'
#' @param data a data frame with one row per model and round, such as the view `allocation_learning_curves` of the
#'   database: `model`, `variant`, `round`, `n_games`, `success_rate`, `n_with_past`, `repeat_rate`, `new_group_rate`
#'   (0 to 1, `NA` if unknown). Used if present: `answer_format`, `n_groups` (for the level of chance), `source`,
#'   `title`, `model_label`, `model_no`, `variant_label`, `variant_no`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_learning_curves <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rounds <- figure_rows(data)
  points <- curves_to_draw(rounds)
  n_panels <- nlevels(points$panel_shown)
  n_columns <- columns_within(width, min(n_panels, 4), each_in = 1.5, margin_in = .5)
  finish_figure(
    curve_panels(points, n_columns), file, curves_in_words(points, rounds), width, height,
    max(7, 1.2 + 2.3 * n_columns), 2.6 + 1.75 * ceiling(n_panels / n_columns),
    title = given_title(rounds, "How do choices settle while a game is played?"),
    subtitle = "Share of games by round. Dots: single rounds; lines: running means over five rounds.",
    caption = c(source_note(rounds), curves_note(points)), x = "Round", y = "Share of games (%)"
  )
}

curve_measures <- function() {
  c(
    success_rate = "Success", repeat_rate = "Same group as last in this class",
    new_group_rate = "New group in this class"
  )
}

# One row a model, format, round (`x`) and measure: per cent (`at`), `n` games and the running mean (`smooth`).
curves_to_draw <- function(rounds) {
  needed <- c("model", "variant", "round", "n_games", "n_with_past", names(curve_measures()))
  check_columns(rounds, needed, to = "draw learning curves")
  rows <- labelled_games(with_absent(rounds, "n_groups", NA_integer_), "draw learning curves")
  keys <- c("model_shown", "variant_shown", "format_shown")
  twice <- "a model has more than one row of a round"
  check_drawn_once(rows, c(keys, "round"), "learning curves", twice, "Keep the rows of one source.")
  rows$panel_shown <- panel_names(
    rows, c("model_shown", if (length(unique(rows$variant_shown)) > 1) "variant_shown")
  )
  points <- do.call(rbind, lapply(names(curve_measures()), function(name) {
    n <- if (name == "repeat_rate") rows$n_with_past else rows$n_games
    cells <- rows[c("panel_shown", "variant_shown", "format_shown", "n_groups")]
    data.frame(cells, x = rows$round, measure = name, n = n, at = 100 * rows[[name]])
  }))
  points <- rows_to_draw(points, "at", !is.na(points$at), "learning curves", "round with a rate")
  points$measure <- factor(points$measure, names(curve_measures()), curve_measures())
  points <- points[order(points$x), ]
  points$format_shown <- droplevels(points$format_shown)
  points$curve <- paste(points$panel_shown, points$format_shown, points$measure, sep = "\r")
  points$smooth <- NA_real_
  for (of_curve in split(seq_len(nrow(points)), points$curve)) {
    points$smooth[of_curve] <- running_mean(points$x[of_curve], points$at[of_curve], points$n[of_curve])
  }
  points
}

# Over the rounds up to two before and after, weighted by games.
running_mean <- function(round, percent, n) {
  vapply(round, function(at) {
    is_near <- abs(round - at) <= 2
    stats::weighted.mean(percent[is_near], n[is_near])
  }, 1)
}

curve_panels <- function(points, n_columns) {
  chance <- unique(points[!is.na(points$n_groups), c("panel_shown", "n_groups")])
  ggplot2::ggplot(points) +
    ggplot2::geom_hline(
      ggplot2::aes(yintercept = 100 / .data$n_groups), chance, colour = "grey35", linetype = "dotted"
    ) +
    curves(points, "measure") +
    panels_by("panel_shown", n_columns) +
    ggplot2::scale_y_continuous(limits = c(0, 100), breaks = c(0, 50, 100)) +
    ggplot2::scale_colour_manual(values = model_colours()[1:3], drop = FALSE) +
    ggplot2::scale_linetype_manual(values = c("solid", "22", "42", "1242", "73")) +
    ggplot2::guides(
      colour = ggplot2::guide_legend(order = 1),
      linetype = if (nlevels(points$format_shown) == 1) "none" else ggplot2::guide_legend(order = 2)
    ) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(hjust = 1),
      legend.box = "vertical", legend.box.just = "left", legend.spacing.y = ggplot2::unit(0, "pt"),
      strip.text = ggplot2::element_text(hjust = 0), panel.spacing = ggplot2::unit(12, "pt")
    )
}

curves_note <- function(points) {
  n_games <- points$n[points$measure != curve_measures()[["repeat_rate"]]]
  c(
    sprintf("%s a round; no intervals are drawn.", counted_range(n_games, "game")),
    "\"Same\" is a share of the games whose class was not new in that round.",
    if (any(!is.na(points$n_groups))) "Dotted: one group of all, as a random choice takes it."
  )
}

curves_in_words <- function(points, rounds) {
  last <- points[stats::ave(points$x, points$curve, FUN = max) == points$x, ]
  of_panels <- vapply(split(last, last$panel_shown, drop = TRUE), function(panel) {
    format <- if (nlevels(points$format_shown) > 1) sprintf(" (%s)", panel$format_shown) else ""
    sprintf(
      "%s: %s", gsub("\n", ", ", as.character(panel$panel_shown[[1]]), fixed = TRUE),
      toString(sprintf("%s%s %.0f", tolower(panel$measure), format, panel$smooth))
    )
  }, "")
  alt_text(
    sprintf("Learning curves, %s", counted(nlevels(points$panel_shown), "panel")),
    "Running means in the last rounds, per cent", of_panels, curves_note(points), source_note(rounds)
  )
}
