# How do choices settle while a game is played? By round: how often the chosen group succeeded, was the one chosen last
# for this class, or was new in this class, a panel for each model. Dots are single rounds, lines their running mean
# over five. As in the view allocation_learning_curves. Used if there: `n_groups` (for the level of chance).
plot_learning_curves <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rounds <- begin_figure("learning_curves", data, file, width, height, ...)
  # One row a model, format, round (`x`) and measure.
  rows <- labelled_games(with_absent(rounds, "n_groups", NA_integer_))
  check_drawn_once("learning_curves", rows)
  rows$panel_shown <- panel_names(
    rows, c("model_shown", if (length(unique(rows$variant_shown)) > 1) "variant_shown")
  )
  points <- do.call(rbind, lapply(names(curve_measures()), function(name) {
    n <- if (name == "repeat_rate") rows$n_with_past else rows$n_games
    cells <- rows[c("panel_shown", "variant_shown", "format_shown", "n_groups")]
    data.frame(cells, x = rows$round, measure = name, n = n, at = 100 * rows[[name]])
  }))
  points <- rows_to_draw("learning_curves", points, !is.na(points$at))
  points$measure <- factor(points$measure, names(curve_measures()), curve_measures())
  points <- points[order(points$x), ]
  points$format_shown <- droplevels(points$format_shown)
  points$curve <- paste(points$panel_shown, points$format_shown, points$measure, sep = "\r")
  points$smooth <- NA_real_
  for (of_curve in split(seq_len(nrow(points)), points$curve)) {
    points$smooth[of_curve] <- running_mean(points$x[of_curve], points$at[of_curve], points$n[of_curve])
  }
  n_games <- points$n[points$measure != curve_measures()[["repeat_rate"]]]
  n_panels <- nlevels(points$panel_shown)
  n_columns <- columns_within(width, min(n_panels, 4), each_in = 1.5, margin_in = .5)
  plot <- ggplot2::ggplot(points) +
    chance_of_groups(points) +
    curves(points, "measure") +
    panels_of_rounds(n_columns) +
    ggplot2::scale_linetype_manual(values = c("solid", "22", "42", "1242", "73")) +
    ggplot2::guides(
      colour = ggplot2::guide_legend(order = 1),
      linetype = if (nlevels(points$format_shown) == 1) "none" else ggplot2::guide_legend(order = 2)
    ) +
    ggplot2::theme(legend.box = "vertical", legend.box.just = "left", legend.spacing.y = ggplot2::unit(0, "pt"))
  finish_figure(
    plot, curves_in_words(points), 2.6 + 1.75 * ceiling(n_panels / n_columns),
    max(7, 1.2 + 2.3 * n_columns), notes = c(
      sprintf("%s a round; no intervals are drawn.", counted_range(n_games, "game")), same_note,
      if (any(!is.na(points$n_groups))) chance_note
    )
  )
}

curve_measures <- function() {
  c(
    success_rate = "Success", repeat_rate = "Same group as last in this class",
    new_group_rate = "New group in this class"
  )
}

# Over the rounds up to two before and after, weighted by games.
running_mean <- function(round, percent, n) {
  vapply(round, function(at) {
    is_near <- abs(round - at) <= 2
    stats::weighted.mean(percent[is_near], n[is_near])
  }, 1)
}

# Shares of rounds in panels, in the colours of the three measures.
panels_of_rounds <- function(n_columns) {
  list(
    panels_by("panel_shown", n_columns), ggplot2::scale_y_continuous(limits = c(0, 100), breaks = c(0, 50, 100)),
    ggplot2::scale_colour_manual(values = model_colours()[1:3], drop = FALSE), figure_theme(), grid_of_numbers(),
    numbers_right(strip.text = ggplot2::element_text(hjust = 0), panel.spacing = ggplot2::unit(12, "pt"))
  )
}

