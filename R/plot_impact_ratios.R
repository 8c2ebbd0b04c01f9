#' Adverse impact ratios with their intervals, next to four fifths
#'
#' @param data what [impact_ratio()] returned, or a data frame with one row per level: `attribute`, `level`, `ratio`,
#'   `conf_low`, `conf_high`, `reference`. Used if present: `is_below_four_fifths`, `model`, `model_label`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_impact_ratios <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- figure_rows(data, "ratios")
  check_figure_columns(rows, c("attribute", "level", "ratio", "conf_low", "conf_high", "reference"))
  n_lacking <- sum(is.na(rows$ratio))
  rows <- rows[!is.na(rows$ratio), , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw: no level has a ratio.")
  rows <- attribute_figure_rows(with_intervals(rows, rows$ratio))
  below <- sum(rows$high < .8, na.rm = TRUE)
  against <- if (length(unique(rows$reference)) == 1 && rows$reference[[1]] == "all others") {
    "Each level's rate divided by that of all others together."
  } else {
    "Each level's rate divided by the reference level's."
  }
  attribute_figure(
    attribute_dots(rows, 1) + ggplot2::geom_vline(xintercept = .8, colour = "#D55E00", linewidth = .5), rows,
    "Impact ratios", c(sprintf("%s entirely below .8.", intervals_in_words(below)), source_note(rows)), file, width,
    height,
    title = given_title(rows, "Is a group taken less often?"),
    subtitle = paste(against, "Orange: the four-fifths threshold; below it only with the whole interval."),
    caption = c(source_note(rows), if (n_lacking > 0) sprintf("%s no ratio (a rate of 0).", levels_have(n_lacking))),
    x = "Impact ratio with 95 % interval"
  )
}

intervals_in_words <- function(n) if (n == 1) "1 interval is" else sprintf("%d intervals are", n)

levels_have <- function(n) paste(counted(n, "level"), if (n == 1) "has" else "have")
