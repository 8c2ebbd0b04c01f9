#' The smallest effect that a design would find
#'
#' The minimum detectable effect by the number of words, a curve for each number of repetitions, a panel for each number
#' of wordings and cell; of games, by their number. Lines of different repetitions that lie close together say that
#' repetitions don't replace words.
#'
#' @param data a plan, such as [plan_power()] returns.
#' @inherit plot_effect_sizes params return
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' variances <- list(wording = 30, word = 250, residual = 3200, sd = 60)
#' plot_power(plan_power(variances, n_words = c(8, 16, 32, 64), n_wordings = c(5, 20), n_repetitions = c(1, 5)))
plot_power <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  is_of_games <- "n_games" %in% names(data)
  rows <- power_to_draw(data, is_of_games)
  n_columns <- columns_within(inches_or(width, 7.5), nlevels(rows$panel), each_in = 2.2, margin_in = .6)
  finish_figure(
    power_curves(rows, n_columns), file, power_in_words(rows, is_of_games), width, height, 7.5,
    2 + 2.4 * ceiling(nlevels(rows$panel) / n_columns),
    title = "What could be found",
    subtitle = "Smallest effect, in units of the outcome, that is found with the power that was asked for.",
    caption = if (is_of_games) NULL else "Trials alone become more with repetitions; words and wordings do not.",
    x = if (is_of_games) "Games in each condition" else "Words", y = "Minimum detectable effect"
  )
}

power_to_draw <- function(data, is_of_games) {
  needed <- c(if (is_of_games) "n_games" else c("n_words", "n_wordings", "n_repetitions"), "mde")
  check_columns(data, needed, to = "draw the power of a design")
  rows <- data[is.finite(data$mde), , drop = FALSE]
  if (nrow(rows) == 0) stop_with("Can't draw the power of a design: no row has a minimum detectable effect.")
  rows$x <- if (is_of_games) rows$n_games else rows$n_words
  rows$at <- rows$mde
  rows$low <- rows$high <- NA_real_
  numbers <- if (is_of_games) rep(1, nrow(rows)) else rows$n_repetitions
  repetitions <- sort(unique(numbers))
  rows$look <- factor(numbers, repetitions, ifelse(repetitions == 1, "once each", paste(repetitions, "times each")))
  cell <- lapply(intersect(c("model", "test", "index"), names(rows)), labels_of, data = rows)
  wordings <- if (!is_of_games) ifelse(rows$n_wordings == 1, "1 wording", paste(rows$n_wordings, "wordings"))
  parts <- c(cell, list(if (is.null(wordings)) rep("games", nrow(rows)) else wordings))
  panel <- do.call(paste, c(parts, sep = "\n"))
  rows$panel <- factor(panel, unique(panel))
  rows
}

power_curves <- function(rows, n_columns) {
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$x)) +
    curves(rows, "look", is_joined = TRUE) +
    panels_by("panel", n_columns, scales = "fixed") +
    colours_and_shapes(nlevels(rows$look)) +
    ggplot2::scale_y_continuous(limits = c(0, NA)) +
    figure_theme() +
    panels_of_domains() +
    grid_of_numbers()
}

power_in_words <- function(rows, is_of_games) {
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
  alt_text(
    paste("Minimum detectable effect by the number of", if (is_of_games) "games" else "words"), "Curves",
    unname(numbers)
  )
}
