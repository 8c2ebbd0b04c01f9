#' How often the option that is shown first is chosen
#'
#' The share of answers in which the first option was chosen, with its 95 % interval (Wilson's), by model, test and
#' condition, and the share that chance alone gives.
#'
#' @param data a data frame such as `check_first_option()` returns, with the columns `model` and `test`. Used where
#'   there: `model_label`, `test_label` and `condition_label` to show, `model_no`, `test_no` and `condition_no` to order
#'   by, `source` for the caption.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @noRd
plot_first_options <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  places <- data_of(data)
  check_columns(
    places, c("model", "test", "condition", "n", "rate_first", "conf_low", "conf_high", "chance"),
    to = "draw first options"
  )
  places <- rows_to_draw(places, !is.na(places$rate_first), "first options", "row with a share")
  places$condition <- shown_conditions(places)
  places <- with_shown(places, c("model", "test"))
  places$height <- nlevels(places$model_shown) + 1 - as.integer(places$model_shown) +
    beside(nlevels(places$condition), .22)[as.integer(places$condition)]
  n_tests <- nlevels(places$test_shown)
  n_columns <- columns_within(width, min(4, n_tests), each_in = 1.6, beside_in = 1.6)
  plot <- first_option_layers(places, n_columns) +
    ggplot2::labs(
      title = "Is the option that is shown first chosen more often?",
      subtitle = "Share of answers that choose the first option, with 95 % interval (Wilson); dashed: chance.",
      x = "First option chosen (%)", y = NULL, fill = NULL, shape = NULL,
      caption = caption_of(source_note(places))
    )
  height_in <- 1.9 + (.3 + .3 * nlevels(places$model_shown)) * ceiling(n_tests / n_columns)
  finish_figure(
    plot, file, first_options_in_words(places),
    width = width, height = height, width_in = max(8, 3.2 + 2.6 * min(4, n_tests)), height_in = max(3, height_in)
  )
}

first_option_layers <- function(places, n_columns) {
  .data <- ggplot2::.data
  models <- rev(levels(places$model_shown))
  ggplot2::ggplot(places, ggplot2::aes(x = 100 * .data$rate_first, y = .data$height)) +
    ggplot2::geom_vline(
      ggplot2::aes(xintercept = 100 * .data$chance), colour = "grey35", linetype = "dashed", linewidth = .4
    ) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = 100 * .data$conf_low, xmax = 100 * .data$conf_high), colour = "grey35", linewidth = .6
    ) +
    ggplot2::geom_point(ggplot2::aes(fill = .data$condition, shape = .data$condition), size = 2.1, stroke = .5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$test_shown), ncol = n_columns) +
    ggplot2::scale_x_continuous(limits = c(0, 100)) +
    names_on_y(models) +
    condition_scales(nlevels(places$condition)) +
    figure_theme()
}

first_options_in_words <- function(places) {
  farthest <- places[which.max(abs(places$rate_first - places$chance)), ]
  sprintf(
    paste(
      "Share of answers that choose the option shown first, for %s by condition: from %.1f to %.1f per cent,",
      "%.1f by chance. Farthest from chance: %s, %s, %s, with %.1f per cent. %s"
    ),
    counted_shown(places, c("test", "model")),
    100 * min(places$rate_first), 100 * max(places$rate_first), 100 * mean(places$chance), farthest$model_shown,
    farthest$test_shown, farthest$condition, 100 * farthest$rate_first, source_note(places)
  )
}
