#' Do replays of fitted policies settle as the games did?
#'
#' By round, in a panel for each policy: how often the chosen group succeeded, was the one chosen last for this class,
#' or was new in this class. Lines are the games, bands the middle 95 % of their replays, both as running means over
#' five rounds. A policy that describes the choices has the lines within its bands.
#'
#' @param data a data frame with one row per policy, measure and round, such as the view `replayed_curves` of the
#'   database, or a fit of `"policies"` or `"learning"`: `measure` (`success`, `repeated`, `new_group`), `round`,
#'   `observed`, `conf_low`, `conf_high` (0 to 1). Used if present: `policy`, `passes`, `n_games`, `n_groups` (for the
#'   level of chance), `source`, `model`, `model_label`, `model_no`, `title`. Several models have panels of their own.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_replayed_curves <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "curves")
  points <- replays_to_draw(rows)
  n_panels <- nlevels(points$panel_shown)
  n_columns <- columns_within(width, min(n_panels, 4), each_in = 1.5, margin_in = .5)
  finish_figure(
    replay_panels(points, n_columns), file, replays_in_words(points, rows), width, height,
    max(7, 1.2 + 2.3 * n_columns), 2.9 + 1.75 * ceiling(n_panels / n_columns),
    title = given_title(rows, replays_title(points)),
    subtitle = "Share of games by round, running means over five. Lines: the games; bands: 95 % of replays.",
    caption = c(source_note(rows), replays_note(points)), x = "Round", y = "Share of games (%)"
  )
}

replayed_measures <- function() {
  stats::setNames(unname(curve_measures()), c("success", "repeated", "new_group"))
}

# One row a panel, measure and round, per cent: `at` of the games, `low` and `high` of their replays.
replays_to_draw <- function(rows) {
  needed <- c("measure", "round", "observed", "conf_low", "conf_high")
  check_columns(rows, needed, to = "draw replays")
  rows <- with_absent(rows, "policy", "hierarchical learner")
  rows <- with_absent(rows, c("passes", "n_games", "n_groups"), NA)
  rows <- with_cells(rows, "model")
  rows$model_shown <- ordered_labels(rows, "model")
  rows <- rows[rows$measure %in% names(replayed_measures()), , drop = FALSE]
  rows <- with_intervals(rows, rows$observed, scale = 100)
  rows$policy_shown <- policy_labels(rows)
  keys <- c("model_shown", "policy_shown", "measure", "round")
  rows <- rows_to_draw(
    rows, keys, !is.na(rows$at) & !is.na(rows$low), "replays", "round of replays", keys,
    "a policy has more than one row of a round", "Keep the rows of one variant and fit of each model."
  )
  rows$panel_shown <- panel_names(rows, c("policy_shown", if (nlevels(rows$model_shown) > 1) "model_shown"))
  rows$measure <- factor(rows$measure, names(replayed_measures()), replayed_measures())
  rows[order(rows$round), ]
}

# "win stay lose shift: passes", in the order of the rows, the learner of all games last.
policy_labels <- function(rows) {
  passes <- ifelse(is.na(rows$passes), "", ifelse(rows$passes, ": passes", ": fails"))
  named <- paste0(gsub("_", " ", rows$policy, fixed = TRUE), passes)
  is_last <- rows$policy == "hierarchical learner"
  factor(named, unique(c(named[!is_last], named[is_last])))
}

replays_title <- function(points) {
  models <- levels(droplevels(points$model_shown))
  asked <- "Do replays of fitted policies settle as the games did?"
  is_one <- length(models) == 1 && !startsWith(models, "All ")
  if (is_one) sprintf("%s: do replays settle as the games did?", models) else asked
}

replay_panels <- function(points, n_columns) {
  chance <- unique(points[!is.na(points$n_groups), c("panel_shown", "n_groups")])
  colours <- stats::setNames(model_colours()[1:3], replayed_measures())
  ggplot2::ggplot(points, ggplot2::aes(x = .data$round)) +
    (if (nrow(chance) > 0) {
      ggplot2::geom_hline(
        ggplot2::aes(yintercept = 100 / .data$n_groups), chance, colour = "grey35", linetype = "dotted"
      )
    }) +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$low, ymax = .data$high, fill = .data$measure), alpha = .3
    ) +
    ggplot2::geom_line(ggplot2::aes(y = .data$at, colour = .data$measure), linewidth = .7) +
    panels_by("panel_shown", n_columns) +
    ggplot2::scale_y_continuous(limits = c(0, 100), breaks = c(0, 50, 100)) +
    ggplot2::scale_colour_manual(values = colours, drop = FALSE) +
    ggplot2::scale_fill_manual(values = colours, drop = FALSE) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(hjust = 1), strip.text = ggplot2::element_text(hjust = 0),
      panel.spacing = ggplot2::unit(12, "pt")
    )
}

replays_note <- function(points) {
  c(
    if (any(!is.na(points$n_games))) sprintf("%s.", counted_range(points$n_games, "game")),
    "\"Same\" is a share of the games whose class was not new in that round.",
    if (any(!is.na(points$passes))) {
      "Passes: indices, switches, entropy and spread of the games, too, lie where replays have them (p by Holm)."
    },
    if (any(!is.na(points$n_groups))) "Dotted: one group of all, as a random choice takes it."
  )
}

replays_in_words <- function(points, rows) {
  within <- points$at >= points$low & points$at <= points$high
  of_panels <- vapply(split(within, points$panel_shown, drop = TRUE), function(is_in) {
    sprintf("%.0f", 100 * mean(is_in))
  }, "")
  named <- gsub("\n", " ", names(of_panels), fixed = TRUE)
  alt_text(
    sprintf("Curves of games next to their replays, %s", counted(nlevels(points$panel_shown), "panel")),
    "Per cent of the points of the games within the bands", sprintf("%s: %s", named, of_panels), replays_note(points),
    source_note(rows)
  )
}
