#' The level that chance alone gives to the indices of a hiring game
#'
#' Random hires stratify, too: each group has few, and no few hires are spread evenly. Simulates cells of games in which
#' every job is drawn from all jobs with replacement and every group is as likely as another, and measures them as
#' [game_indices()] does. With 40 rounds, four groups and four classes of five jobs SI is about .275, BGD .296 and
#' GASI .294. With `balanced = TRUE` each job comes equally often: 400 single rounds that are pooled into one game come
#' to an SI of about .0165, and 40 rounds of 20 jobs twice to .218.
#'
#' @param n_rounds rounds of a game.
#' @param n_groups number of groups to choose from.
#' @param class_sizes number of jobs in each class: a class of more jobs is drawn more often.
#' @param balanced whether each job comes equally often, instead of being drawn again each round. `n_rounds` must then
#'   be a multiple of the number of jobs.
#' @param n_games games in a cell: the interval is for the index of a cell of this many games.
#' @param n_cells number of cells to simulate.
#' @param seed of the simulation, a whole number.
#' @return A data frame with one row per index: `index`, `level` (the mean over cells), `level_low` and `level_high`
#'   (where 95 % of cells lie), and what was asked for: `n_rounds`, `n_groups`, `n_classes`, `n_games`, `n_cells`.
#'   NA for GASI of one game.
#' @source Wu, Liu, Bai & Griffiths, section 4.2 and figure 2 (printed: SI .25, BGD .29 from 30 games).
#' @noRd
random_level <- function(n_rounds = 40, n_groups = 4, class_sizes = c(5, 5, 5, 5), balanced = FALSE, n_games = 30,
                         n_cells = 200, seed = 20260101) {
  check_random_game(n_rounds, n_groups, class_sizes, n_games, n_cells)
  if (balanced && n_rounds %% sum(class_sizes) != 0) {
    stop_with(
      "Can't simulate random games: where each job comes equally often, rounds must be a multiple of the jobs.",
      sprintf("Found: %s rounds, %s jobs.", n_rounds, sum(class_sizes))
    )
  }
  check_resampling(n_cells, seed, to = "simulate random games")
  indices <- with_seed(seed, replicate(n_cells, {
    counts <- random_counts(n_rounds, n_groups, class_sizes, n_games, balanced)
    weighted_indices(measured_games(counts), equal_weights(n_games))[1, ]
  }))
  limits <- apply(indices, 1, stats::quantile, probs = c(.025, .975), na.rm = TRUE, names = FALSE)
  level <- rowMeans(indices, na.rm = TRUE)
  if (length(class_sizes) < 2) level[] <- limits[] <- NA_real_ # nothing can be stratified
  data.frame(
    index = index_names, level = replace(unname(level), is.nan(level), NA_real_),
    level_low = limits[1, ], level_high = limits[2, ], n_rounds = n_rounds, n_groups = n_groups,
    n_classes = length(class_sizes), n_games = n_games, n_cells = n_cells, row.names = NULL
  )
}

check_random_game <- function(n_rounds, n_groups, class_sizes, n_games, n_cells) {
  given <- list(n_rounds = n_rounds, n_groups = n_groups, n_games = n_games, n_cells = n_cells)
  for (name in names(given)) {
    if (!is_whole(given[[name]], 1)) {
      stop_with(sprintf("Can't simulate random games: `%s` must be a whole number, 1 or more.", name))
    }
  }
  if (!is.numeric(class_sizes) || length(class_sizes) < 1 || anyNA(class_sizes) || any(class_sizes <= 0)) {
    stop_with("Can't simulate random games: `class_sizes` must be the number of jobs in each class, each above 0.")
  }
}

# By game, group and class, how often; chance alone decides.
random_counts <- function(n_rounds, n_groups, class_sizes, n_games, balanced) {
  n <- n_rounds * n_games
  n_classes <- length(class_sizes)
  class <- if (balanced) {
    rep(rep(seq_len(n_classes), class_sizes * n_rounds / sum(class_sizes)), each = n_games)
  } else {
    sample.int(n_classes, n, replace = TRUE, prob = class_sizes)
  }
  group <- sample.int(n_groups, n, replace = TRUE)
  game <- rep(seq_len(n_games), n_rounds)
  cell <- game + n_games * (group - 1 + n_groups * (class - 1))
  array(tabulate(cell, n_games * n_groups * n_classes), c(n_games, n_groups, n_classes))
}
