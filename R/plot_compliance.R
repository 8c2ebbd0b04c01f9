#' How likely a valid answer is, by model, domain and block
#'
#' Figure 1 of the interference paper: predicted compliance with its 95 % credible interval, from stage A of the
#' analysis. The observed rates stand beside the predictions. They lie near those that are averaged over the words; the
#' paper's are of the population level, which for a word of average difficulty is higher.
#'
#' @param data what [fit_forced_choice()] returned, or a data frame with one row per model, domain, block and
#'   kind, such as the table `brms_predictions` of the database: `model`, `domain`, `block`, `kind` (`"population"`,
#'   `"item_averaged"`), `estimate`, `conf_low`, `conf_high` (probabilities). Used where there: `observed` (the share
#'   of valid answers), `model_label`, `domain_label`, `model_no`, `domain_no`, `source`, `is_converged` and `verdict`
#'   (of the fit, for the caption).
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @source Cohen & Kincaid (2026), Figure 1 and Table 2.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' predictions <- forced_choice_parameters()
#' predictions <- data.frame(
#'   predictions[c("model", "domain", "block")], kind = "population", estimate = predictions$p_valid,
#'   conf_low = predictions$p_valid - .01, conf_high = predictions$p_valid + .001, source = "simulated"
#' )
#' plot_compliance(predictions)
plot_compliance <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  needed <- c("model", "domain", "block", "kind", "estimate", "conf_low", "conf_high")
  predictions <- with_cells(data_of(data, "predictions"), c("model", "domain"))
  check_columns(predictions, needed, to = "draw compliance")
  rows <- cells_to_draw(predictions, needed[1:4], within = "block", to = "compliance")
  n_columns <- columns_within(width, nlevels(rows$domain_shown), each_in = 2)
  plot <- compliance_layers(rows, n_columns) +
    ggplot2::labs(
      title = "Do models give a valid answer, whatever the pairing?",
      subtitle = compliance_subtitle(rows),
      x = "Valid answers (%)", y = NULL, fill = NULL, shape = NULL, colour = NULL,
      caption = caption_of(fit_note(rows))
    )
  n_rows <- nlevels(rows$model_shown) * nlevels(rows$kind_shown)
  n_times <- ceiling(nlevels(rows$domain_shown) / n_columns)
  height_in <- 2 + (.42 * max(n_rows, 3) + .3 * nlevels(rows$kind_shown)) * n_times
  finish_figure(plot, file, compliance_in_words(rows), width, height, width_in = 9, height_in = height_in)
}

compliance_subtitle <- function(rows) {
  has_population <- "population" %in% rows$kind
  paste(
    "Predicted share of valid answers (A or B), with 95 % credible interval.",
    if (has_population) "Population level: for a word of average difficulty."
  )
}

compliance_layers <- function(rows, n_columns) {
  .data <- ggplot2::.data
  in_order <- rows[order(rows$kind_shown, rows$domain_shown), ]
  said <- function(some) sprintf("%s, %s", some$domain_shown, sub(" \\(.*", "", some$kind_shown))
  rows$panel <- factor(said(rows), levels = unique(said(in_order)))
  ggplot2::ggplot(rows, ggplot2::aes(
    x = 100 * .data$estimate, xmin = 100 * .data$conf_low, xmax = 100 * .data$conf_high, y = .data$height
  )) +
    between_models(rows) +
    ggplot2::geom_linerange(linewidth = .6, colour = "grey35") +
    ggplot2::geom_point(ggplot2::aes(fill = .data$block, shape = .data$block), size = 2.4, stroke = .5) +
    observed_points(rows) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = n_columns) +
    models_on_y(rows) +
    condition_scales(nlevels(rows$block)) +
    ggplot2::guides(fill = ggplot2::guide_legend(order = 1), shape = ggplot2::guide_legend(order = 1)) +
    figure_theme() +
    panels_of_domains()
}

# Crosses just below the predictions that they belong to, so that neither hides the other.
observed_points <- function(rows) {
  if (!"observed" %in% names(rows) || all(is.na(rows$observed))) {
    return(NULL)
  }
  .data <- ggplot2::.data
  seen <- rows[!is.na(rows$observed), , drop = FALSE]
  list(
    ggplot2::geom_point(
      ggplot2::aes(x = 100 * .data$observed, y = .data$height - .09, colour = "observed"),
      data = seen, shape = 4, size = 1.8, stroke = .9
    ),
    ggplot2::scale_colour_manual(values = c(observed = "#D55E00"))
  )
}

compliance_in_words <- function(rows) {
  shown <- rows[rows$kind_shown == levels(rows$kind_shown)[[1]], ]
  lowest <- shown[which.min(shown$estimate), ]
  ends <- function(one) sprintf("%.1f to %.1f", 100 * min(one), 100 * max(one))
  range <- tapply(shown$estimate, shown$model_shown, ends)
  sprintf(
    paste(
      "Predicted share of valid answers with 95 %% credible intervals for %s by block, %s. Per cent: %s.",
      "The lowest is %.1f [%.1f, %.1f]: %s, %s, %s.%s %s"
    ),
    counted_shown(rows, c("model", "domain")),
    sub(" \\(.*", "", levels(rows$kind_shown)[[1]]), paste(names(range), range, collapse = "; "),
    100 * lowest$estimate, 100 * lowest$conf_low, 100 * lowest$conf_high, lowest$model_shown, lowest$domain_shown,
    lowest$block, observed_in_words(shown), fit_note(rows)
  )
}

observed_in_words <- function(shown) {
  if (!"observed" %in% names(shown) || all(is.na(shown$observed))) {
    return("")
  }
  sprintf(
    " Observed rates go from %.1f to %.1f.", 100 * min(shown$observed, na.rm = TRUE),
    100 * max(shown$observed, na.rm = TRUE)
  )
}
