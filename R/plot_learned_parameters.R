#' What did models learn by, and people?
#'
#' The parameters of hierarchical learners with their 95 % intervals, a row a model; people's, where they are among the
#' rows (`source` is `"human"`), are a row and a band behind those of the models. Colours say what the numbers are
#' worth: without replays that look like the games, they describe nothing.
#'
#' @param data a data frame with one row per model and term, such as the view `learner_parameters` of the database:
#'   `model`, `variant`, `term`, `estimate`, `conf_low`, `conf_high`. Used if present: `source`, `is_people` (the row is
#'   one of people, shown next to those of `source`), `is_identified`,
#'   `is_converged`, `passes`, `n_games`, `title`, `model_label`, `model_no`. Sharpness is drawn as its decadic
#'   logarithm, for it can be any number of times as large.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_learned_parameters <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- with_people_named(figure_rows(data))
  cells <- parameter_cells(rows)
  finish_figure(
    game_dots(cells, width), file, games_in_words("Learned parameters of", cells, parameters_note(cells, rows)), width,
    height, 11, dots_height_in(cells, width),
    title = given_title(rows, "What do choices follow, in models and people?"),
    subtitle = "Centre of the games under a hierarchical learner: posterior medians with 95 % intervals.",
    caption = parameters_note(cells, rows)
  )
}

parameter_labels <- function() {
  c(
    rate = "Learning rate", rate_up = "Learning rate,\ngood news", rate_down = "Learning rate,\nbad news",
    sharpness = "Sharpness\n(log10)", rate_x_sharpness = "Rate x sharpness\n(log10)",
    perseveration = "Perseveration", lapse = "Lapse", bonus = "Bonus on groups\nseldom tried",
    generalisation = "Generalisation\nover classes"
  )
}

# Rows of people that are shown next to those of another source, by `is_people`.
with_people_named <- function(rows) {
  rows <- with_absent(rows, "source", NA_character_)
  if (!is.null(rows$is_people)) rows$source[rows$is_people %in% TRUE] <- "human"
  rows
}

# What a parameter is worth, the best first.
parameter_worths <- c(
  finding = "its replays look like the games", unknown = "could not be replayed",
  failed = "no finding: its replays do not", diverged = "no finding: its chains did not converge",
  prior = "not identified by these games"
)

parameter_cells <- function(rows) {
  check_columns(rows, c("model", "variant", "term", "estimate", "conf_low", "conf_high"), to = "draw parameters")
  rows <- with_absent(rows, c("is_identified", "is_converged", "passes"), NA)
  rows <- rows[rows$term %in% names(parameter_labels()), , drop = FALSE]
  rows$index <- rows$term
  is_log <- rows$term %in% c("sharpness", "rate_x_sharpness")
  for (name in c("estimate", "conf_low", "conf_high")) rows[[name]][is_log] <- log10(rows[[name]][is_log])
  is_human <- rows$source %in% "human"
  people <- rows[is_human & !(rows$passes %in% FALSE), , drop = FALSE]
  at <- if (anyDuplicated(people$term) == 0) match(rows$term, people$term) else rep(NA_integer_, nrow(rows))
  rows[c("human", "human_low", "human_high")] <- people[at, c("estimate", "conf_low", "conf_high")]
  rows$people_are <- "People"
  cells <- game_cells(rows, parameter_labels(), to = "parameters")
  worth <- parameter_worths[parameter_worth(cells)]
  cells$series_shown <- droplevels(factor(worth, parameter_worths))
  cells$height <- cells$model_height
  cells
}

parameter_worth <- function(cells) {
  worth <- ifelse(is.na(cells$passes), "unknown", ifelse(cells$passes, "finding", "failed"))
  worth[cells$is_converged %in% FALSE] <- "diverged"
  worth[cells$is_identified %in% FALSE] <- "prior"
  worth
}

parameters_note <- function(cells, rows) {
  c(
    source_note(rows), games_note(cells),
    if (any(!is.na(cells$human))) "Dashed, and orange behind the dots: people, with their 95 % interval.",
    "Rate and sharpness alone are hard to tell apart; their product is what games know.",
    "They hold for these rewards and this wording."
  )
}
