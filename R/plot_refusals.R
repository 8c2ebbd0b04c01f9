#' How often models refuse, by condition
#'
#' The share of trials that each model refuses in each test and condition, with its 95 % interval (Wilson's). Table S4
#' of the RM-IAT paper counts the same refusals without telling the conditions apart; where a model refuses more often
#' in one condition, the tokens that are left don't compare.
#'
#' @param data a data frame with one row per model, test and condition, such as the view `refusals_by_condition`:
#'   `model`, `test`, `condition`, `n_trials` and `n_refusals`. Used if present: `model_label` and `test_label` to
#'   show, `model_no` and `test_no` to order by (else the order of rows), `source` for the caption.
#' @inheritParams plot_effect_sizes
#' @param levels the conditions in the order to show them.
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`. Its data are
#'   the rows with `rate`, `rate_low` and `rate_high`, shares from 0 to 1.
#' @noRd
plot_refusals <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- refusals_to_draw(figure_rows(data), levels)
  n_models <- nlevels(rows$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, margin_in = 1.6)
  tests <- rev(levels(rows$test_shown))
  n <- format(colSums(rows[c("n_trials", "n_refusals")]), big.mark = ",", trim = TRUE)
  plot <- at_height(rows) +
    lines_between(tests) +
    dots_with_intervals(rows, "condition", filled = TRUE, size = 2.1, stroke = .5) +
    panels_by("model_shown", n_columns) +
    ggplot2::scale_x_continuous(limits = c(0, NA), guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    names_on_y(tests) +
    condition_scales(nlevels(rows$condition)) +
    figure_theme()
  finish_figure(
    plot, file, refusals_in_words(rows), width, height, max(8, 3.2 + 2.1 * min(5, n_models)),
    1.9 + .42 * max(length(tests), 2) * ceiling(n_models / n_columns),
    title = "Refusals by condition",
    subtitle = "Share of trials that are refusals by the study's rule, with 95 % interval (Wilson).",
    caption = c(source_note(rows), sprintf("%s trials, %s of them refused.", n[["n_trials"]], n[["n_refusals"]])),
    x = "Refused trials (%)"
  )
}

refusals_to_draw <- function(refusals, levels) {
  needed <- c("model", "test", "condition", "n_trials", "n_refusals")
  rows <- rows_to_draw(
    refusals, needed,
    (is.null(levels) | refusals$condition %in% levels) & !is.na(refusals$n_trials) & refusals$n_trials > 0, "refusals",
    "row with trials", needed[1:3], "a model has more than one row for a test and condition",
    "Keep the rows of one source, study version and variant."
  )
  rows$condition <- shown_conditions(rows, levels = levels)
  rows <- with_tests_on_y(rows)
  rows$height <- heights_of(rows$test_shown, rows$condition, .17)
  rows <- cbind(rows, rate = rows$n_refusals / rows$n_trials, wilson(rows$n_refusals, rows$n_trials))
  with_intervals(rows, rows$rate, rows$rate_low, rows$rate_high, scale = 100)
}

refusals_in_words <- function(rows) {
  sums <- function(column) tapply(rows[[column]], list(rows$model_shown, rows$condition), sum)
  percent <- 100 * sums("n_refusals") / sums("n_trials")
  highest <- rows[which.max(rows$rate), ]
  alt_text(
    sprintf("Share of refused trials for %s by condition", counted_shown(rows, c("test", "model"))),
    sprintf("Per cent over all tests, %s", all_in_words(colnames(percent))), each_row_in_words(percent, "%.1f"),
    sprintf(
      "The highest share is %.1f per cent: %s, %s, %s.", highest$at, highest$model_shown,
      sub("\n", " ", highest$test_shown, fixed = TRUE), highest$condition
    ),
    source_note(rows)
  )
}
