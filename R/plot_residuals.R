#' The residuals of mixed models, against what the models assume
#'
#' For each test, two panels. "Quantiles": each residual against the normal quantile of its rank; they lie on the line
#' if residuals are normal. "Spread": residuals against fitted tokens; the points are the middle, the bars reach
#' from the 5th to the 95th percentile of each twentieth of the trials, and all are alike if the spread is constant.
#'
#' @inheritParams check_residuals
#' @param data a data frame with one row per trial, of one model: `test` and the columns of the formula. Used if
#'   present: `test_label`, `test_no`, `model_label` or `model`, `source` and `token_source` for what the figure says,
#'   `is_valid` or `is_refusal` (trials without an answer are left out).
#' @inherit plot_effect_sizes params return
#' @noRd
plot_residuals <- function(data, file = NULL, formula = "tokens ~ condition + (1 | wording)",
                           levels = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  trials <- residuals_to_draw(figure_rows(data))
  levels <- if (is.null(levels)) list(condition = levels_of(trials, "condition")) else levels
  maker <- model_maker(trials, formula, levels)
  trials <- trials[stats::complete.cases(trials[maker$columns]), , drop = FALSE]
  panels <- lapply(split(trials, trials$test_shown, drop = TRUE), residual_panels, maker = maker)
  points <- do.call(rbind, lapply(panels, `[[`, "points"))
  bars <- do.call(rbind, lapply(panels, `[[`, "bars"))
  n_columns <- columns_within(width, 5, each_in = 1.7, margin_in = .4)
  finish_figure(
    residual_layers(points, bars, n_columns), file, residuals_in_words(panels, trials), width, height, 11,
    1.8 + 1.9 * ceiling(2 * length(panels) / n_columns),
    title = sprintf("%s: do the residuals look as the mixed models assume?", model_of(trials)),
    subtitle = paste(
      "Quantiles: on the line where residuals are normal.",
      "Spread: bars alike where the spread is; from the 5th to the 95th percentile."
    ),
    caption = c(source_note(trials), measure_note(trials)),
    x = sprintf("Normal quantile (quantiles), fitted %s (spread)", fitted_in_words(formula)),
    y = "Residual in standard deviations"
  )
}

# What a formula has on its left side: "tokens", "log1p(tokens)".
fitted_in_words <- function(formula) gsub("_", " ", deparse1(stats::as.formula(formula)[[2]]), fixed = TRUE)

residuals_to_draw <- function(trials) {
  trials <- with_shown(rows_to_draw(trials, "test", !is_without_answer(trials), "residuals", "answered trial"), "test")
  trials$model_shown <- factor(model_of(trials))
  trials
}

model_of <- function(trials) {
  column <- intersect(c("model_label", "model"), names(trials))
  if (length(column) == 0) "All trials" else paste(unique(as.character(trials[[column[[1]]]])), collapse = ", ")
}

# What is drawn of one test: at most 200 points of the quantiles, all of the tails among them; and 20 bars of the
# spread.
residual_panels <- function(rows, maker) {
  model <- maker$fit(rows)
  residual <- unname(stats::residuals(model)) / stats::sigma(model)
  test <- two_lines(as.character(rows$test_shown[[1]]))
  n <- length(residual)
  place <- sort(unique(c(seq_len(min(30, n)), round(seq(1, n, length.out = min(140, n))), seq(max(1, n - 29), n))))
  points <- data.frame(
    panel = paste0("Quantiles: ", test), x = stats::qnorm(stats::ppoints(n))[place],
    y = sort(residual)[place]
  )
  bars <- spread_bars(unname(stats::fitted(model)), residual, test)
  list(points = points, bars = bars, skewness = skewness_of(residual))
}

spread_bars <- function(fitted, residual, test) {
  part <- ceiling(20 * rank(fitted, ties.method = "first") / length(fitted))
  middle <- function(values, at) as.vector(tapply(values, part, stats::quantile, at, names = FALSE))
  data.frame(
    panel = paste0("Spread: ", test), x = as.vector(tapply(fitted, part, mean)), y = middle(residual, .5),
    lower = middle(residual, .05), upper = middle(residual, .95)
  )
}

residual_layers <- function(points, bars, n_columns) {
  panels <- c(unique(points$panel), unique(bars$panel))
  points$panel <- factor(points$panel, levels = panels)
  bars$panel <- factor(bars$panel, levels = panels)
  ggplot2::ggplot(points, ggplot2::aes(.data$x, .data$y)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey80", linewidth = .3) +
    ggplot2::geom_abline(
      ggplot2::aes(slope = 1, intercept = 0),
      data = unique(points["panel"]), colour = "grey35", linetype = "dashed", linewidth = .4
    ) +
    ggplot2::geom_point(size = .5, colour = model_colours()[[1]]) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
      data = bars, linewidth = .5, colour = model_colours()[[2]]
    ) +
    ggplot2::geom_point(data = bars, size = .8) +
    panels_by("panel", n_columns, scales = "free") +
    figure_theme() +
    ggplot2::theme(
      strip.text = ggplot2::element_text(size = 6.5, hjust = 0), axis.text = ggplot2::element_text(size = 7)
    )
}

residuals_in_words <- function(panels, trials) {
  skewness <- vapply(panels, `[[`, 1, "skewness")
  alt_text(
    sprintf(
      "Normal quantiles and spread of the residuals of %s, %s", counted(length(panels), "mixed model"), model_of(trials)
    ),
    notes = c(
      sprintf(
        paste(
          "Residuals would lie on a line if they were normal; their skewness (0 if symmetric) is from %.1f to %.1f,",
          "the largest in %s."
        ),
        min(skewness), max(skewness), names(panels)[[which.max(skewness)]]
      ),
      source_note(trials), measure_note(trials)
    )
  )
}
