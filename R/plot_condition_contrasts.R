#' Associative interference, by model and test
#'
#' Figure 2 of the interference paper: \eqn{\Delta P}{Delta P}, how much likelier a task-consistent answer is in the
#' congruent condition than in the incongruent one, among valid answers, with its 95 % credible interval and a dashed
#' line at 0. Predictions for a median word (the paper's) and those averaged over the words differ in colour and shape.
#'
#' @param data what [fit_forced_choice()], [fit_brms()] or a logistic [fit_lme4()] returned, or a data frame
#'   with one row per model, test, kind and scale, such as the table `brms_contrasts` of the database: `model`,
#'   `test`, `kind` (`"population"`, `"item_averaged"`), `scale` (rows of `"delta_p"` are drawn), `estimate`,
#'   `conf_low`, `conf_high` (differences of probabilities). Used if present: `model_label`, `test_label`,
#'   `model_no`, `test_no`, `source`, `is_converged` and `verdict` (of the fit, for the caption).
#' @inherit plot_effect_sizes params return
#' @source Cohen & Kincaid (2026), Figure 2, Table 1 and equation 11.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' truths <- true_contrasts(forced_choice_parameters())
#' contrasts <- transform(truths, estimate = truth, conf_low = truth - .01, conf_high = truth + .02)
#' plot_condition_contrasts(cbind(contrasts, source = "simulated"))
plot_condition_contrasts <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- condition_contrasts_to_draw(data)
  second <- one_text(rows, "compared", "second")
  delta <- sprintf("P(consistent | %s) - P(consistent | %s)", one_text(rows, "reference", "first condition"), second)
  is_short <- inches_or(width, 9) < 9
  n_columns <- columns_within(width, 3, each_in = 2)
  plot <- at_height(rows) +
    forest(rows, "kind_shown", rev(levels(rows$model_shown)), size = 2.2) +
    panels_by("test_shown", n_columns) +
    figure_theme() +
    panels_of_tests()
  finish_figure(
    plot, file, condition_contrasts_in_words(rows), width, height, 9,
    2.2 + .5 * max(nlevels(rows$model_shown), 3) * ceiling(nlevels(rows$test_shown) / n_columns),
    title = "Are models less consistent when the pairing is crossed?",
    subtitle = sprintf("Right of 0: fewer task-consistent answers in the %s condition. Valid answers only.", second),
    caption = c(convergence_note(rows), if (is_short) sprintf("\u0394P: %s.", delta)),
    x = with_delta(paste0("P", if (!is_short) paste(" =", delta), ", with 95 % ", interval_kind(rows)))
  )
}

condition_contrasts_to_draw <- function(data) {
  needed <- c("model", "test", "kind", "scale", "estimate", "conf_low", "conf_high")
  contrasts <- with_cells(figure_rows(data, "contrasts"), c("model", "test"))
  check_columns(contrasts, needed, to = "draw contrasts of conditions")
  rows <- contrasts[contrasts$scale == "delta_p", , drop = FALSE]
  rows <- cells_to_draw(rows, c("model", "test", "kind"), within = "kind", to = "contrasts of conditions")
  with_intervals(rows)
}

condition_contrasts_in_words <- function(rows) {
  by_kind <- vapply(split(rows, rows$kind_shown), function(kind) {
    values <- sprintf(
      "%s, %s %.3f [%.3f, %.3f]", kind$model_shown, kind$test_shown, kind$estimate, kind$conf_low, kind$conf_high
    )
    name <- as.character(kind$kind_shown[[1]])
    sprintf("%s%s: %s.", toupper(substr(name, 1, 1)), substring(name, 2), paste(values, collapse = "; "))
  }, "")
  alt_text(
    sprintf(
      "Difference in consistency between conditions (\u0394P) with 95 %% %ss for %s", interval_kind(rows),
      counted_shown(rows, c("model", "test"))
    ),
    notes = c(by_kind, convergence_note(rows))
  )
}
