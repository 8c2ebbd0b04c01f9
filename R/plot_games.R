#' How stratified do games become, by model and condition?
#'
#' The indices of games with their intervals, next to the level of chance and people's printed values. One condition, or
#' one in each `panel`: colours are answer formats. Several conditions: colours are conditions, and each answer format
#' has panels of its own.
#'
#' @param data a data frame with one row per cell and index, such as `game_indices(rounds, by = c("model",
#'   "variant"))` or the view `game_index_intervals` of the database: `model`, `variant` (the condition), `index`,
#'   `estimate`, and, where known, `conf_low` and `conf_high` (t) or `boot_low` and `boot_high` (drawn where the index
#'   has no t interval). Used if present: `answer_format` (`"direct"`, `"cot"` ...), `random_level`, `random_low`,
#'   `random_high`, `human`, `human_low`, `human_high` (people's value in that condition, else `NA`), `panel` (a row of
#'   panels), `n_games`, `n_incomplete` and `source` for the caption, `title`, and `model_label`, `model_no`,
#'   `variant_label`, `variant_no`. Every index that there are rows of has a column of panels.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases Through Adaptive Exploration,
#'   figures 2, 5, 6, 7 and 12.
#' @seealso `draw_figure("plot_families", ...)` for figure 3, `draw_figure("plot_success", ...)` for figure 13.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' games <- simulate_structured_games(p = c(0, .5, 1), experiments = "bgd", n_games = 8)
#' games <- transform(games, model = paste("follows a map with p =", p), variant = "main")
#' indices <- game_indices(games, by = c("source", "model", "variant"), n_draws = 0, n_random = 20)
#' plot_stratification(indices[indices$index %in% c("si", "bgd"), ])
plot_stratification <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("stratification", data, file, width, height, ...)
  cells <- game_cells(rows, index_labels(), "stratification")
  finish_figure(
    game_dots(cells, width), games_in_words("Indices of stratification for", cells), dots_height_in(cells, width),
    notes = c(games_note(cells), marks_note(cells)), said = games_note(cells),
    title = if (nlevels(cells$variant_shown) == 1) {
      "Do groups end up in different classes?"
    } else {
      "Does the stratification of groups depend on the condition?"
    },
    subtitle = paste0(
      "0: each group is chosen alike for all classes. Higher: more apart.",
      if (any(grepl("^gasi", cells$index))) "\nGASI: higher, the more a group's classes differ from game to game."
    )
  )
}

# How often do games succeed, by model and condition? The share of successful rounds in a game, its mean over games and
# 95 % t interval. Where a group succeeds best in a class, a bonus for choosing others may cost successes: the figure
# puts conditions next to each other. Of games that were played to their end, as in the view allocation_game_indices.
# Used if there: `random_level` and `best_level`, the share that random choices, and choices that know the best group,
# are expected to give in that condition. Wu, Liu, Bai & Griffiths, figure 13 (appendix G).
plot_success <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("success", data, file, width, height, ...)
  cells <- game_cells(success_rates(rows), c(success_rate = "Successful rounds of a game (%)"), "success")
  best <- unique(cells[!is.na(cells$best_level), c("row_shown", "column_shown", "best_level")])
  best_lines <- if (nrow(best) > 0) {
    ggplot2::geom_vline(ggplot2::aes(xintercept = 100 * .data$best_level), best, colour = "grey25", linewidth = .4)
  }
  finish_figure(
    game_dots(cells, width) + best_lines, games_in_words("Successful rounds (%) for", cells),
    dots_height_in(cells, width), said = games_note(cells),
    notes = c(
      games_note(cells), "Bars: 95 % t intervals over games.",
      if (any(!is.na(cells$random_level))) "Dotted: what random choices are expected to give.",
      if (any(!is.na(cells$best_level))) "Line: what choices that know the best groups are expected to give."
    )
  )
}

# By model, condition and answer format: the mean in per cent with its t interval.
success_rates <- function(games) {
  known <- with_absent(with_absent(games, c("random_level", "best_level"), NA_real_), "answer_format", NA_character_)
  warn_of_pooling(known, within = c("model", "variant", "answer_format"))
  rows <- split(seq_len(nrow(known)), group_codes(known, c("model", "variant", "answer_format")))
  do.call(rbind, lapply(rows, function(of_cell) {
    percent <- 100 * known$success_rate[of_cell]
    half_width <- t_half_width(stats::sd(percent), length(percent))
    cell <- known[of_cell[[1]], setdiff(names(known), c("game", "success_rate", "random_level")), drop = FALSE]
    data.frame(
      cell,
      index = "success_rate", estimate = mean(percent), conf_low = mean(percent) - half_width,
      conf_high = mean(percent) + half_width, n_games = length(percent),
      random_level = 100 * known$random_level[of_cell[[1]]]
    )
  }))
}

