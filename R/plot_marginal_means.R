#' Marginal means of the levels of attributes, with their intervals
#'
#' @param data what [marginal_means()] returned, or a data frame with one row per level (and model): `attribute` and
#'   `level`, or `term` (`"attribute: level"`), `estimate`, `conf_low`, `conf_high`. Used if present: `model`,
#'   `model_label`, `overall` (the mean of all rows, a dashed line), `outcome` (what was measured), `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_marginal_means <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "estimates")
  check_figure_columns(rows, c("estimate", "conf_low", "conf_high"))
  rows <- attribute_figure_rows(in_percent(rows))
  outcome <- outcome_of(rows)
  overall <- if ("overall" %in% names(rows)) unique(rows$overall)
  overall <- if (length(overall) == 1) (if (shows_shares(rows)) 100 else 1) * overall
  attribute_figure(
    attribute_dots(rows, overall), rows, "Marginal means", source_note(rows), file, width, height,
    title = given_title(rows, "What is the mean at each level?"),
    subtitle = "Over all that was shown together with it: no level is a reference.",
    caption = c(source_note(rows), if (!is.null(overall)) "Dashed: the mean of all."),
    x = sprintf(
      "%s%s%s; 95 %% intervals", if (is.null(outcome)) "Outcome" else outcome, in_unit(rows),
      if (shows_shares(rows)) ", per cent" else ", mean"
    )
  )
}

extremes_in_words <- function(rows) {
  at <- c(which.min(rows$at), which.max(rows$at))
  numbers <- vapply(signif(rows$at[at], 3), plain_number_text, "")
  sprintf("%s: %s %s", rows$attribute_shown[at], rows$level_shown[at], numbers)
}
