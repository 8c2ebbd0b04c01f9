#' Effect sizes with their intervals, by test and model
#'
#' The main figure (Figure 2) of the RM-IAT paper: Cohen's d with its 95 % interval for each test and model. Models
#' differ in colour and in shape.
#'
#' @param data what [effect_size()] returned, or a data frame with one row per model and test: `estimate`,
#'   `conf_low`, `conf_high`, and `model` and `test` (without these: all of them together). Used where there:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows),
#'   `reference` and `compared` (what the two conditions are called), `source` and `token_source` (what the tokens
#'   are) for the caption. [effect_size()] of rows that have labels gives all of these.
#' @param file a path that ends in `.svg`, `.png` or `.pdf` to write the figure to; `NULL` gives the plot.
#' @param width,height in inches; `NULL` is the figure's own. The words wrap to a `width` that is given, panels that
#'   it has no room for stand below each other, and the height follows.
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' estimates <- data.frame(
#'   model = rep(c("o3-mini", "deepseek-r1"), each = 2), test = rep(c("flowers_insects", "age_valence"), 2),
#'   estimate = c(1.04, .61, .72, .28), conf_low = c(.95, .45, .63, .12), conf_high = c(1.14, .77, .81, .44),
#'   source = "imported"
#' )
#' plot_effect_sizes(estimates)
#' plot_effect_sizes(effect_size(simulate_trials(n_wordings = 2), by = c("model", "test")), width = 3.5)
plot_effect_sizes <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  estimates <- effects_to_draw(with_cells(data_of(data, "estimates"), c("model", "test")))
  models <- levels(estimates$model_shown)
  plot <- effect_layers(estimates, inches_or(width, 9)) +
    colours_and_shapes(length(models)) +
    ggplot2::labs(
      title = "Do models think longer when a pairing goes against the usual association?",
      subtitle = sprintf(
        "Right of 0: more tokens in the %s condition; left: more in the %s one.",
        side_named(estimates, "compared", "second"), side_named(estimates, "reference", "first")
      ),
      x = "Cohen's d with 95 % interval", y = NULL, colour = NULL, shape = NULL,
      caption = caption_of(source_note(estimates), measure_note(estimates))
    )
  n_rows <- nlevels(estimates$test_shown) * (length(models) + 2)
  height_in <- 2 + .13 * max(n_rows, 8)
  finish_figure(plot, file, effects_in_words(estimates), width, height, width_in = 9, height_in = height_in)
}

effects_to_draw <- function(estimates) {
  check_columns(estimates, c("model", "test", "estimate", "conf_low", "conf_high"), to = "draw effect sizes")
  estimates <- rows_to_draw(
    estimates, !is.na(estimates$estimate), "effect sizes", "row with an estimate", c("model", "test"),
    "a model has more than one row for a test",
    "Keep the rows of one source, study version and variant, with refusals either removed or kept."
  )
  estimates <- with_shown(estimates, c("model", "test"))
  levels(estimates$test_shown) <- two_lines(levels(estimates$test_shown))
  # The first test on top, and in it the first model; a model keeps its height where another one is missing.
  test_row <- nlevels(estimates$test_shown) + 1 - as.integer(estimates$test_shown)
  n_models <- nlevels(estimates$model_shown)
  estimates$height <- test_row + .75 * ((n_models + 1) / 2 - as.integer(estimates$model_shown)) / n_models
  estimates
}

effect_layers <- function(estimates, width_in) {
  .data <- ggplot2::.data
  tests <- rev(levels(estimates$test_shown))
  ggplot2::ggplot(estimates, ggplot2::aes(
    x = .data$estimate, y = .data$height, xmin = .data$conf_low, xmax = .data$conf_high,
    colour = .data$model_shown, shape = .data$model_shown
  )) +
    lines_between(tests) +
    zero_line() +
    ggplot2::geom_linerange(linewidth = .6) +
    ggplot2::geom_point(size = 2, stroke = .9) +
    names_on_y(tests) +
    one_legend(nrow = legend_rows(estimates, width_in)) +
    figure_theme()
}

legend_rows <- function(estimates, width_in) {
  models <- levels(estimates$model_shown)
  ceiling(length(models) / min(5, legend_columns(models, width_in, letters_per_in = 13)))
}

effects_in_words <- function(estimates) {
  is_above <- estimates$conf_low > 0
  is_below <- estimates$conf_high < 0
  sprintf(
    paste(
      "Cohen's d with 95 %% intervals for %s. Of %s, %d lie above 0 (more tokens in the",
      "%s condition), %d below 0, and %d with intervals that include 0. The largest is %.2f, the smallest",
      "%.2f. %s"
    ),
    counted_shown(estimates, c("test", "model")),
    counted(nrow(estimates), "effect"), sum(is_above), side_named(estimates, "compared", "second"), sum(is_below),
    sum(!is_above & !is_below), max(estimates$estimate), min(estimates$estimate),
    caption_of(source_note(estimates), measure_note(estimates))
  )
}
