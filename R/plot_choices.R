# Figures of forced choices, and what they share: rows in their order, heights, and what their captions say.

# Labelled, ordered rows of one fit: `model_shown`, `test_shown`, `kind_shown` (where there are kinds), and `height`,
# the first model on top. `within`: the column whose values lie next to each other at one model.
cells_to_draw <- function(rows, within) {
  warn_of_pooling(rows, within = character())
  rows <- with_shown(rows, c("model", "test"))
  if ("kind" %in% names(rows)) {
    rows$kind_shown <- factor(rows$kind, levels = names(kinds_of_effects()), labels = kinds_of_effects())
    rows$kind_shown <- droplevels(rows$kind_shown)
  }
  rows[[within]] <- droplevels(shown_conditions(rows, within))
  rows$height <- heights_of(rows$model_shown, rows[[within]], .19)
  rows
}

# A Greek Delta as mathematics: as text, R's plain PDF device has none.
with_delta <- function(after, before = "") bquote(paste(.(before), Delta, .(after)))

# The two ways to predict: they differ much, so no number goes without the name of its own.
kinds_of_effects <- function() {
  c(
    population = "a median word (random effects of 0)", item_averaged = "averaged over the words asked",
    new_items = "averaged over new words"
  )
}

panels_of_tests <- function() {
  ggplot2::theme(
    panel.spacing.x = ggplot2::unit(24, "pt"), strip.text = ggplot2::element_text(face = "bold", hjust = 0)
  )
}

# The intervals of a Bayesian fit are credible; those of lme4, which come with standard errors and no verdict, are not.
interval_kind <- function(rows) {
  is_of_lme4 <- any(c("std_error", "p_value") %in% names(rows)) && !any(c("is_converged", "median") %in% names(rows))
  if (is_of_lme4) "Wald's confidence interval" else "credible interval"
}

# Source, and the verdict on a fit that did not converge: its figures say so themselves.
convergence_note <- function(rows) {
  is_doubtful <- if ("is_converged" %in% names(rows)) rows$is_converged %in% FALSE else FALSE
  verdict <- if ("verdict" %in% names(rows)) unique(stats::na.omit(as.character(rows$verdict[is_doubtful])))
  paste(c(source_note(rows), if (any(is_doubtful)) c("This fit did not converge.", verdict)), collapse = " ")
}

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
  rows <- cells_to_draw(begin_figure("compliance", data, file, width, height, ...), within = "condition")
  panels <- sprintf("%s, %s", rows$test_shown, sub(" \\(.*", "", rows$kind_shown))
  rows$panel <- factor(panels, levels = unique(panels[order(rows$kind_shown, rows$test_shown)]))
  rows <- with_intervals(rows, scale = 100)
  n_columns <- columns_within(width, nlevels(rows$test_shown), each_in = 2)
  n_rows <- nlevels(rows$model_shown) * nlevels(rows$kind_shown)
  n_times <- ceiling(nlevels(rows$test_shown) / n_columns)
  first <- ggplot2::guide_legend(order = 1)
  finish_figure(
    dots_figure(
      rows, "condition", rev(levels(rows$model_shown)), observed_points(rows),
      ggplot2::guides(fill = first, shape = first), panels_of_tests(),
      panel = "panel", n_columns = n_columns, filled = TRUE, size = 2.4
    ),
    compliance_in_words(rows), 2 + (.42 * max(n_rows, 3) + .3 * nlevels(rows$kind_shown)) * n_times,
    source = convergence_note(rows), subtitle = paste(
      sprintf("Predicted share of valid answers (A or B), with 95 %% %s.", interval_kind(rows)),
      if ("population" %in% rows$kind) "A median word is one whose random effects are 0."
    )
  )
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
    }
  )
}

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
  rows <- begin_figure("condition_contrasts", data, file, width, height, ...)
  rows <- rows_to_draw("condition_contrasts", rows, rows$scale == "delta_p" & !is.na(rows$estimate))
  rows <- with_intervals(cells_to_draw(rows, within = "kind"))
  second <- one_text(rows, "compared", "second")
  delta <- sprintf("P(consistent | %s) - P(consistent | %s)", one_text(rows, "reference", "first condition"), second)
  is_short <- given_or(width, 9) < 9
  n_columns <- columns_within(width, 3, each_in = 2)
  by_kind <- vapply(split(rows, rows$kind_shown), function(kind) {
    values <- sprintf(
      "%s, %s %.3f [%.3f, %.3f]", kind$model_shown, kind$test_shown, kind$estimate, kind$conf_low, kind$conf_high
    )
    name <- as.character(kind$kind_shown[[1]])
    sprintf("%s%s: %s.", toupper(substr(name, 1, 1)), substring(name, 2), paste(values, collapse = "; "))
  }, "")
  finish_figure(
    dots_figure(
      rows, "kind_shown", rev(levels(rows$model_shown)), panels_of_tests(), panel = "test_shown", n_columns = n_columns,
      size = 2.2
    ),
    alt_text(
      sprintf(
        "Difference in consistency between conditions (\u0394P) with 95 %% %ss for %s", interval_kind(rows),
        counted_shown(rows, c("model", "test"))
      ),
      notes = by_kind
    ),
    2.2 + .5 * max(nlevels(rows$model_shown), 3) * ceiling(nlevels(rows$test_shown) / n_columns),
    source = convergence_note(rows), said = NULL, notes = if (is_short) sprintf("\u0394P: %s.", delta),
    subtitle = sprintf("Right of 0: fewer task-consistent answers in the %s condition. Valid answers only.", second),
    x = with_delta(paste0("P", if (!is_short) paste(" =", delta), ", with 95 % ", interval_kind(rows)))
  )
}

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
  rows <- begin_figure("predictive_checks", data, file, width, height, ...)
  rows <- cells_to_draw(transform(rows, estimate = rows$predicted), within = "condition")
  is_inside <- rows$observed >= rows$conf_low & rows$observed <= rows$conf_high
  rows$place <- factor(is_inside, c(TRUE, FALSE), c("observed, as predicted", "observed, outside"))
  rows$label <- rows$condition
  rows$middle <- 100 * rows$predicted
  rows <- with_intervals(rows, rows$observed, scale = 100)
  n_columns <- columns_within(width, 3, each_in = 2.2)
  plot <- at_height(rows) +
    lines_between(levels(rows$model_shown)) +
    bars(rows, "place") +
    panels_by("test_shown", n_columns) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(.35, .04))) +
    names_on_y(rev(levels(rows$model_shown))) +
    figure_theme() +
    panels_of_tests()
  outside <- rows[rows$place == "observed, outside", ]
  outcome <- outcome_in_words(rows)
  of_cells <- sprintf(
    "%s, %s, %s %.1f against [%.1f, %.1f]", outside$model_shown, outside$test_shown, outside$condition, outside$at,
    outside$low, outside$high
  )
  n_inside <- sprintf(
    "Of %s, %d lie within the predicted 95 %%", counted(nrow(rows), "cell"), nrow(rows) - nrow(outside)
  )
  finish_figure(
    plot, alt_text(
      paste0(
        "Observed shares against what the fit predicts", if (nzchar(outcome)) sprintf(" (%s)", tolower(outcome))
      ),
      if (nrow(outside) > 0) paste0(n_inside, "; outside, in per cent"),
      if (nrow(outside) > 0) of_cells else n_inside
    ),
    2.2 + .6 * max(nlevels(rows$model_shown), 3) * ceiling(nlevels(rows$test_shown) / n_columns),
    title = sprintf("Does the fit predict what was seen? %s", outcome_in_words(rows)), source = convergence_note(rows)
  )
}

