# The estimates of a fit with their intervals, one panel a term: what plot() draws of fits that have no figure.
plot_estimates <- function(data, file = NULL, term = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- with_outcome(figure_rows(data, "estimates"), data)
  known <- unique(as.character(rows$term))
  drawn <- if (is.null(term)) setdiff(known, c("intercept", "(Intercept)")) else term
  if (length(unknown <- setdiff(drawn, known)) > 0 || length(drawn) == 0) {
    stop_with(
      sprintf("There is no term %s to draw.", quoted(unknown)), sprintf("Terms there are: %s.", toString(known))
    )
  }
  rows <- rows[rows$term %in% drawn, , drop = FALSE]
  rows <- rows_to_draw(
    rows, c("estimate", "conf_low", "conf_high"), !is.na(rows$conf_low), "estimates", "row with an interval"
  )
  by <- intersect(c("model", "test"), names(rows))
  rows$cell <- if (length(by) == 0) "all rows" else do.call(paste, c(unname(as.list(rows[by])), sep = ", "))
  rows$cell <- factor(rows$cell, levels = rev(unique(rows$cell)))
  outcome <- outcome_of(rows)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$estimate, .data$cell)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey70") +
    ggplot2::geom_errorbarh(ggplot2::aes(xmin = .data$conf_low, xmax = .data$conf_high), height = .2) +
    ggplot2::geom_point(size = 2) +
    ggplot2::facet_wrap(~term, scales = "free_x") +
    figure_theme()
  finish_figure(
    plot, file, estimates_in_words(rows), width, height, 7, 1.6 + .3 * nlevels(rows$cell),
    title = if (is.null(outcome)) "Estimates" else sprintf("Estimates of the %s", outcome),
    subtitle = "Points with 95 % intervals; at the line there is no difference.", caption = source_note(rows),
    x = if (is.null(outcome)) "Estimate" else sprintf("Estimate (in units of the %s)", outcome)
  )
}

estimates_in_words <- function(rows) {
  alt_text(
    sprintf("Estimates with 95 %% intervals for %s", counted(nlevels(rows$cell), "group")), "Estimate, from, to",
    sprintf("%s, %s: %.3g, %.3g, %.3g", rows$cell, rows$term, rows$estimate, rows$conf_low, rows$conf_high)
  )
}
