#' How likely a valid answer is, by model, test and condition
#'
#' Figure 1 of the interference paper: predicted compliance with its 95 % credible interval, from stage A of the
#' analysis. The observed rates stand next to the predictions. They lie near those that are averaged over the words; the
#' paper's are of a median word (`"population"`: random effects of 0), which are higher.
#'
#' @param data what [fit_forced_choice()] returned, or a data frame with one row per model, test, condition and
#'   kind, such as the table `brms_predictions` of the database: `model`, `test`, `condition`, `kind` (`"population"`,
#'   `"item_averaged"`), `estimate`, `conf_low`, `conf_high` (probabilities). Used if present: `observed` (the share
#'   of valid answers), `model_label`, `test_label`, `model_no`, `test_no`, `source`, `is_converged` and `verdict`
#'   (of the fit, for the caption).
#' @inherit plot_effect_sizes params return
#' @source Cohen & Kincaid (2026), Figure 1 and Table 2.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' predictions <- forced_choice_parameters()
#' predictions <- data.frame(
#'   predictions[c("model", "test", "condition")], kind = "population", estimate = predictions$p_valid,
#'   conf_low = predictions$p_valid - .01, conf_high = predictions$p_valid + .001, source = "simulated"
#' )
#' plot_compliance(predictions)
plot_compliance <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- compliance_to_draw(data)
  n_columns <- columns_within(width, nlevels(rows$test_shown), each_in = 2)
  n_rows <- nlevels(rows$model_shown) * nlevels(rows$kind_shown)
  n_times <- ceiling(nlevels(rows$test_shown) / n_columns)
  plot <- at_height(rows) +
    between_models(rows) +
    dots_with_intervals(rows, "condition", filled = TRUE, size = 2.4, stroke = .5) +
    observed_points(rows) +
    panels_by("panel", n_columns) +
    models_on_y(rows) +
    condition_scales(nlevels(rows$condition)) +
    ggplot2::guides(fill = ggplot2::guide_legend(order = 1), shape = ggplot2::guide_legend(order = 1)) +
    figure_theme() +
    panels_of_tests()
  finish_figure(
    plot, file, compliance_in_words(rows), width, height, 9,
    2 + (.42 * max(n_rows, 3) + .3 * nlevels(rows$kind_shown)) * n_times,
    title = "Do models give a valid answer, whatever the pairing?",
    subtitle = paste(
      sprintf("Predicted share of valid answers (A or B), with 95 %% %s.", interval_kind(rows)),
      if ("population" %in% rows$kind) "A median word is one whose random effects are 0."
    ),
    caption = convergence_note(rows), x = "Valid answers (%)"
  )
}

compliance_to_draw <- function(data) {
  needed <- c("model", "test", "condition", "kind", "estimate", "conf_low", "conf_high")
  predictions <- with_cells(figure_rows(data, "predictions"), c("model", "test"))
  check_columns(predictions, needed, to = "draw compliance")
  rows <- cells_to_draw(predictions, needed[1:4], within = "condition", to = "compliance")
  panels <- sprintf("%s, %s", rows$test_shown, sub(" \\(.*", "", rows$kind_shown))
  rows$panel <- factor(panels, levels = unique(panels[order(rows$kind_shown, rows$test_shown)]))
  with_intervals(rows, scale = 100)
}

has_observed <- function(rows) "observed" %in% names(rows) && !all(is.na(rows$observed))

# Crosses just below the predictions that they belong to, so that neither hides the other.
observed_points <- function(rows) {
  if (!has_observed(rows)) {
    return(NULL)
  }
  list(
    ggplot2::geom_point(
      ggplot2::aes(x = 100 * .data$observed, y = .data$height - .09, colour = "observed"),
      data = rows[!is.na(rows$observed), , drop = FALSE], shape = 4, size = 1.8, stroke = .9
    ),
    ggplot2::scale_colour_manual(values = c(observed = "#D55E00"))
  )
}

compliance_in_words <- function(rows) {
  kind <- levels(rows$kind_shown)[[1]]
  rows <- rows[rows$kind_shown == kind, ]
  lowest <- rows[which.min(rows$at), ]
  ranges <- tapply(rows$at, rows$model_shown, function(percent) sprintf("%.1f to %.1f", min(percent), max(percent)))
  alt_text(
    sprintf(
      "Predicted share of valid answers with 95 %% %ss for %s by condition, %s", interval_kind(rows),
      counted_shown(rows, c("model", "test")), sub(" \\(.*", "", kind)
    ),
    "Per cent", paste(names(ranges), ranges),
    sprintf(
      "The lowest is %.1f [%.1f, %.1f]: %s, %s, %s.", lowest$at, lowest$low, lowest$high, lowest$model_shown,
      lowest$test_shown, lowest$condition
    ),
    if (has_observed(rows)) {
      ends <- 100 * range(rows$observed, na.rm = TRUE)
      sprintf("Observed rates go from %.1f to %.1f.", ends[[1]], ends[[2]])
    },
    convergence_note(rows)
  )
}