# One group of all, as a random choice takes it.
chance_of_groups <- function(points) {
  chance <- unique(points[!is.na(points$n_groups), c("panel_shown", "n_groups")])
  if (nrow(chance) > 0) {
    ggplot2::geom_hline(
      ggplot2::aes(yintercept = 100 / .data$n_groups), chance, colour = "grey35", linetype = "dotted"
    )
  }
}

same_note <- "\"Same\" is a share of the games whose class was not new in that round."
chance_note <- "Dotted: one group of all, as a random choice takes it."

curves_in_words <- function(points) {
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
    "Running means in the last rounds, per cent", of_panels
  )
}

# Do replays of fitted policies settle as the games did? The same by round, in a panel for each policy (and model).
# Lines are the games, bands the middle 95 % of their replays, both as running means over five rounds. A policy that
# describes the choices has the lines within its bands. As in the view replayed_curves, or of a fit of "policies" or
# "learning". Used if there: `policy`, `passes`, `n_games`, `n_groups` (for the level of chance).
plot_replayed_curves <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("replayed_curves", data, file, width, height, ...)
  rows <- with_absent(rows, "policy", "hierarchical learner")
  rows <- with_absent(rows, c("passes", "n_games", "n_groups"), NA)
  rows$model_shown <- ordered_labels(rows, "model")
  rows <- rows[rows$measure %in% names(replayed_measures()), , drop = FALSE]
  rows <- with_intervals(rows, rows$observed, scale = 100)
  # "win stay lose shift: passes", in the order of the rows, the learner of all games last
  passes <- ifelse(is.na(rows$passes), "", ifelse(rows$passes, ": passes", ": fails"))
  named <- paste0(gsub("_", " ", rows$policy, fixed = TRUE), passes)
  is_last <- rows$policy == "hierarchical learner"
  rows$policy_shown <- factor(named, unique(c(named[!is_last], named[is_last])))
  rows <- rows_to_draw("replayed_curves", rows, !is.na(rows$at) & !is.na(rows$low))
  rows$panel_shown <- panel_names(rows, c("policy_shown", if (nlevels(rows$model_shown) > 1) "model_shown"))
  rows$measure <- factor(rows$measure, names(replayed_measures()), replayed_measures())
  points <- rows[order(rows$round), ]
  models <- levels(droplevels(points$model_shown))
  title <- "Do replays of fitted policies settle as the games did?"
  if (length(models) == 1 && !startsWith(models, "All ")) {
    title <- sprintf("%s: do replays settle as the games did?", models)
  }
  n_panels <- nlevels(points$panel_shown)
  n_columns <- columns_within(width, min(n_panels, 4), each_in = 1.5, margin_in = .5)
  plot <- ggplot2::ggplot(points, ggplot2::aes(x = .data$round)) +
    chance_of_groups(points) +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$low, ymax = .data$high, fill = .data$measure), alpha = .3
    ) +
    ggplot2::geom_line(ggplot2::aes(y = .data$at, colour = .data$measure), linewidth = .7) +
    panels_of_rounds(n_columns) +
    ggplot2::scale_fill_manual(values = model_colours()[1:3], drop = FALSE)
  finish_figure(
    plot, replays_in_words(points), 2.9 + 1.75 * ceiling(n_panels / n_columns),
    max(7, 1.2 + 2.3 * n_columns), title = title, notes = c(
      if (any(!is.na(points$n_games))) sprintf("%s.", counted_range(points$n_games, "game")), same_note,
      if (any(!is.na(points$passes))) {
        "Passes: indices, switches, entropy and spread of the games, too, lie where replays have them (p by Holm)."
      },
      if (any(!is.na(points$n_groups))) chance_note
    )
  )
}

replayed_measures <- function() {
  stats::setNames(unname(curve_measures()), c("success", "repeated", "new_group"))
}

replays_in_words <- function(points) {
  within <- points$at >= points$low & points$at <= points$high
  of_panels <- vapply(split(within, points$panel_shown, drop = TRUE), function(is_in) {
    sprintf("%.0f", 100 * mean(is_in))
  }, "")
  named <- gsub("\n", " ", names(of_panels), fixed = TRUE)
  alt_text(
    sprintf("Curves of games next to their replays, %s", counted(nlevels(points$panel_shown), "panel")),
    "Per cent of the points of the games within the bands", sprintf("%s: %s", named, of_panels)
  )
}

