# Figures of attributes of profiles, and what they share.

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
  # the first model on top, too
  dodge <- ggplot2::position_dodge2(width = .6, reverse = TRUE)
  marked <- rows
  marked$at[!is_marked] <- NA
  colour <- if (n_models < 2) list(colour = model_colours()[[1]])
  mapped <- ggplot2::aes(x = .data$at, y = .data$level_shown, xmin = .data$low, xmax = .data$high)
  if (n_models > 1) mapped[c("colour", "shape")] <- list(ggplot2::aes(x = .data$model_shown)$x)
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
    (if (n_models > 1) {
      c(colours_and_shapes(n_models), list(one_legend(nrow = attribute_legend_rows(rows))))
    }) +
    ggplot2::scale_y_discrete(limits = rev, labels = on_lines) +
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

# Such dots as a figure with its words: `what` they are, `of` what, and what is `told` of them. `...`: as
# finish_figure().
attribute_figure <- function(plot, rows, what, told = NULL, notes = NULL, ..., of = counted_levels(rows),
                             n = inches_by_level(rows)) {
  words <- alt_text(
    sprintf("%s with 95 %% intervals for %s", what, of), "The lowest and the highest", extremes_in_words(rows),
    notes = told
  )
  title <- paste(c(asked_of_figure("about")$title, outcome_of(rows)), collapse = " ")
  if (nlevels(rows$model_shown) == 1 && "model" %in% names(rows)) { # no legend says which it is
    notes <- c(sprintf("Model: %s.", levels(rows$model_shown)), notes)
  }
  finish_figure(plot, words, n, title = title, notes = notes, ...)
}

inches_by_level <- function(rows) {
  shown <- unique(rows[c("attribute_shown", "level_shown")])
  more_lines <- lengths(strsplit(on_lines(shown$level_shown), "\n", fixed = TRUE)) - 1
  legend <- .2 * (attribute_legend_rows(rows) - ceiling(nlevels(rows$model_shown) / 4))
  each <- pmax(.24 + .15 * more_lines, .13 * (nlevels(rows$model_shown) + 1))
  2.2 + sum(each) + .15 * nlevels(rows$attribute_shown) + legend
}

attribute_legend_rows <- function(rows) {
  legend_rows(levels(rows$model_shown), given_or(asked_of_figure("width"), 8) - 2, 4)
}

counted_levels <- function(rows) {
  sprintf(
    "%s of %s", counted(nrow(unique(rows[c("attribute_shown", "level_shown")])), "level"),
    counted(nlevels(rows$attribute_shown), "attribute")
  )
}

extremes_in_words <- function(rows) {
  at <- c(which.min(rows$at), which.max(rows$at))
  numbers <- vapply(signif(rows$at[at], 3), plain_number_text, "")
  sprintf("%s: %s %s", rows$attribute_shown[at], rows$level_shown[at], numbers)
}

in_outcome <- function(rows) {
  outcome <- outcome_of(rows)
  of_outcome <- if (is.null(outcome)) "" else paste(" in", outcome)
  if (shows_shares(rows)) of_outcome <- paste0(of_outcome, ", percentage points")
  paste0(of_outcome, in_unit(rows))
}

# Shares as per cent.
in_percent <- function(rows) with_intervals(rows, scale = if (shows_shares(rows)) 100 else 1)

shows_shares <- function(rows) startsWith(one_text(rows, "unit", ""), "share")

# ": points from 1 (not at all) to 7 (very)", ": share of yes", where the rows say so.
in_unit <- function(rows) {
  unit <- one_text(rows, "unit", "")
  if (nzchar(unit)) paste0(": ", unit) else ""
}

# Marginal means of the levels of attributes. Rows have `attribute` and `level`, or `term` ("attribute: level"); used if
# there: `overall` (the mean of all rows, a dashed line), `outcome` (what was measured), `unit`.
plot_marginal_means <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("marginal_means", data, file, width, height, ...)
  rows <- attribute_figure_rows(in_percent(rows))
  outcome <- outcome_of(rows)
  overall <- if ("overall" %in% names(rows)) unique(rows$overall)
  overall <- if (length(overall) == 1) (if (shows_shares(rows)) 100 else 1) * overall
  attribute_figure(
    attribute_dots(rows, overall), rows, "Marginal means", said = NULL,
    notes = if (!is.null(overall)) "Dashed: the mean of all.",
    x = sprintf(
      "%s%s%s; 95 %% intervals", if (is.null(outcome)) "Outcome" else outcome, in_unit(rows),
      if (shows_shares(rows)) ", per cent" else ", mean"
    )
  )
}

# Effects of the levels of attributes against a `reference`, if it is there: the level that each is compared with, at 0.
plot_amce <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("amce", data, file, width, height, ...)
  rows <- attribute_figure_rows(in_percent(rows))
  drawn <- with_references(rows)
  attribute_figure(
    attribute_dots(drawn, 0), rows, "Effects", excluding_zero(rows), n = inches_by_level(drawn),
    x = sprintf("Change%s; 95 %% intervals", in_outcome(rows))
  )
}

excluding_zero <- function(rows) {
  n <- sum(rows$low > 0 | rows$high < 0, na.rm = TRUE)
  if (n == 0) {
    return("No interval excludes 0.")
  }
  sprintf("%d of %s exclude%s 0.", n, counted(nrow(rows), "interval"), if (n == 1) "s" else "")
}

