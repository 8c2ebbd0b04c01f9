# Figures of the parts of alike(): how far a model is from people at each item, whether models vary as people do, order
# items as they do, hold their range, and follow groups of them as personas. Each takes the table of that part, or a
# list with it; `item` is NA for all items.

# With the bound of what would matter.
plot_alike <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("alike", data, file, width, height, ...)
  rows <- rows[!is.na(rows$difference) & !is.na(rows$name) & rows$sd_people > 0, , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw: no item has a difference between the model and people.")
  in_sd <- function(values) values / rows$sd_people
  rows <- with_intervals(rows, in_sd(rows$difference), in_sd(rows$conf_low), in_sd(rows$conf_high))
  bound <- max(in_sd(rows$bound))
  within <- sum(rows$low > -bound & rows$high < bound, na.rm = TRUE)
  rows <- attribute_figure_rows(transform(with_tests(rows), level = as.character(rows$name)))
  attribute_figure(
    attribute_dots(rows, 0) + ggplot2::geom_vline(xintercept = c(-bound, bound), colour = "#D55E00", linewidth = .5),
    rows, "Differences between models and people",
    sprintf("%s entirely within the bound.", intervals_in_words(within)), of = counted(nrow(rows), "row"),
    subtitle = sprintf("In standard deviations of people's answers. Orange: what would matter (%.2g).", bound)
  )
}

plot_alike_spread <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- by_item(begin_figure("alike_spread", data, file, width, height, ...))
  rows <- with_intervals(rows, rows$variance_ratio, rows$ratio_low, rows$ratio_high)
  alike_dots(
    rows[is.finite(rows$at) & rows$at > 0, , drop = FALSE], 1, ggplot2::scale_x_log10(),
    "Ratios of variances, model over people, with 95 % intervals"
  )
}

plot_alike_range <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- by_item(begin_figure("alike_range", data, file, width, height, ...))
  expected <- ggplot2::geom_point(
    ggplot2::aes(x = 100 * .data$expected, y = .data$level_shown), shape = 124, size = 4, colour = "#D55E00",
    inherit.aes = FALSE
  )
  alike_dots(
    with_intervals(rows, rows$share_outside, scale = 100), NULL, expected,
    "Shares of people's answers outside the central 95 % of the model's, per cent"
  )
}

plot_alike_personas <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- with_tests(begin_figure("alike_personas", data, file, width, height, ...))
  both <- rbind(
    with_intervals(rows, rows$correlation), with_intervals(rows, rows$slope, rows$slope_low, rows$slope_high)
  )
  both$level <- rep(c("correlation with the group", "slope of people on the model"), each = nrow(rows))
  both <- both[!is.na(both$at), , drop = FALSE]
  alike_dots(both, 1, NULL, "How personas follow groups of people, with 95 % intervals")
}

plot_alike_order <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- with_tests(begin_figure("alike_order", data, file, width, height, ...))
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
    figure_theme() + grid_of_numbers() + numbers_right()
  words <- sprintf("Means of %s, of models over people", counted(nrow(unique(rows["name"])), "item"))
  finish_figure(
    plot, alt_text(words, "Correlations", orders_in_words(rows)), 2.4 + 3 * ceiling(n_panels / n_columns),
    1.5 + 3 * n_columns, source = c(paste0(orders_in_words(rows), "."), source_note(rows)), said = NULL
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

# Rows whose panel (`attribute`) is the test, and whose `level` is the item, all of them together last.
with_tests <- function(rows) {
  rows$attribute <- if (is.null(rows$test)) rep("items", nrow(rows)) else as.character(rows$test)
  rows
}
by_item <- function(rows) {
  rows <- with_tests(rows)[order(is.na(rows$item)), , drop = FALSE]
  rows$level <- ifelse(is.na(rows$item), "all items", as.character(rows$item))
  rows
}

alike_dots <- function(rows, reference, layer, what) {
  if (nrow(rows) == 0) stop_with("Can't draw: no row has a value.")
  rows <- attribute_figure_rows(rows)
  words <- alt_text(what, "The lowest and the highest", extremes_in_words(rows))
  finish_figure(attribute_dots(rows, reference) + layer, words, inches_by_level(rows))
}