# How likely does each job succeed, as models say themselves? The mean percentage that a model gave for each job, with
# its 95 % t interval over conversations; a panel for each class of jobs. As in the view elicited_rates. Used if there:
# `class_label`, `class_no`. Wu, Liu, Bai & Griffiths, figure 8 (appendix A.3.1).
plot_elicited_rates <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- rates_to_draw(begin_figure("elicited_rates", data, file, width, height, ...))
  n_jobs <- nrow(unique(rows[c("class_shown", "job")]))
  answers <- counted_range(rows$n, "answer")
  jobs <- unique(rows[c("job_height", "job")])
  models <- levels(rows$model_shown)
  plot <- at_height(rows) +
    dots_with_intervals(rows, "model_shown", size = 1.8, stroke = .8, linewidth = .5) +
    ggplot2::facet_grid(ggplot2::vars(.data$class_shown), scales = "free_y", space = "free_y") +
    ggplot2::scale_x_continuous(limits = c(0, 100), expand = ggplot2::expansion(add = 2)) +
    ggplot2::scale_y_continuous(breaks = jobs$job_height, labels = jobs$job, expand = ggplot2::expansion(add = .5)) +
    colours_and_shapes(length(models)) +
    one_legend(ncol = legend_columns(models, given_or(width, 9))) +
    figure_theme() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(hjust = 1),
      strip.text.y = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1)
    )
  means <- tapply(rows$at, list(rows$model_shown, rows$class_shown), mean)
  of_models <- vapply(rownames(means), function(model) {
    known <- means[model, !is.na(means[model, ])]
    sprintf("%s: %s", model, toString(sprintf("%s %.0f", gsub("\n", " ", names(known), fixed = TRUE), known)))
  }, "")
  n_classes <- nlevels(rows$class_shown)
  finish_figure(
    plot, alt_text(
      sprintf(
        "Elicited success rates of %s in %d class%s for %s", counted(n_jobs, "job"),
        n_classes, if (n_classes == 1) "" else "es", counted(nlevels(rows$model_shown), "model")
      ),
      "Mean by class, per cent", of_models
    ),
    2.4 + n_jobs * max(.23, .1 * nlevels(rows$model_shown) + .05) + .12 * nlevels(rows$class_shown),
    notes = sprintf("%s for each model and job. Bars: 95 %% t intervals over conversations.", answers)
  )
}

rates_to_draw <- function(rates) {
  rows <- check_drawn_once("elicited_rates", labelled_games(with_absent(rates, "variant", "all")))
  if (!"class_label" %in% names(rows)) rows$class_label <- gsub("_", " ", rows$class, fixed = TRUE)
  rows$class_shown <- ordered_labels(rows, "class")
  levels(rows$class_shown) <- wrapped(levels(rows$class_shown), 18)
  # one axis names the jobs of all panels: a job's mean over models decides its height
  job_mean <- stats::ave(rows$mean_rate, rows$class_shown, rows$job)
  jobs <- unique(data.frame(class = rows$class_shown, job = rows$job, mean = job_mean))
  jobs <- jobs[order(jobs$class, jobs$mean, jobs$job, method = "radix"), ]
  rows$job_height <- match(paste(rows$class_shown, rows$job, sep = "\r"), paste(jobs$class, jobs$job, sep = "\r"))
  rows$height <- rows$job_height + places_around(nlevels(rows$model_shown), .35)[as.integer(rows$model_shown)]
  half_width <- t_half_width(rows$sd_rate, rows$n)
  ends <- list(pmax(rows$mean_rate - half_width, 0), pmin(rows$mean_rate + half_width, 1))
  with_intervals(rows, rows$mean_rate, ends[[1]], ends[[2]], scale = 100)
}
