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
#' trials <- subset(simulate_trials(n_wordings = 2), !is_refusal)
#' plot_effect_sizes(effect_size(trials, by = c("model", "test")), width = 3.5)
plot_effect_sizes <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- effects_to_draw(with_cells(figure_rows(data, "estimates"), c("model", "test")))
  models <- levels(rows$model_shown)
  legend_rows <- ceiling(length(models) / min(5, legend_columns(models, inches_or(width, 9), letters_per_in = 13)))
  finish_figure(
    forest_by_test(rows, one_legend(nrow = legend_rows)), file, effects_in_words(rows),
    width, height, 9, inches_by_test(rows),
    title = "Do models think longer when a pairing goes against the usual association?",
    subtitle = sprintf(
      "Right of 0: more tokens in the %s condition; left: more in the %s one.",
      one_text(rows, "compared", "second"), one_text(rows, "reference", "first")
    ),
    caption = c(source_note(rows), measure_note(rows)), x = "Cohen's d with 95 % interval"
  )
}

effects_to_draw <- function(estimates) {
  with_intervals(rows_by_test(
    estimates, c("estimate", "conf_low", "conf_high"), "effect sizes", "row with an estimate",
    ", with refusals either removed or kept"
  ))
}

effects_in_words <- function(rows) {
  is_above <- rows$low > 0
  is_below <- rows$high < 0
  alt_text(
    sprintf("Cohen's d with 95 %% intervals for %s", counted_shown(rows, c("test", "model"))),
    notes = c(
      sprintf(
        "Of %s, %d lie above 0 (more tokens in the %s condition), %d below 0, and %d with intervals that include 0.",
        counted(nrow(rows), "effect"), sum(is_above), one_text(rows, "compared", "second"), sum(is_below),
        sum(!is_above & !is_below)
      ),
      sprintf("The largest is %.2f, the smallest %.2f.", max(rows$at), min(rows$at)),
      source_note(rows), measure_note(rows)
    )
  )
}