# A row at 0 for each reference, the first of its attribute.
with_references <- function(rows) {
  if (!"reference" %in% names(rows)) {
    return(rows)
  }
  first <- rows[!duplicated(rows[c("attribute", "model_shown")]) & !is.na(rows$reference), , drop = FALSE]
  first$level <- first$reference
  first[c("at", "low", "high")] <- list(0, NA_real_, NA_real_)
  in_order <- rows[order(rows$level_shown), , drop = FALSE]
  shown <- unlist(lapply(levels(rows$attribute_shown), function(name) {
    c(first$level[first$attribute_shown == name], as.character(in_order$level_shown[in_order$attribute_shown == name]))
  }))
  first$level_shown <- NA
  rows$level_shown <- as.character(rows$level_shown)
  all <- rbind(first, rows)
  all$level_shown <- factor(ifelse(is.na(all$level_shown), as.character(all$level), all$level_shown), unique(shown))
  all
}

# Adverse impact ratios, next to four fifths.
plot_impact_ratios <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("impact_ratios", data, file, width, height, ...)
  n_lacking <- sum(is.na(rows$ratio))
  rows <- rows[!is.na(rows$ratio), , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw: no level has a ratio.")
  rows <- attribute_figure_rows(with_intervals(rows, rows$ratio))
  is_zero <- rows$at == 0
  against <- if (length(unique(rows$reference)) == 1 && rows$reference[[1]] == "all others") {
    "Each level's rate divided by that of all others together."
  } else {
    "Each level's rate divided by the reference level's."
  }
  attribute_figure(
    attribute_dots(on_log_axis(rows), 1, is_marked = !is_zero) +
      ggplot2::geom_vline(xintercept = .8, colour = "#D55E00", linewidth = .5) + arrows_at_zero(rows) + ratio_axis(),
    rows, "Impact ratios", sprintf("%s entirely below .8.", intervals_in_words(sum(rows$high < .8, na.rm = TRUE))),
    subtitle = paste(
      against, "Orange: the four-fifths threshold; a level is flagged only if its whole interval lies below it."
    ),
    notes = c(
      if (n_lacking > 0) {
        paste(counted(n_lacking, "level"), if (n_lacking == 1) "has" else "have", "no ratio (a reference rate of 0).")
      },
      if (any(is_zero)) "Arrow: a ratio of 0, because nobody at that level was chosen."
    )
  )
}

# A log axis has no 0: what is 0 lies at the edge, as an arrow.
on_log_axis <- function(rows) {
  known <- c(rows$at, rows$low, rows$high, .8)
  edge <- max(min(known[known > 0], na.rm = TRUE) / 1.15, .01)
  rows[c("at", "low", "high")] <- lapply(rows[c("at", "low", "high")], pmax, edge)
  rows
}

arrows_at_zero <- function(rows) {
  if (!any(rows$at == 0)) {
    return(NULL)
  }
  zero <- on_log_axis(rows)
  zero$at[rows$at > 0] <- NA
  look <- if (nlevels(rows$model_shown) < 2) list(colour = model_colours()[[1]])
  do.call(ggplot2::geom_point, c(list(
    data = zero, position = ggplot2::position_dodge2(width = .6, reverse = TRUE), shape = "<", size = 6, na.rm = TRUE,
    show.legend = FALSE
  ), look))
}

ratio_axis <- function() {
  marks <- function(limits) {
    if (limits[[2]] < 6 * limits[[1]]) {
      return(c(.2, .3, .4, .5, .6, .7, .8, 1, 1.2, 1.5, 2, 3, 4, 5))
    }
    c(c(1, 2, 5) %o% 10^(-2:2), .8)
  }
  text <- function(values) vapply(values, plain_number_text, "")
  ggplot2::scale_x_log10(
    breaks = marks, labels = text, minor_breaks = NULL, guide = ggplot2::guide_axis(check.overlap = TRUE),
    sec.axis = ggplot2::dup_axis(name = NULL, breaks = c(.8, 1), labels = c(".8", "1"))
  )
}

intervals_in_words <- function(n) {
  if (n == 0) "No interval is" else paste(counted(n, "interval"), if (n == 1) "is" else "are")
}

# Differences of versions from a baseline, above what sampling alone gives.
plot_paired_differences <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("paired_differences", data, file, width, height, ...)
  rows$attribute <- paste0(rows$attribute, ifelse(is.na(rows$mean_absolute), ",\nbeyond placebo", ""))
  rows <- attribute_figure_rows(in_percent(rows))
  above <- sum(rows$mean_absolute > rows$shuffled_high, na.rm = TRUE)
  of_floors <- counted(sum(!is.na(rows$shuffled_high)), "mean")
  attribute_figure(
    attribute_dots(with_floors(rows), 0, floors = TRUE), rows, "Differences from the baseline",
    c(
      excluding_zero(rows),
      sprintf("%d of %s of absolute differences above what shuffled repetitions give.", above, of_floors)
    ),
    x = sprintf("Difference%s; means with 95 %% intervals", in_outcome(rows))
  )
}

# The rows twice, side by side: mean differences with intervals, and mean absolute ones with the floor of each.
with_floors <- function(rows) {
  panels <- c("Mean difference", "Mean absolute difference")
  rows[c("floor_low", "floor_high")] <- NA_real_
  absolute <- rows[!is.na(rows$mean_absolute), , drop = FALSE]
  factor <- if (shows_shares(rows)) 100 else 1
  absolute[c("at", "low", "high")] <- list(factor * absolute$mean_absolute, NA_real_, NA_real_)
  absolute[c("floor_low", "floor_high")] <- factor * absolute[c("shuffled_low", "shuffled_high")]
  rows$panel <- rep(panels[[1]], nrow(rows))
  absolute$panel <- rep(panels[[2]], nrow(absolute))
  both <- rbind(rows, absolute)
  both$panel <- factor(both$panel, panels)
  both
}
