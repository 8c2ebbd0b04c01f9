#' How often the option that is shown first is chosen
#'
#' The share of answers in which the first option was chosen, with its 95 % interval (Wilson's), by model, test and
#' condition, and the share that chance alone gives.
#'
#' @param places a data frame such as [check_first_option()] returns, with the columns `model` and `test`. Used where
#'   there: `model_label`, `test_label` and `condition_label` to show, `model_no`, `test_no` and `condition_no` to order
#'   by, `source` for the caption.
#' @param file a path that ends in `.svg` or `.png` to write the figure to; `NULL` gives the plot.
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' answers <- transform(simulate_forced_choice(n_words = 5), test = domain, condition = block, first_letter = "A")
#' plot_first_options(check_first_option(
#'   answers, by = c("source", "model", "test"), chosen = "chosen_letter", first = "first_letter",
#'   expected = "consistent_letter"
#' ))
plot_first_options <- function(places, file = NULL) {
  need_package("ggplot2", "draw a figure")
  check_file_ending(file)
  check_columns(
    places, c("model", "test", "condition", "n", "rate_first", "conf_low", "conf_high", "chance"),
    to = "draw first options"
  )
  places <- places[!is.na(places$rate_first), , drop = FALSE]
  if (nrow(places) == 0) {
    stop_with("Can't draw first options: there is no row with a share.")
  }
  places$condition <- shown_conditions(places)
  places$model_shown <- ordered_labels(places, "model", "model_label", "model_no")
  places$test_shown <- ordered_labels(places, "test", "test_label", "test_no")
  places$height <- nlevels(places$model_shown) + 1 - as.integer(places$model_shown) +
    beside(nlevels(places$condition), .22)[as.integer(places$condition)]
  width_in <- max(8, 3.2 + 2.6 * min(4, nlevels(places$test_shown)))
  plot <- first_option_layers(places) +
    ggplot2::labs(
      title = "Is the option that is shown first chosen more often?",
      subtitle = "Share of answers that choose the first option, with 95 % interval (Wilson); dashed: chance.",
      x = "First option chosen (%)", y = NULL, fill = NULL, shape = NULL,
      caption = caption_of(source_note(places), width_in = width_in)
    )
  n_rows <- ceiling(nlevels(places$test_shown) / 4)
  height_in <- 1.9 + (.3 + .3 * nlevels(places$model_shown)) * n_rows
  finish_figure(plot, file, first_options_in_words(places), width_in = width_in, height_in = max(3, height_in))
}

first_option_layers <- function(places) {
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
    ggplot2::facet_wrap(ggplot2::vars(.data$test_shown), ncol = min(4, nlevels(places$test_shown))) +
    ggplot2::scale_x_continuous(limits = c(0, 100)) +
    ggplot2::scale_y_continuous(
      breaks = seq_along(models), labels = models, limits = c(.5, length(models) + .5), expand = c(0, 0)
    ) +
    condition_scales(nlevels(places$condition)) +
    figure_theme()
}

first_options_in_words <- function(places) {
  farthest <- places[which.max(abs(places$rate_first - places$chance)), ]
  sprintf(
    paste(
      "Share of answers that choose the option shown first, for %s and %s by condition: from %.1f to %.1f per cent,",
      "%.1f by chance. Farthest from chance: %s, %s, %s, with %.1f per cent. %s"
    ),
    counted(nlevels(places$test_shown), "test"), counted(nlevels(places$model_shown), "model"),
    100 * min(places$rate_first), 100 * max(places$rate_first), 100 * mean(places$chance), farthest$model_shown,
    farthest$test_shown, farthest$condition, 100 * farthest$rate_first, source_note(places)
  )
}