# How open do choices stay after what was seen? The entropy of the choice given what was seen last in the class of the
# job, how often the last group is chosen again after a success and after a failure, and how far the group that
# succeeded first in a class keeps it (lock-in), as in the view allocation_exploration. Used if there: `n_rounds`,
# `n_groups` (for the level of chance).
plot_exploration <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  measures <- begin_figure("exploration", data, file, width, height, ...)
  cells <- game_cells(exploration_rows(measures), exploration_labels(), "exploration")
  finish_figure(
    game_dots(cells, width), games_in_words("Exploration of", cells), dots_height_in(cells, width), said = NULL,
    notes = c(
      games_note(cells),
      if ("n_rounds" %in% names(measures)) sprintf("%s a cell.", counted_range(measures$n_rounds, "round")),
      "No intervals are drawn.",
      if (any(!is.na(cells$random_level))) "Dotted: what choices at random come to, over endlessly many rounds.",
      "Lock-in: of the rounds after a class's first success, the share that went to the group that had it."
    )
  )
}

exploration_labels <- function() {
  c(
    choice_entropy_bits = "Entropy of the choice,\nbits", stay_after_success = "Same group after\na success (%)",
    stay_after_failure = "Same group after\na failure (%)", lock_in = "Lock-in on the first\nsuccess (%)"
  )
}

# One row a model and measure, with the level of chance.
exploration_rows <- function(measures) {
  names <- names(exploration_labels())
  measures <- with_absent(measures, "n_groups", NA_real_)
  cells <- setdiff(names(measures), c(names, "n_games"))
  do.call(rbind, lapply(names, function(name) {
    is_bits <- name == "choice_entropy_bits"
    data.frame(
      measures[cells],
      index = name, estimate = measures[[name]] * if (is_bits) 1 else 100,
      random_level = if (is_bits) log2(measures$n_groups) else 100 / measures$n_groups
    )
  }))
}

# What did models learn by, and people? The parameters of hierarchical learners with their 95 % intervals, a row a
# model; people's, where they are among the rows (`source` is "human"), are a row and a band behind those of the models.
# Colours say what the numbers are worth: without replays that look like the games, they describe nothing. As in the
# view learner_parameters; used if there: `is_people` (the row is one of people, shown next to those of `source`),
# `is_identified`, `is_converged`, `passes`. Sharpness is drawn as its decadic logarithm, for it can be any number of
# times as large.
plot_learned_parameters <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- with_absent(begin_figure("learned_parameters", data, file, width, height, ...), "source", NA_character_)
  if (!is.null(rows$is_people)) rows$source[rows$is_people %in% TRUE] <- "human"
  cells <- parameter_cells(rows)
  finish_figure(
    game_dots(cells, width), games_in_words("Learned parameters of", cells), dots_height_in(cells, width),
    source = source_note(rows), notes = c(
      games_note(cells),
      if (any(!is.na(cells$human))) "Dashed, and orange behind the dots: people, with their 95 % interval.",
      "Rate and sharpness alone are hard to tell apart; their product is what games know.",
      "They hold for these rewards and this wording."
    )
  )
}

parameter_labels <- function() {
  c(
    rate = "Learning rate", rate_up = "Learning rate,\ngood news", rate_down = "Learning rate,\nbad news",
    sharpness = "Sharpness\n(log10)", rate_x_sharpness = "Rate x sharpness\n(log10)",
    perseveration = "Perseveration", lapse = "Lapse", bonus = "Bonus on groups\nseldom tried",
    generalisation = "Generalisation\nover classes"
  )
}

# What a parameter is worth, the best first.
parameter_worths <- c(
  finding = "its replays look like the games", unknown = "could not be replayed",
  failed = "no finding: its replays do not", diverged = "no finding: its chains did not converge",
  prior = "not identified by these games"
)