outcome_in_words <- function(rows) {
  if ("statistic" %in% names(rows) && all(rows$statistic == "zeros")) {
    return("Answers counted as 0 tokens")
  }
  outcome <- if ("outcome" %in% names(rows)) as.character(rows$outcome[[1]]) else ""
  words <- c(is_valid = "Valid answers", is_consistent = "Consistent answers, among the valid")
  if (outcome %in% names(words)) words[[outcome]] else outcome
}

# How often the option that is shown first is chosen, by model, test and condition, and the share that chance alone
# gives: of run_check("check_first_option", ...)$rows.
plot_first_options <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("first_options", data, file, width, height, ...)
  rows$condition <- shown_conditions(rows)
  rows <- with_intervals(with_shown(rows, c("model", "test")), rows$rate_first, scale = 100)
  rows$height <- heights_of(rows$model_shown, rows$condition, .22)
  n_tests <- nlevels(rows$test_shown)
  n_columns <- columns_within(width, min(4, n_tests), each_in = 1.6, margin_in = 1.6)
  chance <- ggplot2::geom_vline(
    ggplot2::aes(xintercept = 100 * .data$chance), colour = "grey35", linetype = "dashed", linewidth = .4
  )
  farthest <- rows[which.max(abs(rows$rate_first - rows$chance)), ]
  finish_figure(
    dots_figure(
      rows, "condition", rev(levels(rows$model_shown)), ggplot2::scale_x_continuous(limits = c(0, 100)),
      panel = "test_shown", n_columns = n_columns, filled = TRUE, size = 2.1, behind = chance
    ),
    alt_text(
      sprintf(
        paste(
          "Share of answers that choose the option shown first, for %s by condition: from %.1f to %.1f per cent,",
          "%.1f by chance"
        ),
        counted_shown(rows, c("test", "model")), min(rows$at), max(rows$at), 100 * mean(rows$chance)
      ),
      notes = sprintf(
        "Farthest from chance: %s, %s, %s, with %.1f per cent.", farthest$model_shown, farthest$test_shown,
        farthest$condition, farthest$at
      )
    ), max(3, 1.9 + (.3 + .3 * nlevels(rows$model_shown)) * ceiling(n_tests / n_columns)),
    max(8, 3.2 + 2.6 * min(4, n_tests))
  )
}
