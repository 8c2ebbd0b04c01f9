# Agreement and shift of later occasions: for each model and later occasion Cohen's kappa of the answers, the intraclass
# correlation of the measure, and how far its mean has moved, a panel each. Of retest_reliability(); rows of single
# tests are left out.
plot_retest <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- retest_to_draw(begin_figure("retest", data, file, width, height, ...))
  n_panels <- nlevels(rows$panel)
  occasions <- levels(rows$occasion_shown)
  said <- vapply(levels(rows$panel), function(panel) {
    at <- rows$at[rows$panel == panel]
    sprintf("%s: from %.2f to %.2f.", panel, min(at), max(at))
  }, "")
  finish_figure(
    dots_figure(
      rows, "occasion_shown", rev(levels(rows$model_shown)),
      one_legend(ncol = legend_columns(occasions, given_or(width, 9))),
      ggplot2::theme(panel.spacing.x = ggplot2::unit(18, "pt")), # or the numbers of neighbours touch
      panel = "panel", n_columns = min(n_panels, 3), scales = "free_x"
    ),
    alt_text(
      sprintf("Agreement with the first occasion for %s", counted_shown(rows, c("model", "occasion"))), notes = said
    ),
    ceiling(n_panels / 3) * (1 + .13 * max(nlevels(rows$model_shown) * (length(occasions) + 2), 8)) + 1
  )
}

retest_to_draw <- function(data) {
  is_of_all <- if (is.null(data$test)) TRUE else is.na(data$test)
  has_one <- !is.na(data$kappa) | !is.na(data$icc) | !is.na(data$shift_d)
  data <- rows_to_draw("retest", data, is_of_all & has_one)
  measures <- gsub("_", " ", as.character(data$measure), fixed = TRUE)
  kappa <- if (length(unique(measures)) > 1) "Kappa of answers (%s)" else "Kappa of answers"
  names <- c(kappa, "Intraclass correlation of %s", "Shift of %s, in SD")
  panels <- unlist(lapply(unique(measures), function(measure) gsub("%s", measure, names, fixed = TRUE)))
  part <- function(number, at, low, high) {
    panel <- mapply(gsub, "%s", measures, names[[number]], fixed = TRUE)
    cbind(data, panel = factor(panel, panels), at = at, low = low, high = high)
  }
  rows <- rbind(
    part(1, data$kappa, data$kappa_low, data$kappa_high), part(2, data$icc, data$icc_low, data$icc_high),
    part(3, data$shift_d, data$shift_low / data$sd_first, data$shift_high / data$sd_first)
  )
  rows <- with_shown(rows[!is.na(rows$at), , drop = FALSE], "model")
  rows$panel <- droplevels(rows$panel)
  occasions <- sprintf("occasion %d", as.integer(rows$occasion))
  rows$occasion_shown <- factor(occasions, unique(occasions[order(rows$occasion)]))
  rows$height <- heights_of(rows$model_shown, rows$occasion_shown)
  rows
}

