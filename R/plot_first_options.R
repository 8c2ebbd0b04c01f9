#' How often the option that is shown first is chosen
#'
#' The share of answers in which the first option was chosen, with its 95 % interval (Wilson's), by model, test and
#' condition, and the share that chance alone gives.
#'
#' @param data a data frame such as `check_first_option()` returns, with the columns `model` and `test`. Used if
#'   present: `model_label`, `test_label` and `condition_label` to show, `model_no`, `test_no` and `condition_no` to
#'   order by, `source` for the caption.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_first_options <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- first_options_to_draw(figure_rows(data))
  n_tests <- nlevels(rows$test_shown)
  n_columns <- columns_within(width, min(4, n_tests), each_in = 1.6, margin_in = 1.6)
  plot <- at_height(rows) +
    ggplot2::geom_vline(
      ggplot2::aes(xintercept = 100 * .data$chance), colour = "grey35", linetype = "dashed", linewidth = .4
    ) +
    dots_with_intervals(rows, "condition", filled = TRUE, size = 2.1, stroke = .5) +
    panels_by("test_shown", n_columns) +
    ggplot2::scale_x_continuous(limits = c(0, 100)) +
    models_on_y(rows) +
    condition_scales(nlevels(rows$condition)) +
    figure_theme()
  finish_figure(
    plot, file, first_options_in_words(rows), width, height, max(8, 3.2 + 2.6 * min(4, n_tests)),
    max(3, 1.9 + (.3 + .3 * nlevels(rows$model_shown)) * ceiling(n_tests / n_columns)),
    title = "Is the option that is shown first chosen more often?",
    subtitle = "Share of answers that choose the first option, with 95 % interval (Wilson); dashed: chance.",
    caption = source_note(rows), x = "First option chosen (%)"
  )
}

first_options_to_draw <- function(places) {
  needed <- c("model", "test", "condition", "n", "rate_first", "conf_low", "conf_high", "chance")
  rows <- rows_to_draw(places, needed, !is.na(places$rate_first), "first options", "row with a share")
  rows$condition <- shown_conditions(rows)
  rows <- with_shown(rows, c("model", "test"))
  rows$height <- heights_of(rows$model_shown, rows$condition, .22)
  with_intervals(rows, rows$rate_first, scale = 100)
}

first_options_in_words <- function(rows) {
  farthest <- rows[which.max(abs(rows$rate_first - rows$chance)), ]
  alt_text(
    sprintf(
      paste(
        "Share of answers that choose the option shown first, for %s by condition: from %.1f to %.1f per cent,",
        "%.1f by chance"
      ),
      counted_shown(rows, c("test", "model")), min(rows$at), max(rows$at), 100 * mean(rows$chance)
    ),
    notes = c(
      sprintf(
        "Farthest from chance: %s, %s, %s, with %.1f per cent.", farthest$model_shown, farthest$test_shown,
        farthest$condition, farthest$at
      ),
      source_note(rows)
    )
  )
}
