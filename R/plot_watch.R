#' How each mean and effect has moved over the occasions
#'
#' @param data what [watch_shifts()] returned: `occasion`, `value`, `first_value`, `shift`, `conf_low`, `conf_high`,
#'   `is_alarm`. Used where there: `model`, `test`, `measure`, `term`, `source`. Of more than twelve, those are drawn
#'   that moved farthest.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_watch <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  needed <- c("occasion", "value", "first_value", "shift", "conf_low", "conf_high", "is_alarm")
  rows <- rows_to_draw(data, needed, !is.na(data$shift), "a watch", "row with a shift")
  parts <- intersect(c("model", "test", "measure", "term"), names(rows))
  several <- Filter(function(name) length(unique(rows[[name]])) > 1, parts)
  shown <- lapply(rows[several], function(column) ifelse(is.na(column), "", as.character(column)))
  # A part that says what the one before it said is left out: "rating, rating".
  in_words <- function(...) paste(setdiff(unique(gsub("_", " ", c(...), fixed = TRUE)), ""), collapse = ", ")
  rows$panel <- if (length(several) == 0) "mean" else wrapped(do.call(mapply, c(list(in_words), unname(shown))), 30)
  far <- tapply(abs(rows$shift) / pmax(rows$conf_high - rows$shift, 1e-12), rows$panel, max)
  kept <- names(sort(far, decreasing = TRUE))[seq_len(min(12, length(far)))]
  rows <- rows[rows$panel %in% kept, , drop = FALSE]
  rows$panel <- factor(rows$panel, unique(rows$panel))
  rows$moved <- factor(ifelse(rows$is_alarm, "alarm", "no alarm"), c("no alarm", "alarm"))
  n_columns <- columns_within(width, min(nlevels(rows$panel), 3), each_in = 2.5, margin_in = .5)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$occasion)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey35", linetype = "dashed", linewidth = .4) +
    ggplot2::geom_point(ggplot2::aes(y = .data$value - .data$first_value), colour = "grey55", size = 1) +
    ggplot2::geom_linerange(ggplot2::aes(
      ymin = .data$conf_low, ymax = .data$conf_high, colour = .data$moved
    ), linewidth = .6) +
    ggplot2::geom_point(ggplot2::aes(y = .data$shift, colour = .data$moved, shape = .data$moved), size = 1.8) +
    panels_by("panel", n_columns, scales = "free_y") +
    colours_and_shapes(2) + one_legend(nrow = 1) + figure_theme() + grid_of_numbers() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(hjust = 1))
  said <- sprintf("%d of %s with an alarm.", sum(rows$is_alarm), counted(nrow(rows), "look"))
  finish_figure(
    plot, file, alt_text(
      sprintf("Shifts over %s", counted(length(unique(rows$occasion)), "later occasion")),
      notes = c(said, source_note(rows))
    ),
    width, height, 1.5 + 3 * n_columns, 1.9 + 2.4 * ceiling(nlevels(rows$panel) / n_columns),
    title = given_title(rows, "Has the model moved?"),
    subtitle = "Grey: each occasion less the first. Bars: the shift since it began, valid at every look.",
    caption = c(said, source_note(rows)), x = "Occasion", y = "Shift"
  )
}
