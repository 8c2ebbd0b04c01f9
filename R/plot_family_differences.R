#' Which family of token counts predicts best?
#'
#' Leave-one-out of the Bayesian models of token counts: how much better or worse each family predicts a count that is
#' left out than the lognormal does, by model and test. Differences are a trial's, so that tests of any size compare;
#' intervals are two standard errors to either side.
#'
#' @param data a data frame such as the view `bayes_ratios`, with one row per model, test and family: `elpd_difference`
#'   and `se_difference` (to the lognormal, over all trials), `n` trials. The lognormal itself, and rows without a
#'   difference, are left out. Used if present: `model_label`, `test_label`, `model_no`, `test_no`, `source`,
#'   `n_bad_pareto_k` (counts for which leave-one-out is unreliable, for the caption).
#' @inherit plot_effect_sizes params return
#' @noRd
plot_family_differences <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- family_differences_to_draw(figure_rows(data, "effects"))
  n_columns <- columns_within(width, 2, each_in = 4)
  n_lines <- ceiling(nlevels(rows$model_shown) / n_columns)
  plot <- at_height(rows) +
    forest(rows, "family_shown", rev(levels(rows$test_shown))) +
    panels_by("model_shown", n_columns) +
    one_legend(nrow = 1) +
    figure_theme() +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(24, "pt")) # or the numbers of neighbours touch
  finish_figure(
    plot, file, family_differences_in_words(rows), width, height, 9,
    2 + n_lines * (.4 + .13 * max(nlevels(rows$test_shown) * (nlevels(rows$family_shown) + 1), 6)),
    title = "Which family of token counts predicts best?",
    subtitle = "Left of 0: a count that is left out is less probable than under the lognormal.",
    caption = c(unreliable_note(rows), source_note(rows)),
    x = "Difference to the lognormal in log probability a trial, with two standard errors"
  )
}

family_differences_to_draw <- function(data) {
  needed <- c("model", "test", "family", "elpd_difference", "se_difference", "n")
  rows <- with_tests_on_y(rows_to_draw(
    data, needed, !is.na(data$elpd_difference) & data$family != "lognormal", "families",
    "row with a difference to the lognormal", needed[1:3], "a family has more than one row for a model and test",
    "Keep the last fit of each, of one source, study version and variant."
  ))
  rows$family_shown <- factor(gsub("_", " ", rows$family), unique(gsub("_", " ", rows$family)))
  rows$height <- heights_of(rows$test_shown, rows$family_shown)
  mean <- rows$elpd_difference / rows$n
  half_width <- 2 * rows$se_difference / rows$n
  with_intervals(rows, mean, mean - half_width, mean + half_width)
}

unreliable_note <- function(rows) {
  n <- if ("n_bad_pareto_k" %in% names(rows)) sum(rows$n_bad_pareto_k, na.rm = TRUE) else 0
  if (n > 0) sprintf("Leave-one-out is unreliable for %s (Pareto's k above 0.7).", counted(n, "count"))
}

family_differences_in_words <- function(rows) {
  of_families <- split(rows, rows$family_shown)
  said <- vapply(of_families, function(part) {
    sprintf(
      "%s %.3f (%.3f to %.3f; better in %d, worse in %d of %d)", part$family_shown[[1]], stats::median(part$at),
      min(part$at), max(part$at), sum(part$low > 0), sum(part$high < 0), nrow(part)
    )
  }, "")
  alt_text(
    sprintf("Families of token counts next to the lognormal for %s", counted_shown(rows, c("test", "model"))),
    "Difference in log probability a trial, in the middle (all; by more than two standard errors)", unname(said),
    notes = c(unreliable_note(rows), source_note(rows))
  )
}