parameter_cells <- function(rows) {
  rows <- with_absent(rows, c("is_identified", "is_converged", "passes"), NA)
  rows <- rows[rows$term %in% names(parameter_labels()), , drop = FALSE]
  rows$index <- rows$term
  is_log <- rows$term %in% c("sharpness", "rate_x_sharpness")
  for (name in c("estimate", "conf_low", "conf_high")) rows[[name]][is_log] <- log10(rows[[name]][is_log])
  is_human <- rows$source %in% "human"
  people <- rows[is_human & !(rows$passes %in% FALSE), , drop = FALSE]
  at <- if (anyDuplicated(people$term) == 0) match(rows$term, people$term) else rep(NA_integer_, nrow(rows))
  rows[c("human", "human_low", "human_high")] <- people[at, c("estimate", "conf_low", "conf_high")]
  rows$people_are <- "People"
  cells <- game_cells(rows, parameter_labels(), "learned_parameters")
  worth <- ifelse(is.na(cells$passes), "unknown", ifelse(cells$passes, "finding", "failed"))
  worth[cells$is_converged %in% FALSE] <- "diverged"
  worth[cells$is_identified %in% FALSE] <- "prior"
  cells$series_shown <- droplevels(factor(parameter_worths[worth], parameter_worths))
  cells$height <- cells$model_height
  cells
}

# Do newer and larger models of a family stratify more? The indices of games by family of models, within each from the
# older or smaller model on the left to the newer or larger one on the right. Lines join the models of one answer
# format; they are there for the eye, not a trend. Rows as of plot_stratification(), of one condition, with `family`
# (rows without one are left out) and `order`, the place in it. Wu, Liu, Bai & Griffiths, figure 3.
plot_families <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("families", data, file, width, height, ...)
  cells <- families_to_draw(rows)
  n_families <- nlevels(cells$family_shown)
  formats <- levels(cells$series_shown)
  models <- levels(cells$model_shown)
  plot <- ggplot2::ggplot(cells) +
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
  finish_figure(
    plot, alt_text(
      sprintf(
        "Indices of stratification in %d famil%s of models%s", n_families, if (n_families == 1) "y" else "ies",
        levels_in_words(cells$format_shown, "answer format")
      ),
      notes = dots_in_words(cells)
    ),
    2.6 + 1.9 * nlevels(cells$column_shown),
    max(7, 1.4 + .45 * n_families + .55 * nrow(unique(cells[c("family_shown", "model_shown")]))),
    notes = c(games_note(cells), marks_note(cells, has_bands = FALSE)), said = games_note(cells)
  )
}

families_to_draw <- function(indices) {
  rows <- indices[!is.na(indices$family), , drop = FALSE]
  cells <- game_cells(rows, index_labels(), "families")
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

# What the indices of games measure: SI, BGD and GASI of games whose structure is known, each against the probability
# `p` with which groups keep to a class of jobs of their own: see simulate_structured_games(). Of controlled_indices().
# Wu, Liu, Bai & Griffiths, figures 9, 10 and 11.
plot_controlled_indices <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("controlled_indices", data, file, width, height, ...)
  # each value of p takes the place of a model
  rows <- transform(rows, model = sprintf("p = %s", rows$p), variant = "structured")
  cells <- game_cells(rows, index_labels(), "controlled_indices")
  cells$x <- cells$p
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
    grid_of_numbers(panel.spacing.x = ggplot2::unit(18, "pt"), strip.text = ggplot2::element_text(hjust = 0)) +
    numbers_right()
  ends <- vapply(split(cells, cells$column_shown), function(index) {
    index <- index[order(index$p), ][c(1, nrow(index)), ]
    sprintf(
      "%s goes from %.2f at p = %g to %.2f at p = %g", short_names(as.character(index$column_shown[[1]])),
      index$at[[1]], index$p[[1]], index$at[[2]], index$p[[2]]
    )
  }, "")
  finish_figure(
    plot, alt_text(
      "Indices of simulated games against how closely groups keep to a class of jobs",
      values = ends
    ), 1.7 + 2.5 * ceiling(nlevels(cells$column_shown) / n_columns),
    source = "Simulated games: nobody was asked.", said = games_note(cells),
    notes = c(games_note(cells), marks_note(cells), if ("si" %in% cells$index) paste(
      "Groups may share a class in the experiment on SI, and classes that no group has are not drawn: at p = 0 it",
      "therefore lies above the level of chance."
    ))
  )
}