# Old effects against new ones, with the bound around equality: of compare_successor().
plot_successor <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("successor", data, file, width, height, ...)
  measure <- if (is.null(rows$measure)) "answer" else gsub("_", " ", as.character(rows$measure), fixed = TRUE)
  rows$panel <- paste(measure, ifelse(rows$term == "mean", "mean", "effects of levels"), sep = ", ")
  rows$panel <- factor(rows$panel, unique(rows$panel))
  verdict <- ifelse(is.na(rows$verdict_holm), "no bound", as.character(rows$verdict_holm))
  known <- c("equivalent within the bound", "differs by more than the bound", "not decided", "no bound")
  rows$verdict_shown <- droplevels(factor(verdict, known))
  verdicts <- levels(rows$verdict_shown)
  # what is not decided is no finding, and has no colour
  colours <- c("equivalent within the bound" = "#0072B2", "differs by more than the bound" = "#D55E00")[verdicts]
  ends <- do.call(rbind, lapply(split(rows, rows$panel), function(part) {
    limits <- range(part[c("old", "old_low", "old_high", "new", "new_low", "new_high")], na.rm = TRUE)
    bound <- part$bound[[1]]
    at <- limits + c(-1, 1) * (if (is.na(bound)) 0 else bound)
    data.frame(panel = part$panel[[1]], x = at, low = at - bound, high = at + bound)
  }))
  n_columns <- columns_within(width, min(nlevels(rows$panel), 3), each_in = 2.5, margin_in = .5)
  place <- ggplot2::aes(x = .data$old, y = .data$new, colour = .data$verdict_shown, shape = .data$verdict_shown)
  plot <- ggplot2::ggplot(rows, place) +
    ggplot2::geom_ribbon(
      ggplot2::aes(x = .data$x, ymin = .data$low, ymax = .data$high), ends[!is.na(ends$low), , drop = FALSE],
      fill = "grey88", inherit.aes = FALSE
    ) +
    ggplot2::geom_abline(colour = "grey35", linetype = "dashed", linewidth = .4) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$old_low, xmax = .data$old_high), na.rm = TRUE) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$new_low, ymax = .data$new_high), na.rm = TRUE) +
    ggplot2::geom_point(size = 2, stroke = .9) +
    panels_by("panel", n_columns, scales = "free") +
    ggplot2::scale_colour_manual(values = unname(ifelse(is.na(colours), "grey55", colours)), drop = FALSE) +
    ggplot2::scale_shape_manual(values = recycled_shapes(length(verdicts)), drop = FALSE) + one_legend(ncol = 2) +
    figure_theme() + grid_of_numbers() + numbers_right()
  counts <- table(rows$verdict_shown)
  said <- paste0(paste(counts, names(counts), collapse = ", "), ".")
  far <- rows[which.max(abs(rows$difference)), ]
  finish_figure(
    plot, alt_text(
      sprintf("Old against new, of %d means and effects", nrow(rows)),
      notes = c(said, sprintf("Farthest apart: %s, %.3g.", far$term, far$difference))
    ),
    1.9 + 2.6 * ceiling(nlevels(rows$panel) / n_columns), 1.5 + 3 * n_columns,
    source = c(said, source_note(rows)), said = NULL
  )
}

# How each mean and effect has moved over the occasions: of watch_shifts(). Of more than twelve, those that moved
# farthest.
plot_watch <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("watch", data, file, width, height, ...)
  half <- pmax(rows$conf_high - rows$shift, 1e-12)
  rows <- farthest_panels(rows, c("model", "test", "measure", "term"), abs(rows$shift) / half)
  rows$moved <- factor(ifelse(rows$is_alarm, "alarm", "no alarm"), c("no alarm", "alarm"))
  n_columns <- columns_within(width, min(nlevels(rows$panel), 3), each_in = 2.5, margin_in = .5)
  rows <- with_intervals(transform(rows, x = rows$occasion), rows$shift)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$occasion)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey35", linetype = "dashed", linewidth = .4) +
    ggplot2::geom_point(ggplot2::aes(y = .data$value - .data$first_value), colour = "grey55", size = 1) +
    curves(rows, "moved", bar_width = .6, is_joined = FALSE) +
    panels_by("panel", n_columns, scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = function(limits) Filter(function(at) at %% 1 == 0, pretty(limits))) +
    colours_and_shapes(2) + one_legend(nrow = 1) + figure_theme() + grid_of_numbers() + numbers_right()
  said <- sprintf("%d of %s with an alarm.", sum(rows$is_alarm), counted(nrow(rows), "look"))
  finish_figure(
    plot, alt_text(sprintf("Shifts over %s", counted(length(unique(rows$occasion)), "later occasion"))),
    1.9 + 2.4 * ceiling(nlevels(rows$panel) / n_columns), 1.5 + 3 * n_columns,
    source = c(farthest_note(rows), said, source_note(rows))
  )
}

# Rows with a `panel` named after those `parts` in which they differ; of more than twelve, those that are `far`.
farthest_panels <- function(rows, parts, far) {
  several <- Filter(function(name) length(unique(rows[[name]])) > 1, intersect(parts, names(rows)))
  shown <- lapply(rows[several], function(column) ifelse(is.na(column), "", as.character(column)))
  # A part that says what the one before it said is left out: "rating, rating".
  in_words <- function(...) paste(setdiff(unique(gsub("_", " ", c(...), fixed = TRUE)), ""), collapse = ", ")
  if (length(several) == 0) shown <- list(as.character(given_or(rows$term, "mean")))
  rows$panel <- wrapped(do.call(mapply, c(list(in_words), unname(shown))), 30)
  kept <- names(sort(tapply(far, rows$panel, max, na.rm = TRUE), decreasing = TRUE))
  rows <- rows[rows$panel %in% kept[seq_len(min(12, length(kept)))], , drop = FALSE]
  rows$panel <- factor(rows$panel, unique(rows$panel))
  rows$n_panels <- length(kept)
  rows
}

