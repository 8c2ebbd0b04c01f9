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
