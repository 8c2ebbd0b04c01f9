#' Adverse impact ratios with their intervals, next to four fifths
#'
#' @param data what [impact_ratio()] returned, or a data frame with one row per level: `attribute`, `level`, `ratio`,
#'   `conf_low`, `conf_high`, `reference`. Used if present: `is_below_four_fifths`, `model`, `model_label`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_impact_ratios <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "ratios")
  check_figure_columns(rows, c("attribute", "level", "ratio", "conf_low", "conf_high", "reference"))
  n_lacking <- sum(is.na(rows$ratio))
  rows <- rows[!is.na(rows$ratio), , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw: no level has a ratio.")
  rows <- attribute_figure_rows(with_intervals(rows, rows$ratio))
  below <- sum(rows$high < .8, na.rm = TRUE)
  is_zero <- rows$at == 0
  notes <- c(
    source_note(rows), if (n_lacking > 0) sprintf("%s no ratio (a reference rate of 0).", levels_have(n_lacking)),
    if (any(is_zero)) "Arrow: a ratio of 0, because nobody at that level was chosen."
  )
  against <- if (length(unique(rows$reference)) == 1 && rows$reference[[1]] == "all others") {
    "Each level's rate divided by that of all others together."
  } else {
    "Each level's rate divided by the reference level's."
  }
  attribute_figure(
    attribute_dots(on_log_axis(rows), 1, is_marked = !is_zero) +
      ggplot2::geom_vline(xintercept = .8, colour = "#D55E00", linewidth = .5) + arrows_at_zero(rows) + ratio_axis(),
    rows, "Impact ratios", c(sprintf("%s entirely below .8.", intervals_in_words(below)), notes), file, width, height,
    title = given_title(rows, "Is a group taken less often?"),
    subtitle = paste(
      against, "Orange: the four-fifths threshold; a level is flagged only if its whole interval lies below it."
    ),
    caption = notes, x = "Impact ratio with 95 % interval, log scale (right of 1: chosen more often)"
  )
}

# A log axis has no 0: what is 0 lies at the edge, as an arrow.
on_log_axis <- function(rows) {
  rows[c("at", "low", "high")] <- lapply(rows[c("at", "low", "high")], pmax, edge_of_ratios(rows))
  rows
}

edge_of_ratios <- function(rows) {
  known <- c(rows$at, rows$low, rows$high, .8)
  max(min(known[known > 0], na.rm = TRUE) / 1.15, .01)
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

levels_have <- function(n) paste(counted(n, "level"), if (n == 1) "has" else "have")
