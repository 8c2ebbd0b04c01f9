#' How often do games succeed, by model and condition?
#'
#' The share of successful rounds in a game, its mean over games and 95 % t interval. Where a group succeeds best in a
#' class, a bonus for choosing others may cost successes: the figure puts conditions next to each other.
#'
#' @param data a data frame with one row per game that was played to its end, such as the view
#'   `allocation_game_indices`: `model`, `variant` (the condition), `success_rate` (0 to 1). Used if present:
#'   `answer_format`, `random_level` and `best_level` (the share that random choices, and choices that know the best
#'   group, are expected to give in that condition), `source`, `title`, `model_label`, `model_no`, `variant_label`,
#'   `variant_no`.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, figure 13 (appendix G).
#' @noRd
plot_success <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  games <- figure_rows(data)
  cells <- game_cells(success_rates(games), c(success_rate = "Successful rounds of a game (%)"), to = "success")
  notes <- c(games_note(cells), source_note(games))
  finish_figure(
    game_dots(cells, width) + best_lines(cells), file, games_in_words("Successful rounds (%) for", cells, notes),
    width, height, 9, dots_height_in(cells, width),
    title = given_title(games, "How often do choices succeed?"),
    subtitle = "Mean share of successful rounds in a game.",
    caption = c(source_note(games), games_note(cells), "Bars: 95 % t intervals over games.", levels_note(cells))
  )
}

# By model, condition and answer format: the mean in per cent with its t interval.
success_rates <- function(games) {
  needed <- c("model", "variant", "success_rate")
  known <- rows_to_draw(games, needed, !is.na(games$success_rate), "success", "game with a success rate")
  known <- with_absent(with_absent(known, c("random_level", "best_level"), NA_real_), "answer_format", NA_character_)
  warn_of_pooling(known, within = c("model", "variant", "answer_format"))
  rows <- split(seq_len(nrow(known)), group_codes(known, c("model", "variant", "answer_format")))
  do.call(rbind, lapply(rows, function(of_cell) {
    percent <- 100 * known$success_rate[of_cell]
    half_width <- t_half_width(stats::sd(percent), length(percent))
    cell <- known[of_cell[[1]], setdiff(names(known), c("game", "success_rate", "random_level")), drop = FALSE]
    data.frame(
      cell,
      index = "success_rate", estimate = mean(percent), conf_low = mean(percent) - half_width,
      conf_high = mean(percent) + half_width, n_games = length(percent),
      random_level = 100 * known$random_level[of_cell[[1]]]
    )
  }))
}

best_lines <- function(cells) {
  best <- unique(cells[!is.na(cells$best_level), c("row_shown", "column_shown", "best_level")])
  if (nrow(best) > 0) {
    ggplot2::geom_vline(ggplot2::aes(xintercept = 100 * .data$best_level), best, colour = "grey25", linewidth = .4)
  }
}

levels_note <- function(cells) {
  c(
    if (any(!is.na(cells$random_level))) "Dotted: what random choices are expected to give.",
    if (any(!is.na(cells$best_level))) "Line: what choices that know the best groups are expected to give."
  )
}
