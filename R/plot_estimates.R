# The estimates of a fit with their intervals, one panel a term: what plot() draws of fits that have no figure.
plot_estimates <- function(data, file = NULL, term = NULL, width = NULL, height = NULL, ...) {
  rows <- with_outcome(begin_figure("estimates", data, file, width, height, ...), data)
  known <- unique(as.character(rows$term))
  drawn <- if (is.null(term)) setdiff(known, c("intercept", "(Intercept)")) else term
  if (length(unknown <- setdiff(drawn, known)) > 0 || length(drawn) == 0) {
    stop_with(
      sprintf("There is no term %s to draw.", quoted(unknown)), sprintf("Terms there are: %s.", toString(known))
    )
  }
  check_columns(rows, c("estimate", "conf_low", "conf_high"), to = "draw estimates")
  rows <- rows_to_draw("estimates", rows, rows$term %in% drawn & !is.na(rows$conf_low))
  by <- intersect(c("model", "test"), names(rows))
  rows$cell <- if (length(by) == 0) "all rows" else in_words_by(rows, by)
  rows$cell <- factor(rows$cell, levels = rev(unique(rows$cell)))
  outcome <- outcome_of(rows)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$estimate, .data$cell)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey70") +
    ggplot2::geom_errorbarh(ggplot2::aes(xmin = .data$conf_low, xmax = .data$conf_high), height = .2) +
    ggplot2::geom_point(size = 2) +
    ggplot2::facet_wrap(~term, scales = "free_x") +
    figure_theme()
  words <- alt_text(
    sprintf("Estimates with 95 %% intervals for %s", counted(nlevels(rows$cell), "group")), "Estimate, from, to",
    sprintf("%s, %s: %.3g, %.3g, %.3g", rows$cell, rows$term, rows$estimate, rows$conf_low, rows$conf_high)
  )
  finish_figure(
    plot, words, 1.6 + .3 * nlevels(rows$cell),
    title = if (is.null(outcome)) "Estimates" else sprintf("Estimates of the %s", outcome),
    x = if (is.null(outcome)) "Estimate" else sprintf("Estimate (in units of the %s)", outcome)
  )
}

#' @param term terms to draw; all but intercepts if it is left out.
#' @rdname slant_fit
#' @method plot slant_fit
#' @export
plot.slant_fit <- function(x, term = NULL, ...) {
  if (is.data.frame(x$tables$topics) && is.null(term)) {
    return(plot_topic_prevalence(x, ...))
  }
  if (isTRUE(nrow(x$tables$contrasts) > 0) && "test" %in% names(x$tables$contrasts) && is.null(term)) {
    return(plot_condition_contrasts(x, ...))
  }
  if (length(x$estimates$term) > 0 && all(x$estimates$term == "cohens_d") && is.null(term)) {
    return(plot_effect_sizes(x, ...))
  }
  plot_estimates(x, term = term, ...)
}

#' @rdname slant_fit
#' @method autoplot slant_fit
#' @rawNamespace S3method(ggplot2::autoplot,slant_fit)
autoplot.slant_fit <- function(object, ...) plot.slant_fit(object, ...) # nolint: object_name_linter.
