#' How stratified do games become, by model and condition?
#'
#' The indices of games with their intervals, next to the level of chance and people's printed values. One condition, or
#' one in each `panel`: colours are answer formats. Several conditions: colours are conditions, and each answer format
#' has panels of its own.
#'
#' @param data a data frame with one row per cell and index, such as `game_indices(rounds, by = c("model",
#'   "variant"))` or the view `game_index_intervals` of the database: `model`, `variant` (the condition), `index`,
#'   `estimate`, and, where known, `conf_low` and `conf_high` (t) or `boot_low` and `boot_high` (drawn where the index
#'   has no t interval). Used if present: `answer_format` (`"direct"`, `"cot"` ...), `random_level`, `random_low`,
#'   `random_high`, `human`, `human_low`, `human_high` (people's value in that condition, else `NA`), `panel` (a row of
#'   panels), `n_games`, `n_incomplete` and `source` for the caption, `title`, and `model_label`, `model_no`,
#'   `variant_label`, `variant_no`. Every index that there are rows of has a column of panels.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases Through Adaptive Exploration,
#'   figures 2, 5, 6, 7 and 12.
#' @seealso `draw_figure("plot_families", ...)` for figure 3, `draw_figure("plot_success", ...)` for figure 13.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' games <- simulate_structured_games(p = c(0, .5, 1), experiments = "bgd", n_games = 8)
#' games <- transform(games, model = paste("follows a map with p =", p), variant = "main")
#' indices <- game_indices(games, by = c("source", "model", "variant"), n_draws = 0, n_random = 20)
#' plot_stratification(indices[indices$index %in% c("si", "bgd"), ])
plot_stratification <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  indices <- figure_rows(data, "indices")
  cells <- game_cells(indices, index_labels(), to = "stratification")
  title <- if (nlevels(cells$variant_shown) == 1) {
    "Do groups end up in different classes?"
  } else {
    "Does the stratification of groups depend on the condition?"
  }
  notes <- c(games_note(cells), source_note(indices))
  finish_figure(
    game_dots(cells, width), file, games_in_words("Indices of stratification for", cells, notes), width, height, 9,
    dots_height_in(cells, width),
    title = given_title(indices, title),
    subtitle = paste0(
      "0: each group is chosen alike for all classes. Higher: more apart.",
      if (any(grepl("^gasi", cells$index))) "\nGASI: higher, the more a group's classes differ from game to game."
    ),
    caption = c(source_note(indices), games_note(cells), marks_note(cells))
  )
}