# What farthest_panels() left out, for the caption.
farthest_note <- function(rows) {
  if (rows$n_panels[[1]] > nlevels(rows$panel)) {
    sprintf("%d panels; the %d farthest from 0, in their errors, are drawn.", rows$n_panels[[1]], nlevels(rows$panel))
  }
}

#' Two measures of the same models next to each other
#'
#' A dot per model and test with 95 % intervals in both directions (1.96 standard errors), by model (named next to its
#' dot if it has one only); in the subtitle the
#' plain correlation and the one that takes the errors into account (with its interval from five models on).
#'
#' @param data a data frame of one pair of measures as [convergent_validity()] takes it. Used if present: `model_label`
#'   to show, `model_no` to order by, `measure_x` and `measure_y`, the names of the measures.
#' @inherit plot_effect_sizes params return
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' cells <- expand.grid(test = 1:10, model = c("a", "b", "c", "d", "e"))
#' true <- stats::rnorm(50)
#' units <- data.frame(cells, x = true + stats::rnorm(50, sd = .3), y = true +
#'   stats::rnorm(50, sd = .3))
#' units[c("x_error", "y_error")] <- .3
#' plot_validity(units)
plot_validity <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- with_tests_on_y(begin_figure("validity", data, file, width, height, ...))
  found <- validity_of(as.data.frame(rows[c("model", "test", "x", "x_error", "y", "y_error")]), .05)
  names <- vapply(c("measure_x", "measure_y"), function(name) {
    if (is.null(rows[[name]])) sub("measure_", "", name) else as.character(rows[[name]][[1]])
  }, "")
  models <- levels(rows$model_shown)
  x_half <- stats::qnorm(.975) * rows$x_error
  y_half <- stats::qnorm(.975) * rows$y_error
  rows[c("x_low", "x_high")] <- list(rows$x - x_half, rows$x + x_half)
  rows[c("y_low", "y_high")] <- list(rows$y - y_half, rows$y + y_half)
  whisker <- ggplot2::aes(x = .data$x_low, xend = .data$x_high, yend = .data$y)
  pole <- ggplot2::aes(y = .data$y_low, yend = .data$y_high, xend = .data$x)
  # One dot a model: its name stands next to it.
  named <- if (anyDuplicated(rows$model) == 0) {
    list(
      ggplot2::geom_text(
        ggplot2::aes(label = .data$model_shown), hjust = 0, nudge_x = diff(range(rows$x)) / 60, vjust = -.6, size = 2.8,
        colour = "black", check_overlap = TRUE
      ),
      ggplot2::guides(colour = "none", shape = "none")
    )
  }
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$x, y = .data$y, colour = .data$model_shown)) +
    ggplot2::geom_segment(whisker, linewidth = .4, alpha = .6) +
    ggplot2::geom_segment(pole, linewidth = .4, alpha = .6) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$model_shown), size = 2, stroke = .8) +
    colours_and_shapes(length(models)) +
    one_legend(ncol = legend_columns(models, given_or(width, 7))) +
    named +
    figure_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_line(colour = "grey90"))
  said <- correlations_in_words(found)
  words <- sprintf("%s against %s for %s", names[[2]], names[[1]], counted_shown(rows, c("test", "model")))
  finish_figure(
    plot, alt_text(words, notes = said), 6, source = "Bars: 1.96 standard errors.", subtitle = said, x = names[[1]],
    y = names[[2]]
  )
}

correlations_in_words <- function(found) {
  said <- function(row, name) {
    one <- found[found$row == row, ]
    if (nrow(one) == 0 || is.na(one$estimate)) {
      return(sprintf("%s: none", name))
    }
    interval <- if (is.na(one$conf_low)) "" else sprintf(" (%.2f to %.2f)", one$conf_low, one$conf_high)
    sprintf("%s %.2f%s", name, one$estimate, interval)
  }
  sprintf("Pearson's r: %s; %s; %s.", said("pearson", "plain"), said("corrected", "with errors taken into account"),
    counted(found$n[[1]], "unit")
  )
}
