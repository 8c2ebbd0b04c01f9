#' Does a fit predict what was seen?
#'
#' The posterior predictive check of the interference study: for each model, domain and block, where 95 % of the shares
#' lie that the fit predicts for data of the same size, and the share that was observed. Shares outside are drawn as
#' open triangles.
#'
#' @param data what [fit_forced_choice()] returned, or a data frame with one row per cell, such as the table
#'   `brms_checks` of the database: `model`, `domain`, `block`, `observed`, `predicted` (mean of the replicated shares),
#'   `conf_low`, `conf_high` (the middle 95 % of them). Rows without a cell of their own (statistics of all data) are
#'   left out. Used where there: `outcome` (`"is_valid"` or `"is_consistent"`), `model_label`, `domain_label`,
#'   `model_no`, `domain_no`, `source`, `is_converged` and `verdict` (of the fit, for the caption).
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @source Cohen & Kincaid (2026), section S4.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' trials <- simulate_forced_choice()
#' checks <- stats::aggregate(cbind(observed = is_consistent) ~ model + domain + block, trials, mean)
#' checks <- transform(checks, predicted = .97, conf_low = .92, conf_high = 1, source = "simulated")
#' plot_predictive_checks(checks)
plot_predictive_checks <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  checks <- data_of(data, "checks")
  needed <- c("model", "domain", "block", "observed", "predicted", "conf_low", "conf_high")
  check_columns(checks, needed, to = "draw predictive checks")
  is_cell <- stats::complete.cases(checks[needed])
  checks$estimate <- checks$predicted
  rows <- cells_to_draw(checks[is_cell, , drop = FALSE], needed[1:3], within = "block", to = "predictive checks")
  is_inside <- rows$observed >= rows$conf_low & rows$observed <= rows$conf_high
  rows$place <- factor(ifelse(is_inside, "observed, as predicted", "observed, outside"),
    levels = c("observed, as predicted", "observed, outside")
  )
  n_columns <- columns_within(width, 3, each_in = 2.2)
  plot <- check_layers(rows, n_columns) +
    ggplot2::labs(
      title = sprintf("Does the fit predict what was seen? %s", outcome_in_words(rows)),
      subtitle = "Bar: where 95 % of the shares lie that the fit predicts for as many trials. Tick: their mean.",
      x = "Share of trials (%)", y = NULL, colour = NULL, shape = NULL,
      caption = caption_of(fit_note(rows))
    )
  height_in <- 2.2 + .6 * max(nlevels(rows$model_shown), 3) * ceiling(nlevels(rows$domain_shown) / n_columns)
  finish_figure(plot, file, checks_in_words(rows), width, height, width_in = 9, height_in = height_in)
}

outcome_in_words <- function(rows) {
  outcome <- if ("outcome" %in% names(rows)) as.character(rows$outcome[[1]]) else ""
  said <- c(is_valid = "Valid answers", is_consistent = "Consistent answers, among the valid")
  if (outcome %in% names(said)) said[[outcome]] else outcome
}

check_layers <- function(rows, n_columns) {
  .data <- ggplot2::.data
  ggplot2::ggplot(rows, ggplot2::aes(y = .data$height)) +
    between_models(rows) +
    ggplot2::geom_segment(
      ggplot2::aes(x = 100 * .data$conf_low, xend = 100 * .data$conf_high, yend = .data$height),
      colour = "#BFE3F7", linewidth = 3.2
    ) +
    ggplot2::geom_text(
      ggplot2::aes(x = -Inf, label = .data$block),
      hjust = 0, size = 2.7, colour = "grey30"
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(
        x = 100 * .data$predicted, xend = 100 * .data$predicted, y = .data$height - .12, yend = .data$height + .12
      ),
      colour = "grey20", linewidth = .6
    ) +
    ggplot2::geom_point(
      ggplot2::aes(x = 100 * .data$observed, colour = .data$place, shape = .data$place),
      size = 2.2, stroke = .9
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$domain_shown), ncol = n_columns) +
    colours_and_shapes(2) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(.35, .04))) +
    models_on_y(rows) +
    figure_theme() +
    panels_of_domains()
}

checks_in_words <- function(rows) {
  outside <- rows[rows$place == "observed, outside", ]
  said <- sprintf(
    "%s, %s, %s %.1f against [%.1f, %.1f]", outside$model_shown, outside$domain_shown, outside$block,
    100 * outside$observed, 100 * outside$conf_low, 100 * outside$conf_high
  )
  sprintf(
    "Observed shares against what the fit predicts%s. Of %s, %d lie within the predicted 95 %%%s. %s",
    if (nzchar(outcome_in_words(rows))) sprintf(" (%s)", tolower(outcome_in_words(rows))) else "",
    counted(nrow(rows), "cell"), nrow(rows) - nrow(outside),
    if (nrow(outside) > 0) paste0("; outside, in per cent: ", paste(said, collapse = "; ")) else "", fit_note(rows)
  )
}
