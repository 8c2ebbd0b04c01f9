# How many tokens models use, by condition: the outline of the distribution of each model, test and condition, the point
# its median, the bar its middle half. Table S5 of the RM-IAT paper gives the means of the same rows. Trials without an
# answer (`is_valid` or `is_refusal`) are left out. `levels`: the conditions in the order to show them.
plot_tokens <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL, ...) {
  trials <- begin_figure("tokens", data, file, width, height, ...)
  is_asked <- is.null(levels) | trials$condition %in% levels
  trials <- rows_to_draw("tokens", trials, !is.na(trials$tokens) & is_asked & !is_without_answer(trials))
  warn_of_pooling(trials, within = c("model", "test"))
  trials$condition <- shown_conditions(trials, levels = levels)
  trials <- with_tests_on_y(trials)
  n_models <- nlevels(trials$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, margin_in = 1.6)
  n_trials <- format(nrow(trials), big.mark = ",")
  medians <- tapply(trials$tokens, list(trials$model_shown, trials$condition), stats::median)
  rows <- split(seq_len(nrow(trials)), list(trials$condition, trials$test_shown, trials$model_shown), drop = TRUE)
  cells <- trials[vapply(rows, `[[`, 1L, 1), c("condition", "model_shown", "test_shown")]
  cells$height <- heights_of(cells$test_shown, cells$condition, .21)
  tokens <- unname(lapply(rows, function(of_cell) trials$tokens[of_cell]))
  outlines <- do.call(rbind, Map(cell_outline, tokens, split(cells, seq_along(tokens))))
  quartiles <- vapply(tokens, stats::quantile, double(3), c(.25, .5, .75), names = FALSE)
  cells <- cbind(cells, low = quartiles[1, ], at = quartiles[2, ], high = quartiles[3, ], row.names = NULL)
  plot <- at_height(cells) +
    densities(cells, outlines, "condition") +
    panels_by("model_shown", n_columns, scales = "free_x") +
    ggplot2::scale_x_continuous(
      trans = "sqrt", labels = counts_on_axis, guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    names_on_y(rev(levels(trials$test_shown)), margin = .6) +
    condition_scales(nlevels(trials$condition)) +
    figure_theme()
  finish_figure(
    plot, alt_text(
      sprintf("Distributions of tokens for %s by condition", counted_shown(trials, c("test", "model"))),
      sprintf("Medians over all tests, %s", all_in_words(colnames(medians))), each_row_in_words(medians, "%g")
    ),
    1.9 + .62 * max(nlevels(trials$test_shown), 2) * ceiling(n_models / n_columns),
    max(8, 3.2 + 2.1 * min(5, n_models)),
    notes = c(
      sprintf("%s answered trials; refusals and trials without a count are left out.", n_trials), measure_note(trials)
    ),
    said = measure_note(trials)
  )
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

# In which steps models count their tokens: a histogram of the counts of each model, fine enough to show gaps. Some
# providers count in steps (o3-mini in multiples of 64), and a difference smaller than a step is then seen in none of
# the trials. Of all trials with a count, refusals included, as in the view token_sources. The data of the plot have a
# row per bar: `low` and `high` in tokens (`high` is not in it), `n` trials, and the `step` of the model, NA where it
# has fewer than two different counts.
plot_token_steps <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  trials <- begin_figure("token_steps", data, file, width, height, ...)
  warn_of_pooling(trials, within = "model")
  trials <- with_shown(trials, "model")
  bins <- do.call(rbind, lapply(split(trials, trials$model_shown), token_bins))
  n_above <- nrow(trials) - sum(bins$n)
  note <- sprintf(
    "%s trials, refusals included%s.", format(nrow(trials), big.mark = ","),
    if (n_above > 0) sprintf("; of each model the highest 1 %% of counts lie outside (%d trials)", n_above) else ""
  )
  step <- vapply(split(bins$step, bins$model_shown), `[[`, 1, 1)
  plot <- ggplot2::ggplot(with_strips(bins)) +
    histogram(with_strips(bins)) +
    panels_by("strip", 1, scales = "free") +
    ggplot2::scale_x_continuous(labels = counts_on_axis) +
    figure_theme() +
    grid_of_numbers(strip.text = ggplot2::element_text(face = "bold", hjust = 0))
  finish_figure(
    plot, alt_text(
      sprintf("Histograms of token counts for %s, in bars finer than a step", counted(length(step), "model")),
      "Steps in tokens", paste(names(step), ifelse(is.na(step), "unknown", sprintf("%g", step)))
    ),
    1.9 + 1.3 * nlevels(trials$model_shown), notes = c(note, measure_note(trials)), said = measure_note(trials)
  )
}

# The bins of one model, about 160 of them, and at least four to a step, so that a step shows as a gap.
token_bins <- function(trials) {
  step <- token_step(trials$tokens)
  highest <- stats::quantile(trials$tokens, .99, names = FALSE, type = 1)
  lowest <- min(trials$tokens)
  shown <- trials$tokens[trials$tokens <= highest]
  width <- max(1, ceiling((highest - lowest + 1) / 160))
  if (!is.na(step) && step >= 4) width <- min(width, step %/% 4)
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

# The share of trials that each model refuses in each test and condition, with its 95 % interval (Wilson's). Table S4 of
# the RM-IAT paper counts the same refusals without telling the conditions apart; where a model refuses more often in
# one condition, the tokens that are left don't compare. `levels`: the conditions in the order to show them. The data of
# the plot are the rows with `rate`, `rate_low` and `rate_high`, shares from 0 to 1.
plot_refusals <- function(data, file = NULL, levels = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("refusals", data, file, width, height, ...)
  is_asked <- is.null(levels) | rows$condition %in% levels
  rows <- rows_to_draw("refusals", rows, is_asked & !is.na(rows$n_trials) & rows$n_trials > 0)
  rows$condition <- shown_conditions(rows, levels = levels)
  rows <- cbind(with_tests_on_y(rows), rate = rows$n_refusals / rows$n_trials, wilson(rows$n_refusals, rows$n_trials))
  rows$height <- heights_of(rows$test_shown, rows$condition, .17)
  rows <- with_intervals(rows, rows$rate, rows$rate_low, rows$rate_high, scale = 100)
  n_models <- nlevels(rows$model_shown)
  n_columns <- columns_within(width, min(5, n_models), each_in = 1.3, margin_in = 1.6)
  tests <- rev(levels(rows$test_shown))
  n <- format(colSums(rows[c("n_trials", "n_refusals")]), big.mark = ",", trim = TRUE)
  overlap <- ggplot2::guide_axis(check.overlap = TRUE)
  sums <- function(column) tapply(rows[[column]], list(rows$model_shown, rows$condition), sum)
  percent <- 100 * sums("n_refusals") / sums("n_trials")
  highest <- rows[which.max(rows$rate), ]
  finish_figure(
    dots_figure(
      rows, "condition", tests, ggplot2::scale_x_continuous(limits = c(0, NA), guide = overlap),
      panel = "model_shown", n_columns = n_columns, filled = TRUE, size = 2.1
    ),
    alt_text(
      sprintf("Share of refused trials for %s by condition", counted_shown(rows, c("test", "model"))),
      sprintf("Per cent over all tests, %s", all_in_words(colnames(percent))), each_row_in_words(percent, "%.1f"),
      sprintf(
        "The highest share is %.1f per cent: %s, %s, %s.", highest$at, highest$model_shown,
        sub("\n", " ", highest$test_shown, fixed = TRUE), highest$condition
      )
    ), 1.9 + .42 * max(length(tests), 2) * ceiling(n_models / n_columns),
    max(8, 3.2 + 2.1 * min(5, n_models)), said = NULL,
    notes = sprintf("%s trials, %s of them refused.", n[["n_trials"]], n[["n_refusals"]])
  )
}

# The residuals of mixed models of one model, against what they assume. For each test, two panels. "Quantiles": each
# residual against the normal quantile of its rank; they lie on the line if residuals are normal. "Spread": residuals
# against fitted tokens; the points are the middle, the bars reach from the 5th to the 95th percentile of each twentieth
# of the trials, and all are alike if the spread is constant. `formula` and `levels` as of check_residuals().
plot_residuals <- function(data, file = NULL, formula = "tokens ~ condition + (1 | wording)",
                           levels = NULL, width = NULL, height = NULL, ...) {
  trials <- begin_figure("residuals", data, file, width, height, ...)
  trials <- with_shown(rows_to_draw("residuals", trials, !is_without_answer(trials)), "test")
  trials$model_shown <- factor(model_of(trials))
  levels <- if (is.null(levels)) list(condition = levels_of(trials, "condition")) else levels
  maker <- model_maker(trials, formula, levels)
  trials <- trials[stats::complete.cases(trials[maker$columns]), , drop = FALSE]
  panels <- lapply(split(trials, trials$test_shown, drop = TRUE), residual_panels, maker = maker)
  points <- do.call(rbind, lapply(panels, `[[`, "points"))
  bars <- do.call(rbind, lapply(panels, `[[`, "bars"))
  n_columns <- columns_within(width, 5, each_in = 1.7, margin_in = .4)
  outcome <- gsub("_", " ", deparse1(stats::as.formula(formula)[[2]]), fixed = TRUE) # "tokens", "log1p(tokens)"
  in_order <- c(unique(points$panel), unique(bars$panel))
  points$panel <- factor(points$panel, levels = in_order)
  bars$panel <- factor(bars$panel, levels = in_order)
  plot <- ggplot2::ggplot(points, ggplot2::aes(.data$x, .data$y)) +
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
  finish_figure(
    plot, residuals_in_words(panels, trials),
    1.8 + 1.9 * ceiling(2 * length(panels) / n_columns), notes = measure_note(trials),
    title = sprintf("%s: do the residuals look as the mixed models assume?", model_of(trials)),
    x = sprintf("Normal quantile (quantiles), fitted %s (spread)", outcome)
  )
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
  fitted <- unname(stats::fitted(model))
  part <- ceiling(20 * rank(fitted, ties.method = "first") / n)
  middle <- function(at) as.vector(tapply(residual, part, stats::quantile, at, names = FALSE))
  bars <- data.frame(
    panel = paste0("Spread: ", test), x = as.vector(tapply(fitted, part, mean)), y = middle(.5), lower = middle(.05),
    upper = middle(.95)
  )
  list(points = points, bars = bars, skewness = skewness_of(residual))
}

residuals_in_words <- function(panels, trials) {
  skewness <- vapply(panels, `[[`, 1, "skewness")
  alt_text(
    sprintf(
      "Normal quantiles and spread of the residuals of %s, %s", counted(length(panels), "mixed model"), model_of(trials)
    ),
    notes = sprintf(
      paste(
        "Residuals would lie on a line if they were normal; their skewness (0 if symmetric) is from %.1f to %.1f,",
        "the largest in %s."
      ),
      min(skewness), max(skewness), names(panels)[[which.max(skewness)]]
    )
  )
}
