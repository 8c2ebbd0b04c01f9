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
#' units <- data.frame(cells, x = true + stats::rnorm(50, sd = .3), y = true + stats::rnorm(50, sd = .3))
#' units[c("x_error", "y_error")] <- .3
#' plot_validity(units)
plot_validity <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- validity_to_draw(figure_rows(data))
  found <- validity_of(as.data.frame(rows[c("model", "test", "x", "x_error", "y", "y_error")]), .05)
  names <- vapply(c("measure_x", "measure_y"), function(name) {
    if (is.null(rows[[name]])) sub("measure_", "", name) else as.character(rows[[name]][[1]])
  }, "")
  models <- levels(rows$model_shown)
  whisker <- ggplot2::aes(x = .data$x_low, xend = .data$x_high, y = .data$y, yend = .data$y, colour = .data$model_shown)
  pole <- ggplot2::aes(x = .data$x, xend = .data$x, y = .data$y_low, yend = .data$y_high, colour = .data$model_shown)
  dot <- ggplot2::aes(x = .data$x, y = .data$y, colour = .data$model_shown, shape = .data$model_shown)
  # One dot a model: its name stands next to it.
  named <- if (anyDuplicated(rows$model) == 0) {
    list(
      ggplot2::geom_text(ggplot2::aes(x = .data$x, y = .data$y, label = .data$model_shown),
        hjust = 0, nudge_x = diff(range(rows$x)) / 60, vjust = -.6, size = 2.8, check_overlap = TRUE
      ),
      ggplot2::guides(colour = "none", shape = "none")
    )
  }
  plot <- ggplot2::ggplot(rows) +
    ggplot2::geom_segment(whisker, linewidth = .4, alpha = .6) +
    ggplot2::geom_segment(pole, linewidth = .4, alpha = .6) +
    ggplot2::geom_point(dot, size = 2, stroke = .8) +
    colours_and_shapes(length(models)) +
    one_legend(ncol = legend_columns(models, inches_or(width, 7))) +
    named +
    figure_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_line(colour = "grey90"))
  finish_figure(
    plot, file, validity_in_words(rows, found, names), width, height, 7, 6,
    title = "Do the measures agree?", subtitle = correlations_in_words(found),
    caption = "Bars: 1.96 standard errors.", x = names[[1]], y = names[[2]]
  )
}

validity_to_draw <- function(data) {
  needed <- c("model", "test", "x", "x_error", "y", "y_error")
  rows <- with_tests_on_y(rows_to_draw(
    data, needed, stats::complete.cases(data[needed[-(1:2)]]), "two measures", "row with both measures", needed[1:2],
    "a model has more than one row for a test", "Keep the rows of one pair of measures."
  ))
  for (side in c("x", "y")) {
    half_width <- stats::qnorm(.975) * rows[[paste0(side, "_error")]]
    rows[[paste0(side, "_low")]] <- rows[[side]] - half_width
    rows[[paste0(side, "_high")]] <- rows[[side]] + half_width
  }
  rows
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

validity_in_words <- function(rows, found, names) {
  alt_text(
    sprintf("%s against %s for %s", names[[2]], names[[1]], counted_shown(rows, c("test", "model"))),
    notes = correlations_in_words(found)
  )
}
