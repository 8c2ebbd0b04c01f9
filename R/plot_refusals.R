#' How often models refuse, by condition
#'
#' The share of trials that each model refuses in each test and condition, with its 95 % interval (Wilson's). Table S4
#' of the RM-IAT paper counts the same refusals without telling the conditions apart; where a model refuses more often
#' in one condition, the tokens that are left don't compare.
#'
#' @param data a data frame with one row per model, test and condition, such as the view `refusals_by_condition`:
#'   `model`, `test`, `condition`, `n_trials` and `n_refusals`. Used where there: `model_label` and `test_label` to
#'   show, `model_no` and `test_no` to order by (else the order of rows), `source` for the caption.
#' @inheritParams plot_effect_sizes
#' @param levels the conditions in the order to show them.
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`. Its data are
#'   the rows with `rate`, `rate_low` and `rate_high`, shares from 0 to 1.
#' @noRd
plot_refusals <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  refusals <- refusals_to_draw(data_of(data), levels)
  n_models <- nlevels(refusals$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, beside_in = 1.6)
  width_in <- max(8, 3.2 + 2.1 * min(5, n_models))
  note <- sprintf(
    "%s trials, %s of them refused.",
    format(sum(refusals$n_trials), big.mark = ","), format(sum(refusals$n_refusals), big.mark = ",")
  )
  plot <- refusal_layers(refusals, n_columns) +
    ggplot2::labs(
      title = "Refusals by condition",
      subtitle = "Share of trials whose answer is not exactly one of the two options, with 95 % interval (Wilson).",
      x = "Refused trials (%)", y = NULL, fill = NULL, shape = NULL,
      caption = caption_of(source_note(refusals), note)
    )
  finish_figure(
    plot, file, refusals_in_words(refusals),
    width = width, height = height, width_in = width_in,
    height_in = 1.9 + .42 * max(nlevels(refusals$test_shown), 2) * ceiling(n_models / n_columns)
  )
}

refusals_to_draw <- function(refusals, levels) {
  check_columns(refusals, c("model", "test", "condition", "n_trials", "n_refusals"), to = "draw refusals")
  has_trials <- !is.na(refusals$n_trials) & refusals$n_trials > 0
  refusals <- rows_to_draw(
    refusals, (is.null(levels) | refusals$condition %in% levels) & has_trials, "refusals", "row with trials",
    c("model", "test", "condition"), "a model has more than one row for a test and condition",
    "Keep the rows of one source, study version and variant."
  )
  refusals$condition <- shown_conditions(refusals, levels = levels)
  refusals <- with_shown(refusals, c("model", "test"))
  levels(refusals$test_shown) <- two_lines(levels(refusals$test_shown))
  # The first test on top, and in it the first condition.
  test_row <- nlevels(refusals$test_shown) + 1 - as.integer(refusals$test_shown)
  refusals$height <- test_row + beside(nlevels(refusals$condition), .17)[as.integer(refusals$condition)]
  cbind(refusals, rate = refusals$n_refusals / refusals$n_trials, wilson(refusals$n_refusals, refusals$n_trials))
}

refusal_layers <- function(refusals, n_columns) {
  .data <- ggplot2::.data
  tests <- rev(levels(refusals$test_shown))
  ggplot2::ggplot(refusals, ggplot2::aes(x = 100 * .data$rate, y = .data$height)) +
    lines_between(tests) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = 100 * .data$rate_low, xmax = 100 * .data$rate_high),
      colour = "grey35", linewidth = .6
    ) +
    ggplot2::geom_point(ggplot2::aes(fill = .data$condition, shape = .data$condition), size = 2.1, stroke = .5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$model_shown), ncol = n_columns) +
    ggplot2::scale_x_continuous(limits = c(0, NA), guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    names_on_y(tests) +
    condition_scales(nlevels(refusals$condition)) +
    figure_theme()
}

refusals_in_words <- function(refusals) {
  sums <- function(column) tapply(refusals[[column]], list(refusals$model_shown, refusals$condition), sum)
  percent <- 100 * sums("n_refusals") / sums("n_trials")
  said <- each_row_in_words(percent, "%.1f")
  most <- refusals[which.max(refusals$rate), ]
  sprintf(
    paste(
      "Share of refused trials for %s by condition. Per cent over all tests, %s: %s. The highest share",
      "is %.1f per cent: %s, %s, %s. %s"
    ),
    counted_shown(refusals, c("test", "model")),
    all_in_words(colnames(percent)), paste(said, collapse = "; "),
    100 * most$rate, most$model_shown, sub("\n", " ", most$test_shown, fixed = TRUE), most$condition,
    source_note(refusals)
  )
}
