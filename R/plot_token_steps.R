#' In which steps models count their tokens
#'
#' A histogram of the token counts of each model, fine enough to show gaps: some providers count in steps (o3-mini in
#' multiples of 64), and a difference smaller than a step is then seen in none of the trials. Of all trials with a
#' count, refusals included, as in the view `token_sources`.
#'
#' @param data a data frame with one row per trial: `model` and `tokens`. Used if present: `model_label` to show,
#'   `model_no` to order by (else the order of rows), `source` and `token_source` (what the tokens are) for the
#'   caption. A warning says if a model has rows of more than one `source`, `study_version` or `variant`.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`. Its data have
#'   one row per bar: `from` and `to` in tokens (`to` is not in it), `n` trials, and the `step` of the model in tokens:
#'   the greatest common divisor of all its counts, `NA` with fewer than two different ones.
#' @noRd
plot_token_steps <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  trials <- steps_to_draw(figure_rows(data))
  bins <- do.call(rbind, lapply(split(trials, trials$model_shown), token_bins))
  n_above <- nrow(trials) - sum(bins$n)
  note <- sprintf(
    "%s trials, refusals included%s.", format(nrow(trials), big.mark = ","),
    if (n_above > 0) sprintf("; of each model the highest 1 %% of counts lie outside (%d trials)", n_above) else ""
  )
  plot <- ggplot2::ggplot(with_strips(bins)) +
    histogram(with_strips(bins)) +
    panels_by("strip", 1, scales = "free") +
    ggplot2::scale_x_continuous(labels = counts_on_axis) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(strip.text = ggplot2::element_text(face = "bold", hjust = 0))
  finish_figure(
    plot, file, steps_in_words(trials, bins), width, height, 8, 1.9 + 1.3 * nlevels(trials$model_shown),
    title = "In which steps are tokens counted?",
    subtitle = "Trials by token count. Gaps between bars: counts that never occur. Each model has its own scales.",
    caption = c(source_note(trials), note, measure_note(trials)), x = "Tokens", y = "Trials"
  )
}

steps_to_draw <- function(trials) {
  rows <- rows_to_draw(trials, c("model", "tokens"), !is.na(trials$tokens), "token steps", "trial with a token count")
  warn_of_pooling(rows, within = "model")
  with_shown(rows, "model")
}

# The bins of one model, about 160 of them, and at least four to a step, so that a step shows as a gap.
token_bins <- function(trials) {
  step <- token_step(trials$tokens)
  highest <- stats::quantile(trials$tokens, .99, names = FALSE, type = 1)
  lowest <- min(trials$tokens)
  shown <- trials$tokens[trials$tokens <= highest]
  width <- max(1, ceiling((highest - lowest + 1) / 160))
  if (!is.na(step) && step >= 4) {
    width <- min(width, step %/% 4)
  }
  counts <- table((shown - lowest) %/% width)
  low <- lowest + width * as.numeric(names(counts))
  data.frame(
    model_shown = trials$model_shown[[1]], low = low, high = low + width, n = as.integer(counts), step = step,
    row.names = NULL
  )
}

with_strips <- function(bins) {
  steps <- ifelse(is.na(bins$step), "step unknown", sprintf("steps of %g", bins$step))
  strips <- sprintf("%s: %s", bins$model_shown, steps)
  bins$strip <- factor(strips, levels = unique(strips[order(bins$model_shown)]))
  bins
}

steps_in_words <- function(trials, bins) {
  step <- vapply(split(bins$step, bins$model_shown), function(steps) steps[[1]], 1)
  alt_text(
    sprintf("Histograms of token counts for %s, in bars finer than a step", counted(length(step), "model")),
    "Steps in tokens", paste(names(step), ifelse(is.na(step), "unknown", sprintf("%g", step))),
    source_note(trials), measure_note(trials)
  )
}
