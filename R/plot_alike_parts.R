# Figures of the parts of alike(): how far models vary as people do, order items as they do, hold their range, and
# follow groups of them as personas. Each takes the table of that part, or a list with it.

#' Do models vary as people do?
#'
#' @param data the table `spread` of [alike()], or a list with it: `item` (`NA`: all items), `variance_ratio`,
#'   `ratio_low`, `ratio_high`. Used where there: `model`, `model_label`, `test`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_alike_spread <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- part_of_alike(data, "spread", c("item", "variance_ratio", "ratio_low", "ratio_high"))
  rows <- with_intervals(rows, rows$variance_ratio, rows$ratio_low, rows$ratio_high)
  rows <- rows[is.finite(rows$at) & rows$at > 0, , drop = FALSE]
  alike_dots(
    rows, file, width, height, reference = 1, layers = list(ggplot2::scale_x_log10()),
    what = "Ratios of variances, model over people, with 95 % intervals", title = "Do models vary as people do?",
    subtitle = "Below 1: the model's answers vary less than people's do.", x = "Variance of the model over people's"
  )
}

#' Which share of people's answers is outside the model's range?
#'
#' @param data the table `range` of [alike()], or a list with it: `item` (`NA`: all items), `share_outside`, `conf_low`,
#'   `conf_high`, `expected` (0 to 1). Used where there: `model`, `model_label`, `test`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_alike_range <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- part_of_alike(data, "range", c("item", "share_outside", "conf_low", "conf_high", "expected"))
  rows <- with_intervals(rows, rows$share_outside, scale = 100)
  expected <- ggplot2::geom_point(
    ggplot2::aes(x = 100 * .data$expected, y = .data$level_shown), shape = 124, size = 4, colour = "#D55E00",
    inherit.aes = FALSE
  )
  alike_dots(
    rows, file, width, height, layers = list(expected),
    what = "Shares of people's answers outside the central 95 % of the model's, per cent",
    title = "How many people's answers lie outside the model's?",
    subtitle = "Orange: what is expected of answers drawn from one distribution.",
    x = "People's answers outside the central 95 % of the model's (%)"
  )
}

#' Does a persona follow the people of its group?
#'
#' @param data the table `personas` of [alike()], or a list with it: `correlation`, `conf_low`, `conf_high`, `slope`,
#'   `slope_low`, `slope_high`. Used where there: `model`, `model_label`, `test`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_alike_personas <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  needed <- c("correlation", "conf_low", "conf_high", "slope", "slope_low", "slope_high")
  rows <- part_of_alike(data, "personas", needed)
  both <- rbind(
    with_intervals(rows, rows$correlation), with_intervals(rows, rows$slope, rows$slope_low, rows$slope_high)
  )
  both$level <- rep(c("correlation with the group", "slope of people on the model"), each = nrow(rows))
  both <- both[!is.na(both$at), , drop = FALSE]
  alike_dots(
    both, file, width, height, reference = 1, what = "How personas follow groups of people, with 95 % intervals",
    title = "Does a persona follow the people of its group?",
    subtitle = "Over groups and items, corrected for errors. Slope below 1: personas are drawn larger than people are.",
    x = "1: as the people of the group"
  )
}

#' Do models put items in the order in which people do?
#'
#' @param data the table `differences` of [alike()], or a list with it: `name`, `kind`, `mean_model`, `mean_people`.
#'   Used where there: `model`, `model_label`, `test`, `source`, and of the table `order` `corrected`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_alike_order <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- part_of_alike(data, "differences", c("name", "kind", "mean_model", "mean_people"))
  rows <- rows[rows$kind == "item", , drop = FALSE]
  rows$model_shown <- ordered_labels(rows, "model")
  rows$test_shown <- ordered_labels(rows, "attribute")
  limits <- range(c(rows$mean_model, rows$mean_people), na.rm = TRUE)
  n_panels <- nlevels(rows$test_shown)
  n_columns <- columns_within(width, min(n_panels, 3), each_in = 2.5, margin_in = .5)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$mean_people, y = .data$mean_model, colour = .data$model_shown, shape = .data$model_shown
  )) +
    ggplot2::geom_abline(colour = "grey35", linetype = "dashed", linewidth = .4) +
    ggplot2::geom_point(size = 2, stroke = .9) +
    panels_by("test_shown", n_columns) +
    ggplot2::coord_equal(xlim = limits, ylim = limits) +
    colours_and_shapes(nlevels(rows$model_shown)) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(hjust = 1))
  finish_figure(
    plot, file, alt_text(
      sprintf("Means of %s, of models over people", counted(nrow(unique(rows["name"])), "item")),
      "Correlations", orders_in_words(rows), notes = source_note(rows)
    ),
    width, height, 1.5 + 3 * n_columns, 2.4 + 3 * ceiling(n_panels / n_columns),
    title = given_title(rows, "Do models put items in the order of people?"),
    subtitle = "Means of items; dashed: the same mean.",
    caption = c(paste0(orders_in_words(rows), "."), source_note(rows)),
    x = "Mean of people", y = "Mean of the model"
  )
}

# "r = 0.93 (gpt-4o, ratings)", corrected for the errors of both where that is known.
orders_in_words <- function(rows) {
  of_cells <- split(rows, interaction(rows$model_shown, rows$test_shown, drop = TRUE, lex.order = TRUE))
  unname(vapply(of_cells, function(cell) {
    corrected <- if (is.null(cell$corrected)) NA_real_ else cell$corrected[[1]]
    r <- if (is.na(corrected)) stats::cor(cell$mean_model, cell$mean_people) else corrected
    sprintf(
      "r = %.2f%s (%s, %s)", r, if (is.na(corrected)) "" else ", corrected for errors", cell$model_shown[[1]],
      cell$test_shown[[1]]
    )
  }, ""))
}

# Rows with `attribute` (the test) and `level` (the item), of which there must be some.
part_of_alike <- function(data, part, needed) {
  rows <- figure_rows(data, part)
  check_figure_columns(rows, needed)
  rows <- with_cells(rows, "model")
  rows$attribute <- if (is.null(rows$test)) rep("items", nrow(rows)) else as.character(rows$test)
  if ("item" %in% needed) {
    all_last <- order(is.na(rows$item))
    rows <- rows[all_last, , drop = FALSE]
    rows$level <- ifelse(is.na(rows$item), "all items", as.character(rows$item))
  }
  rows
}

alike_dots <- function(rows, file, width, height, reference = NULL, layers = list(), what, title, subtitle, x) {
  if (nrow(rows) == 0) stop_with("Can't draw: no row has a value.")
  rows <- attribute_figure_rows(rows)
  finish_figure(
    attribute_dots(rows, reference) + layers, file,
    alt_text(what, "The lowest and the highest", extremes_in_words(rows), notes = source_note(rows)), width, height, 8,
    inches_by_level(rows), title = given_title(rows, title), subtitle = subtitle, caption = source_note(rows), x = x
  )
}
