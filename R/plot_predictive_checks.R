#' Does a fit predict what was seen?
#'
#' The posterior predictive check of the interference study: for each model, test and condition, where 95 % of the
#' shares lie that the fit predicts for data of the same size, and the share that was observed. Shares outside are drawn
#' as open triangles.
#'
#' @param data what [fit_forced_choice()] returned, or a data frame with one row per cell, such as the table
#'   `brms_checks` of the database: `model`, `test`, `condition`, `observed`, `predicted` (mean of the replicated
#'   shares), `conf_low`, `conf_high` (the middle 95 % of them). Rows without a cell of their own (statistics of all
#'   data) are left out. Used if present: `outcome` (`"is_valid"` or `"is_consistent"`), `statistic` (`"zeros"`: shares
#'   are of counts of 0), `model_label`, `test_label`, `model_no`, `test_no`, `source`, `is_converged` and `verdict` (of
#'   the fit, for the caption).
#' @inherit plot_effect_sizes params return
#' @source Cohen & Kincaid (2026), section S4.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' trials <- simulate_forced_choice()
#' checks <- stats::aggregate(cbind(observed = is_consistent) ~ model + test + condition, trials, mean)
#' checks <- transform(checks, predicted = .97, conf_low = .92, conf_high = 1, source = "simulated")
#' plot_predictive_checks(checks)
plot_predictive_checks <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- checks_to_draw(figure_rows(data, "checks"))
  n_columns <- columns_within(width, 3, each_in = 2.2)
  plot <- at_height(rows) +
    between_models(rows) +
    bars(rows, "place") +
    panels_by("test_shown", n_columns) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(.35, .04))) +
    models_on_y(rows) +
    figure_theme() +
    panels_of_tests()
  finish_figure(
    plot, file, checks_in_words(rows), width, height, 9,
    2.2 + .6 * max(nlevels(rows$model_shown), 3) * ceiling(nlevels(rows$test_shown) / n_columns),
    title = sprintf("Does the fit predict what was seen? %s", outcome_in_words(rows)),
    subtitle = "Bar: where 95 % of the shares lie that the fit predicts for as many trials. Tick: their mean.",
    caption = convergence_note(rows), x = "Share of trials (%)"
  )
}

checks_to_draw <- function(checks) {
  needed <- c("model", "test", "condition", "observed", "predicted", "conf_low", "conf_high")
  check_columns(checks, needed, to = "draw predictive checks")
  is_cell <- stats::complete.cases(checks[needed])
  checks$estimate <- checks$predicted
  rows <- cells_to_draw(checks[is_cell, , drop = FALSE], needed[1:3], within = "condition", to = "predictive checks")
  is_inside <- rows$observed >= rows$conf_low & rows$observed <= rows$conf_high
  places <- c("observed, as predicted", "observed, outside")
  rows$place <- factor(ifelse(is_inside, places[[1]], places[[2]]), levels = places)
  rows$label <- rows$condition
  rows$middle <- 100 * rows$predicted
  with_intervals(rows, rows$observed, scale = 100)
}

outcome_in_words <- function(rows) {
  if ("statistic" %in% names(rows) && all(rows$statistic == "zeros")) {
    return("Answers counted as 0 tokens")
  }
  outcome <- if ("outcome" %in% names(rows)) as.character(rows$outcome[[1]]) else ""
  words <- c(is_valid = "Valid answers", is_consistent = "Consistent answers, among the valid")
  if (outcome %in% names(words)) words[[outcome]] else outcome
}

checks_in_words <- function(rows) {
  outside <- rows[rows$place == "observed, outside", ]
  outcome <- outcome_in_words(rows)
  of_cells <- sprintf(
    "%s, %s, %s %.1f against [%.1f, %.1f]", outside$model_shown, outside$test_shown, outside$condition, outside$at,
    outside$low, outside$high
  )
  n_inside <- sprintf(
    "Of %s, %d lie within the predicted 95 %%", counted(nrow(rows), "cell"), nrow(rows) - nrow(outside)
  )
  alt_text(
    paste0(
      "Observed shares against what the fit predicts", if (nzchar(outcome)) sprintf(" (%s)", tolower(outcome))
    ),
    if (nrow(outside) > 0) paste0(n_inside, "; outside, in per cent"),
    if (nrow(outside) > 0) of_cells else n_inside, convergence_note(rows)
  )
}
