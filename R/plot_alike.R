#' How far a model is from people at each item, with the bound of what would matter
#'
#' @param data the table `differences` of [alike()], or a list with it: `name`, `difference`, `conf_low`, `conf_high`,
#'   `sd_people`, `bound` (rows of items, or of effects). Used where there: `model`, `model_label`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_alike <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "differences")
  check_figure_columns(rows, c("name", "difference", "conf_low", "conf_high", "sd_people", "bound"))
  rows <- rows[!is.na(rows$difference) & !is.na(rows$name) & rows$sd_people > 0, , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw: no item has a difference between the model and people.")
  in_sd <- function(values) values / rows$sd_people
  rows <- with_intervals(rows, in_sd(rows$difference), in_sd(rows$conf_low), in_sd(rows$conf_high))
  rows$attribute <- if (is.null(rows$test)) rep("items", nrow(rows)) else as.character(rows$test)
  rows$level <- as.character(rows$name)
  bound <- max(in_sd(rows$bound))
  rows <- attribute_figure_rows(rows)
  within <- sum(rows$low > -bound & rows$high < bound, na.rm = TRUE)
  attribute_figure(
    attribute_dots(rows, 0) + ggplot2::geom_vline(xintercept = c(-bound, bound), colour = "#D55E00", linewidth = .5),
    rows, "Differences between models and people",
    c(sprintf("%s whole within the bound.", intervals_in_words(within)), source_note(rows)), file, width, height,
    of = counted(nrow(rows), "row"),
    title = given_title(rows, "How far is the model from people?"),
    subtitle = sprintf("In standard deviations of people's answers. Orange: what would matter (%.2g).", bound),
    caption = source_note(rows), x = "Model less people, with 95 % interval"
  )
}
