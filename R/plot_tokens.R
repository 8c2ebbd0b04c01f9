#' How many tokens models use, by condition
#'
#' The whole distribution for each model, test and condition: the outline shows its shape, the point its median, the
#' bar its middle half. Table S5 of the RM-IAT paper gives the means of the same rows.
#'
#' @param data a data frame with one row per trial: `model`, `test`, `condition` and `tokens`. Used if present:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows), `source`
#'   and `token_source` (what the tokens are) for the caption, `is_valid` or `is_refusal` (trials without an
#'   answer are left out).
#'   Rows without `tokens` are left out, too. A warning says if a model and test have rows of more than one `source`,
#'   `study_version` or `variant`.
#' @inherit plot_effect_sizes params return
#' @param levels the conditions in the order to show them.
#' @noRd
plot_tokens <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  trials <- tokens_to_draw(figure_rows(data), levels)
  n_models <- nlevels(trials$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, margin_in = 1.6)
  n_trials <- format(nrow(trials), big.mark = ",")
  finish_figure(
    token_panels(trials, n_columns), file, tokens_in_words(trials), width, height,
    max(8, 3.2 + 2.1 * min(5, n_models)),
    1.9 + .62 * max(nlevels(trials$test_shown), 2) * ceiling(n_models / n_columns),
    title = "Tokens by condition",
    subtitle = "Outline: answered trials. Point: median. Bar: middle half. Each model has its own scale.",
    caption = c(
      source_note(trials),
      sprintf("%s answered trials; refusals and trials without a count are left out.", n_trials), measure_note(trials)
    ),
    x = "Tokens (square-root scale)"
  )
}

tokens_to_draw <- function(trials, levels) {
  needed <- c("model", "test", "condition", "tokens")
  rows <- rows_to_draw(
    trials, needed,
    !is.na(trials$tokens) & (is.null(levels) | trials$condition %in% levels) & !is_without_answer(trials), "tokens",
    "answered trial with a token count"
  )
  warn_of_pooling(rows, within = c("model", "test"))
  rows$condition <- shown_conditions(rows, levels = levels)
  with_tests_on_y(rows)
}

token_panels <- function(trials, n_columns) {
  rows <- split(seq_len(nrow(trials)), list(trials$condition, trials$test_shown, trials$model_shown), drop = TRUE)
  cells <- trials[vapply(rows, `[[`, 1L, 1), c("condition", "model_shown", "test_shown")]
  cells$height <- heights_of(cells$test_shown, cells$condition, .21)
  tokens <- unname(lapply(rows, function(of_cell) trials$tokens[of_cell]))
  outlines <- do.call(rbind, Map(cell_outline, tokens, split(cells, seq_along(tokens))))
  quartiles <- vapply(tokens, stats::quantile, double(3), c(.25, .5, .75), names = FALSE)
  cells <- cbind(cells, low = quartiles[1, ], at = quartiles[2, ], high = quartiles[3, ], row.names = NULL)
  at_height(cells) +
    densities(cells, outlines, "condition") +
    panels_by("model_shown", n_columns, scales = "free_x") +
    ggplot2::scale_x_continuous(
      trans = "sqrt", labels = counts_on_axis, guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    names_on_y(rev(levels(trials$test_shown)), margin = .6) +
    condition_scales(nlevels(trials$condition)) +
    figure_theme()
}

# The outline of a distribution, smoothed on the scale of the axis and cut at the data; none for a single value.
cell_outline <- function(tokens, cell) {
  scaled <- sqrt(tokens)
  if (length(unique(scaled)) < 2) {
    return(cbind(cell, at = double(1), height_of_line = double(1))[0, ])
  }
  smooth <- stats::density(scaled, adjust = 1.5, n = 128, from = min(scaled), to = max(scaled))
  half <- .19 * smooth$y / max(smooth$y)
  outline <- cell[rep(1, 2 * length(half)), ]
  outline$at <- c(smooth$x, rev(smooth$x))^2
  outline$height_of_line <- cell$height + c(half, -rev(half))
  outline
}

tokens_in_words <- function(trials) {
  medians <- tapply(trials$tokens, list(trials$model_shown, trials$condition), stats::median)
  alt_text(
    sprintf("Distributions of tokens for %s by condition", counted_shown(trials, c("test", "model"))),
    sprintf("Medians over all tests, %s", all_in_words(colnames(medians))), each_row_in_words(medians, "%g"),
    source_note(trials), measure_note(trials)
  )
}
