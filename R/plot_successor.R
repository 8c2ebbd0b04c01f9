#' Old effects against new ones, with the bound around equality
#'
#' @param data what [compare_successor()] returned: `measure`, `term`, `old`, `new`, their limits, `bound`,
#'   `verdict_holm`. Used where there: `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_successor <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- rows_to_draw(
    data, c("term", "old", "old_low", "old_high", "new", "new_low", "new_high", "difference", "bound", "verdict_holm"),
    !is.na(data$difference), "a successor", "row with a difference"
  )
  measure <- if (is.null(rows$measure)) "answer" else gsub("_", " ", as.character(rows$measure), fixed = TRUE)
  rows$panel <- paste(measure, ifelse(rows$term == "mean", "mean", "effects of levels"), sep = ", ")
  rows$panel <- factor(rows$panel, unique(rows$panel))
  verdict <- ifelse(is.na(rows$verdict_holm), "no bound", as.character(rows$verdict_holm))
  known <- c("equivalent within the bound", "differs by more than the bound", "not decided", "no bound")
  rows$verdict_shown <- droplevels(factor(verdict, known))
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
    colours_of_verdicts(levels(rows$verdict_shown)) + one_legend(ncol = 2) +
    figure_theme() + grid_of_numbers() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(hjust = 1))
  counts <- table(rows$verdict_shown)
  said <- paste0(paste(counts, names(counts), collapse = ", "), ".")
  far <- rows[which.max(abs(rows$difference)), ]
  finish_figure(
    plot, file, alt_text(
      sprintf("Old against new, of %s", sprintf("%d means and effects", nrow(rows))),
      notes = c(said, sprintf("Farthest apart: %s, %.3g.", far$term, far$difference), source_note(rows))
    ),
    width, height, 1.5 + 3 * n_columns, 1.9 + 2.6 * ceiling(nlevels(rows$panel) / n_columns),
    title = given_title(rows, "Does it carry over to the successor?"),
    subtitle = "Dashed: the same. Grey: nearer than the bound.", caption = c(said, source_note(rows)),
    x = "Old, with 95 % interval", y = "New, with 95 % interval"
  )
}

# What is not decided is no finding, and has no colour.
colours_of_verdicts <- function(verdicts) {
  colours <- c("equivalent within the bound" = "#0072B2", "differs by more than the bound" = "#D55E00")[verdicts]
  list(
    ggplot2::scale_colour_manual(values = unname(ifelse(is.na(colours), "grey55", colours)), drop = FALSE),
    ggplot2::scale_shape_manual(values = recycled_shapes(length(verdicts)), drop = FALSE)
  )
}
