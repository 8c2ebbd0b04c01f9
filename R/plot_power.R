#' The smallest effect that a design would find
#'
#' The minimum detectable effect by the number of words, a curve for each number of repetitions, a panel for each number
#' of wordings and cell; of games, by their number. Lines of different repetitions that lie close together say that
#' repetitions don't replace words. Of a study of factors, whose plan is simulated: the power to find the difference of
#' two levels by its size, a point for each pair, with 95 % intervals of the simulation.
#'
#' @param data a plan, such as [plan_power()] returns; of a study of factors a data frame with `attribute`, `first`,
#'   `second`, `estimate`, `power`, `n_data_sets`, `n_repetitions` (made by Python's `plan_power()`
#'   or `analyze power --out`).
#' @inherit plot_effect_sizes params return
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' variances <- list(wording = 30, word = 250, residual = 3200, sd = 60)
#' plot_power(plan_power(variances, n_words = c(8, 16, 32, 64), n_wordings = c(5, 20),
#'   n_repetitions = c(1, 5)))
plot_power <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  data <- begin_figure("power", data, file, width, height, ...)
  if ("attribute" %in% names(data)) {
    rows <- power_of_levels_to_draw(data)
    return(power_curves(
      rows, width, power_of_levels_in_words(rows),
      ggplot2::geom_hline(yintercept = .8, linewidth = .3, linetype = "dashed"),
      title = "Which differences would be found", source = "Bars: 95 % intervals of the simulation.",
      subtitle = "Share of simulated studies in which two levels differ (p < .05); dashed: .8.",
      x = "Mean difference of two levels, without its sign", y = "Power"
    ))
  }
  is_of_games <- "n_games" %in% names(data)
  needed <- c(if (is_of_games) "n_games" else c("n_words", "n_wordings", "n_repetitions"), "mde")
  rows <- planned_rows(data, needed, "mde", "minimum detectable effect")
  rows$x <- if (is_of_games) rows$n_games else rows$n_words
  rows <- with_intervals(rows, rows$mde, NA_real_, NA_real_)
  rows$look <- times_each(if (is_of_games) rep(1, nrow(rows)) else rows$n_repetitions)
  cell <- lapply(intersect(c("model", "test", "index"), names(rows)), labels_of, data = rows)
  wordings <- if (!is_of_games) ifelse(rows$n_wordings == 1, "1 wording", paste(rows$n_wordings, "wordings"))
  parts <- c(cell, list(if (is.null(wordings)) rep("games", nrow(rows)) else wordings))
  panel <- do.call(paste, c(parts, sep = "\n"))
  rows$panel <- factor(panel, unique(panel))
  ends <- rows[order(rows$panel, rows$look, rows$x), ]
  each <- split(ends, list(ends$look, ends$panel), drop = TRUE)
  numbers <- vapply(each, function(part) {
    last <- part[nrow(part), ]
    cell <- gsub("\n", ", ", part$panel[[1]], fixed = TRUE)
    sprintf(
      "%s%s: %.3g at %d, %.3g at %d", cell, if (is_of_games) "" else paste(",", part$look[[1]]),
      part$mde[[1]], as.integer(part$x[[1]]), last$mde, as.integer(last$x)
    )
  }, "")
  power_curves(
    rows, width, alt_text(
      paste("Minimum detectable effect by the number of", if (is_of_games) "games" else "words"), "Curves",
      unname(numbers)
    ), title = "What could be found",
    subtitle = "Smallest effect, in units of the outcome, that is found with the power that was asked for.",
    source = if (is_of_games) "" else "Trials alone become more with repetitions; words and wordings do not.",
    x = if (is_of_games) "Games in each condition" else "Words", y = "Minimum detectable effect"
  )
}

planned_rows <- function(data, needed, value, named) {
  check_columns(data, needed, to = "draw the power of a design")
  rows <- data[is.finite(data[[value]]), , drop = FALSE]
  if (nrow(rows) == 0) stop_with(sprintf("Can't draw the power of a design: no row has a %s.", named))
  rows
}

times_each <- function(numbers) {
  repetitions <- sort(unique(numbers))
  factor(numbers, repetitions, ifelse(repetitions == 1, "once each", paste(repetitions, "times each")))
}

power_curves <- function(rows, width, words, line = NULL, ...) {
  n_columns <- columns_within(given_or(width, 7.5), nlevels(rows$panel), each_in = 2.2, margin_in = .6)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$x)) +
    curves(rows, "look", is_joined = TRUE) +
    panels_by("panel", n_columns, scales = "fixed") +
    colours_and_shapes(nlevels(rows$look)) +
    ggplot2::scale_y_continuous(limits = c(0, NA)) +
    figure_theme() +
    panels_of_tests() +
    grid_of_numbers() +
    line
  finish_figure(plot, words, 2 + 2.4 * ceiling(nlevels(rows$panel) / n_columns), ...)
}

power_of_levels_to_draw <- function(data) {
  needed <- c("attribute", "first", "second", "estimate", "power", "n_data_sets", "n_repetitions")
  rows <- planned_rows(data, needed, "power", "power")
  rows <- rows[is.finite(rows$estimate), , drop = FALSE]
  rows$x <- abs(rows$estimate)
  interval <- wilson(round(rows$power * rows$n_data_sets), rows$n_data_sets)
  rows <- with_intervals(rows, rows$power, interval$rate_low, interval$rate_high)
  rows$look <- times_each(rows$n_repetitions)
  rows$pair <- paste(rows$second, rows$first, sep = " - ")
  cell <- lapply(intersect(c("model", "test"), names(rows)), labels_of, data = rows)
  panel <- do.call(paste, c(cell, list(rows$attribute), sep = "\n"))
  rows$panel <- factor(panel, unique(panel))
  rows
}

power_of_levels_in_words <- function(rows) {
  numbers <- vapply(split(rows, list(rows$look, rows$panel), drop = TRUE), function(part) {
    largest <- part[which.max(part$x), ]
    sprintf(
      "%s, %s: %s, a difference of %.3g, is found in %.0f %%", gsub("\n", ", ", largest$panel, fixed = TRUE),
      largest$look, largest$pair, largest$x, 100 * largest$power
    )
  }, "")
  alt_text("Power by the size of the difference", "Points", unname(numbers))
}
