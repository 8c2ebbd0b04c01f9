#' Effects of all cells, and what they come to together
#'
#' A forest plot: the effect of each test and model with its interval, and below them the mean with its interval, and
#' the prediction intervals of a new test, a new model and a new test of a new model.
#'
#' @param data what [meta_analysis()] returned, of one source, study version and variant. Used if present:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows),
#'   `is_sign_kept_by_missing` (cells whose sign missing answers could have made are crossed out).
#' @inherit plot_effect_sizes params return
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE) && requireNamespace("metafor", quietly = TRUE)
#' trials <- subset(simulate_trials(), is_valid)
#' effects <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' plot_forest(meta_analysis(effects$tables$effects))
plot_forest <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- forest_to_draw(figure_rows(data))
  plot <- at_height(rows) +
    forest(rows, "model_shown", rev(levels(rows$name))) +
    crossed_out(rows) +
    one_legend(nrow = ceiling(nlevels(rows$model_shown) / 5)) +
    figure_theme()
  finish_figure(
    plot, file, forest_in_words(rows, source_note(rows_of_cells(data))), width, height, 9,
    2.2 + .13 * max(nlevels(rows$name) * (nlevels(rows$model_shown) + 1), 8),
    title = "What the effects come to together",
    subtitle = "The effect of each test and model, and below them their mean and what is to be expected elsewhere.",
    caption = paste(c(
      source_note(rows_of_cells(data)),
      "Intervals of tests are of each effect; those of what is new are prediction intervals.",
      if (any(rows$is_made)) "Crossed out: refused and other missing answers could have made the sign."
    ), collapse = " "),
    x = "Effect with interval"
  )
}

together <- c(
  mean = "Mean", new_test = "A new test", new_model = "A new model", new_cell = "A new test of a new model"
)

forest_to_draw <- function(data) {
  needed <- c("row", "model", "test", "estimate", "conf_low", "conf_high")
  of_cells <- with_tests_on_y(rows_to_draw(
    data, needed, data$row %in% "cell" & !is.na(data$estimate), "a forest plot", "row of a cell", needed[2:3],
    "a model has more than one row for a test", "Keep the rows of one source, study version and variant."
  ))
  pooled <- data[data$row %in% names(together), , drop = FALSE]
  names <- c(levels(of_cells$test_shown), unname(together[unique(pooled$row)]))
  models <- c(levels(of_cells$model_shown), "All models")
  part <- function(rows, name, model) {
    data.frame(
      name = factor(name, names), model_shown = factor(model, models), at = rows$estimate, low = rows$conf_low,
      high = rows$conf_high, row = rows$row,
      is_made = if (is.null(rows$is_sign_kept_by_missing)) FALSE else rows$is_sign_kept_by_missing %in% FALSE
    )
  }
  rows <- rbind(
    part(of_cells, as.character(of_cells$test_shown), as.character(of_cells$model_shown)),
    part(pooled, together[pooled$row], rep("All models", nrow(pooled)))
  )
  series <- factor(rows$model_shown, setdiff(models, "All models"))
  series[is.na(series)] <- models[[1]]
  rows$height <- heights_of(rows$name, series)
  is_pooled <- rows$row != "cell"
  rows$height[is_pooled] <- heights_of(rows$name)[is_pooled]
  rows
}

# Effects whose sign missing answers could have made.
crossed_out <- function(rows) {
  made <- rows[rows$is_made, , drop = FALSE]
  if (nrow(made) > 0) ggplot2::geom_point(ggplot2::aes(x = .data$at), made, shape = 4, size = 3.2, colour = "grey15")
}

rows_of_cells <- function(data) data[data$row %in% "cell", , drop = FALSE]

forest_in_words <- function(rows, source) {
  pooled <- rows[rows$row != "cell", ]
  cells <- rows[rows$row == "cell", ]
  alt_text(
    sprintf("Forest plot of %s of tests and models", counted(nrow(cells), "effect")), "Together",
    sprintf("%s %.2f (%.2f to %.2f)", pooled$name, pooled$at, pooled$low, pooled$high),
    notes = c(
      sprintf("Single effects lie between %.2f and %.2f.", min(cells$at), max(cells$at)),
      if (any(cells$is_made)) sprintf("Missing answers could have made the sign of %d of them.", sum(cells$is_made)),
      source
    )
  )
}
