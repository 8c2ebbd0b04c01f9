#' How open do choices stay after what was seen?
#'
#' Four measures of exploration for each model: the entropy of the choice given what was seen last in the class of the
#' job, how often the last group is chosen again after a success and after a failure, and how far the group that
#' succeeded first in a class keeps it (lock-in).
#'
#' @param data a data frame with one row per model, such as the view `allocation_exploration` of the database:
#'   `model`, `variant`, `choice_entropy_bits`, `stay_after_success`, `stay_after_failure`, `lock_in` (0 to 1, `NA`
#'   if unknown). Used if present: `n_rounds`, `n_groups` (for the level of chance), `answer_format`, `source`,
#'   `title`, `model_label`, `model_no`, `variant_label`, `variant_no`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_exploration <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  measures <- figure_rows(data)
  cells <- game_cells(exploration_rows(measures), exploration_labels(), to = "exploration")
  finish_figure(
    game_dots(cells, width), file, games_in_words("Exploration of", cells, source_note(measures)), width, height, 11,
    dots_height_in(cells, width),
    title = given_title(measures, "How open do choices stay after what was seen?"),
    subtitle = "Low entropy and high lock-in: choices are settled by the little that was seen first.",
    caption = c(source_note(measures), games_note(cells), exploration_note(cells, measures))
  )
}

exploration_labels <- function() {
  c(
    choice_entropy_bits = "Entropy of the choice,\nbits", stay_after_success = "Same group after\na success (%)",
    stay_after_failure = "Same group after\na failure (%)", lock_in = "Lock-in on the first\nsuccess (%)"
  )
}

# One row a model and measure, with the level of chance.
exploration_rows <- function(measures) {
  names <- names(exploration_labels())
  check_columns(measures, c("model", "variant", names), to = "draw exploration")
  measures <- with_absent(measures, "n_groups", NA_real_)
  cells <- setdiff(names(measures), c(names, "n_games"))
  do.call(rbind, lapply(names, function(name) {
    is_bits <- name == "choice_entropy_bits"
    data.frame(
      measures[cells],
      index = name, estimate = measures[[name]] * if (is_bits) 1 else 100,
      random_level = if (is_bits) log2(measures$n_groups) else 100 / measures$n_groups
    )
  }))
}

exploration_note <- function(cells, measures) {
  c(
    if ("n_rounds" %in% names(measures)) sprintf("%s a cell.", counted_range(measures$n_rounds, "round")),
    "No intervals are drawn.",
    if (any(!is.na(cells$random_level))) "Dotted: what choices at random come to, over endlessly many rounds.",
    "Lock-in: of the rounds after a class's first success, the share that went to the group that had it."
  )
}
