#' How many tokens models use, by condition
#'
#' The whole distribution for each model, test and condition: the outline shows its shape, the point its median, the
#' bar its middle half. Table S5 of the RM-IAT paper gives the means of the same rows.
#'
#' @param data a data frame with one row per trial: `model`, `test`, `condition` and `tokens`. Used where there:
#'   `model_label` and `test_label` to show, `model_no` and `test_no` to order by (else the order of rows), `source`
#'   and `token_source` (what the tokens are) for the caption, `is_refusal` (refusals are left out, as in the paper).
#'   Rows without `tokens` are left out, too. A warning says where a model and test have rows of more than one `source`,
#'   `study_version` or `variant`.
#' @inheritParams plot_effect_sizes
#' @param levels the conditions in the order to show them.
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @noRd
plot_tokens <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  trials <- tokens_to_draw(data_of(data), levels)
  n_models <- nlevels(trials$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, beside_in = 1.6)
  plot <- token_layers(trials, n_columns) +
    ggplot2::labs(
      title = "Tokens by condition",
      subtitle = "Outline: all trials. Point: median. Bar: middle half. Each model has its own scale.",
      x = "Tokens (square-root scale)", y = NULL, fill = NULL, shape = NULL, caption = tokens_note(trials)
    )
  finish_figure(
    plot, file, tokens_in_words(trials),
    width = width, height = height, width_in = max(8, 3.2 + 2.1 * min(5, n_models)),
    height_in = 1.9 + .62 * max(nlevels(trials$test_shown), 2) * ceiling(n_models / n_columns)
  )
}

tokens_to_draw <- function(trials, levels) {
  check_columns(trials, c("model", "test", "condition", "tokens"), to = "draw tokens")
  is_kept <- !is.na(trials$tokens) & (is.null(levels) | trials$condition %in% levels)
  if ("is_refusal" %in% names(trials)) {
    is_kept <- is_kept & !(trials$is_refusal %in% TRUE)
  }
  if (!any(is_kept)) {
    stop_with("Can't draw tokens: there is no answered trial with a token count.")
  }
  used <- c(
    "model", "model_label", "model_no", "test", "test_label", "test_no", "condition", "condition_label", "condition_no",
    "tokens", kinds_of_rows()
  )
  trials <- trials[is_kept, intersect(used, names(trials)), drop = FALSE]
  warn_of_pooling(trials, within = c("model", "test"))
  trials$condition <- shown_conditions(trials, levels = levels)
  trials <- with_shown(trials, c("model", "test"))
  levels(trials$test_shown) <- two_lines(levels(trials$test_shown))
  trials
}

token_layers <- function(trials, n_columns) {
  .data <- ggplot2::.data
  tests <- rev(levels(trials$test_shown))
  cells <- token_cells(trials)
  summaries <- do.call(rbind, lapply(cells, cell_summary))
  outlines <- do.call(rbind, lapply(cells, cell_outline))
  ggplot2::ggplot(summaries, ggplot2::aes(y = .data$height, fill = .data$condition)) +
    ggplot2::geom_polygon(
      ggplot2::aes(x = .data$tokens, y = .data$height_of_line, group = .data$height),
      data = outlines, linewidth = .25, colour = "grey35"
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$lower, xend = .data$upper, yend = .data$height),
      linewidth = .7
    ) +
    ggplot2::geom_point(ggplot2::aes(x = .data$median, shape = .data$condition), size = 1.8) +
    ggplot2::facet_wrap(
      ggplot2::vars(.data$model_shown),
      ncol = n_columns, scales = "free_x"
    ) +
    ggplot2::scale_x_continuous(trans = "sqrt", guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    names_on_y(tests, margin = .6) +
    condition_scales(nlevels(trials$condition)) +
    figure_theme()
}

# One entry per model, test and condition: where it stands, and its token counts.
token_cells <- function(trials) {
  n_tests <- nlevels(trials$test_shown)
  rows <- split(seq_len(nrow(trials)), list(trials$condition, trials$test_shown, trials$model_shown), drop = TRUE)
  lapply(unname(rows), function(rows) {
    place <- trials[rows[[1]], c("condition", "model_shown")]
    # The first test on top, and in it the first condition.
    test_row <- n_tests + 1 - as.integer(trials$test_shown[[rows[[1]]]])
    place$height <- test_row + beside(nlevels(trials$condition), .21)[[as.integer(place$condition)]]
    list(place = place, tokens = trials$tokens[rows])
  })
}

cell_summary <- function(cell) {
  quartiles <- stats::quantile(cell$tokens, c(.25, .5, .75), names = FALSE)
  cbind(cell$place, lower = quartiles[[1]], median = quartiles[[2]], upper = quartiles[[3]], row.names = NULL)
}

# The outline of a distribution, smoothed on the scale of the axis and cut at the data; none for a single value.
cell_outline <- function(cell) {
  scaled <- sqrt(cell$tokens)
  if (length(unique(scaled)) < 2) {
    return(data.frame(cell$place, tokens = double(1), height_of_line = double(1))[0, ])
  }
  smooth <- stats::density(scaled, adjust = 1.5, n = 128, from = min(scaled), to = max(scaled))
  half <- .19 * smooth$y / max(smooth$y)
  outline <- cell$place[rep(1, 2 * length(half)), ]
  outline$tokens <- c(smooth$x, rev(smooth$x))^2
  outline$height_of_line <- cell$place$height + c(half, -rev(half))
  outline
}

tokens_note <- function(trials) {
  count <- format(nrow(trials), big.mark = ",")
  rows <- sprintf("%s answered trials; refusals and trials without a count are left out.", count)
  caption_of(source_note(trials), rows, measure_note(trials))
}

tokens_in_words <- function(trials) {
  medians <- tapply(trials$tokens, list(trials$model_shown, trials$condition), stats::median)
  said <- each_row_in_words(medians, "%g")
  sprintf(
    "Distributions of tokens for %s by condition. Medians over all tests, %s: %s. %s",
    counted_shown(trials, c("test", "model")),
    all_in_words(colnames(medians)),
    paste(said, collapse = "; "), caption_of(source_note(trials), measure_note(trials))
  )
}
