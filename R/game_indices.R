#' How stratified did the games of a hiring game become?
#'
#' SI, BGD, GASI and the mutual information of a hiring game (or any game in which groups are chosen for jobs of several
#' classes), as the view `allocation_indices` of the database has them, with intervals over games.
#'
#' A group's distribution is that of its hires over the classes of jobs.
#' \describe{
#'   \item{`si`}{stratification index, bits: log2 of the number of classes minus the unweighted mean entropy of the
#'     distributions of the groups that were hired at least once in the game; then the mean over games.}
#'   \item{`bgd`}{between-group divergence: the mean Jensen-Shannon *distance* (root of the divergence in natural
#'     logarithms, at most 0.8326) over distinct pairs of groups hired in the game; then the mean over games.}
#'   \item{`gasi`}{group assignment stochasticity index: the same distance between one group's distributions in two
#'     games, the mean over pairs of games in which it was hired, then over groups.}
#'   \item{`mutual_information_bits`}{of group and class over the rounds of a game; then the mean over games.}
#'   \item{`bgd_divergence_bits`, `gasi_divergence_bits`}{as the paper's text has BGD and GASI: the divergence in base
#'     2, at most 1. Its numbers are those of the distance.}
#' }
#' The t interval is `mean ± qt(.975, n - 1) * sd / sqrt(n)` over games. GASI is no mean over games and has none. The
#' bootstrap draws whole games again (percentiles); for GASI two draws of one game make no pair. Fewer than five games
#' have no bootstrap interval: two or three drawn again are nearly always the same ones, and it would hold the true
#' value in half of all cells. From 5 to 10 games it still does so in 80 to 90 %; the t interval comes nearer to 95 %.
#'
#' Chance alone gives more than 0: its level is next to each index, from simulated random choices with
#' as many rounds, groups, jobs in each class and games as the cell has (jobs equally often, where in each game they
#' came so).
#'
#' `analyze indices` keeps the same numbers in the database: the view `game_index_intervals` has them.
#'
#' @param data a data frame with one row per round: the columns `game`, `class` (of the job) and `choice` (the group
#'   chosen), as in the view `allocation_rounds`. Rounds without a choice take no part; games that were not played to
#'   their end are yours to leave out (the view `allocation_games` tells which).
#' @param by names of the columns that define the cells, each of which has its own indices. A cell with several values
#'   of the column `source` is refused; several models, variants or study versions in one are said in a warning, as are
#'   games of unlike length (where there is a column `round`).
#' @param n_classes number of classes of jobs; `NULL` counts those that each cell has.
#' @param n_groups number of groups to choose from, for the level of chance; `NULL` counts those that each cell chose.
#' @param class_sizes number of jobs in each class, for the level of chance; `NULL` counts those in the column `job`.
#'   The view `allocation_games` has both numbers.
#' @param n_draws number of bootstrap draws, 0 for none.
#' @param n_random number of random cells for the level of chance, 0 for none. Without `class_sizes` and without a
#'   column `job`, classes are taken to be alike.
#' @param seed of the draws, a whole number; each cell starts from it again.
#' @return A data frame with one row per cell and index: the columns `by`, `index`, `n_games`, `estimate`, `sd` (over
#'   games), `conf_low` and `conf_high` (t, 95 %), `boot_low` and `boot_high` (95 %), `mde` (how far from a given value,
#'   such as the level of chance, the index must truly be for a t test over this many games to find it with a power of
#'   80 %), `random_level`, `random_low` and `random_high` (where 95 % of random cells lie). NA if it is not defined:
#'   BGD if only one group was hired, GASI of one game; `mde` of GASI, which is no mean over games.
#' @source Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases Through Adaptive Exploration,
#'   section 3.2, equations 1 to 3; figures 2 and 3, Table 1.
#' @export
#' @examples
#' rounds <- data.frame(
#'   game = rep(1:2, each = 4), class = rep(c("high", "low"), 4),
#'   choice = c("A", "B", "A", "B", "A", "A", "B", "B")
#' )
#' game_indices(rounds, n_draws = 100, n_random = 20)[c("index", "estimate", "conf_low",
#'   "random_level")]
game_indices <- function(data, by = NULL, n_classes = NULL, n_draws = 2000, n_random = 200, seed = 20260101,
                         n_groups = NULL, class_sizes = NULL) {
  check_arguments()
  check_columns(data, c(by, "game", "class", "choice"), to = "measure games")
  check_games_apart(data, by)
  n_classes <- if (is.null(n_classes) && !is.null(class_sizes)) length(class_sizes) else n_classes
  random <- random_levels(n_random, seed)
  indices <- over_cells_of_games(data, by, function(rows) {
    counts <- game_counts(rows)
    measured <- measured_games(counts, n_classes)
    n <- nrow(measured$games)
    values <- measured$games
    values[setdiff(index_names, names(values))] <- NA_real_ # those between games have no value of a game's own
    sd <- vapply(values[index_names], stats::sd, 1, na.rm = TRUE)
    n_known <- colSums(!is.na(values[index_names]))
    estimate <- weighted_indices(measured, equal_weights(n))[1, ]
    df <- ifelse(n_known > 1, n_known - 1, NA_real_)
    std_error <- sd / sqrt(n_known)
    half_width <- stats::qt(.975, df) * std_error
    limits <- boot_limits(measured, if (n >= least_games_drawn) n_draws else 0, seed)
    limits[, is.na(estimate)] <- NA_real_
    described <- data.frame(
      index = index_names, n_games = n, estimate = unname(estimate), sd = unname(sd),
      conf_low = unname(estimate - half_width), conf_high = unname(estimate + half_width),
      boot_low = limits[1, ], boot_high = limits[2, ], mde = unname(minimum_detectable_effect(std_error, df)),
      row.names = NULL
    )
    chance <- cell_of_chance(rows, counts, n_classes, n_groups, class_sizes)
    found <- cbind(described, random(chance))
    if (length(chance$class_sizes) < 2) found[setdiff(names(found), c("index", "n_games"))] <- NA_real_
    found
  })
  if (is.null(n_classes)) n_classes <- length(unique(data$class))
  if (anyNA(indices$estimate) && n_classes < 2) { # where all jobs are of one class, nothing can be stratified
    message(
      "Games of one class of jobs have no SI, BGD or GASI. How unevenly they choose says one_minus_herfindahl, which ",
      "the fit \"policies\" gives."
    )
  }
  with_study_labels(indices, data)
}

index_names <- c(
  "si", "bgd", "gasi", "mutual_information_bits", "bgd_divergence_bits", "gasi_divergence_bits"
)

# What `measure` gives of the rows of each cell, one below the other, with the columns `by`; rounds without a choice are
# left out.
over_cells_of_games <- function(data, by, measure) {
  data <- data[!is.na(data$choice), , drop = FALSE]
  if (nrow(data) == 0) stop_with("Can't measure games: no round has a choice.")
  as_plain_rows(do.call(rbind, lapply(unname(group_rows(data, by)), function(of_cell) {
    rows <- data[of_cell, , drop = FALSE]
    with_keys(rows[1, by, drop = FALSE], measure(rows))
  })))
}

# A function that gives each cell the level of chance; cells that are alike have it simulated once.
random_levels <- function(n_random, seed) {
  known <- list()
  function(cell) {
    if (n_random == 0) {
      return(data.frame(random_level = NA_real_, random_low = NA_real_, random_high = NA_real_))
    }
    key <- paste(unlist(cell), collapse = " ")
    if (is.null(known[[key]])) {
      known[[key]] <<- do.call(random_level, c(cell, n_cells = n_random, seed = seed))
    }
    stats::setNames(known[[key]][c("level", "level_low", "level_high")], c("random_level", "random_low", "random_high"))
  }
}

# What random_level() must know of a cell.
cell_of_chance <- function(rows, counts, n_classes = NULL, n_groups = NULL, class_sizes = NULL) {
  n_classes <- if (is.null(n_classes)) dim(counts)[[3]] else n_classes
  sizes <- if (is.null(class_sizes)) jobs_in_classes(rows, n_classes) else sort(class_sizes)
  n_rounds <- round(stats::median(rowSums(counts)))
  n_of_jobs <- if (!is.null(rows$job)) table(rows$game, paste(rows$class, rows$job, sep = "\r")) # in each game
  are_jobs_alike <- length(unique(as.vector(n_of_jobs))) == 1
  list(
    n_rounds = n_rounds, n_groups = if (is.null(n_groups)) dim(counts)[[2]] else n_groups, class_sizes = sizes,
    balanced = n_rounds %% sum(sizes) == 0 && are_jobs_alike, n_games = dim(counts)[[1]]
  )
}

# Counted where the column `job` is there; a class that never came is as large as the largest.
jobs_in_classes <- function(rows, n_classes) {
  if (is.null(rows$job)) {
    return(rep(1, n_classes))
  }
  jobs <- unique(data.frame(class = as.character(rows$class), job = as.character(rows$job)))
  n_jobs <- sort(as.vector(table(jobs$class)))
  c(n_jobs, rep(max(n_jobs), max(0, n_classes - length(n_jobs))))
}

# Of fewer games a bootstrap interval is far too narrow; GASI's of two games has no width at all.
least_games_drawn <- 5

boot_limits <- function(measured, n_draws, seed) {
  if (n_draws == 0) {
    return(matrix(NA_real_, 2, length(index_names)))
  }
  n <- nrow(measured$games)
  drawn <- with_seed(seed, measured_draws(
    n_draws, n, function() tabulate(sample.int(n, n, TRUE), n), function(weights) weighted_indices(measured, weights)
  ))
  apply(drawn, 2, stats::quantile, probs = c(.025, .975), na.rm = TRUE, names = FALSE)
}

#' How stratified are games of which only the allocation matrices are known?
#'
#' [game_indices()] for games without their rounds: how often each group was chosen for each class of jobs is all that
#' SI, BGD and mutual information need. The paper prints such matrices, and the view `allocation_matrices` has them. In
#' print, groups and classes are put in another order in every run ("rank-ordered"): SI and BGD don't care, but GASI
#' asks whether a group's jobs are the same in all games, and means nothing then.
#'
#' @param data a data frame with one row per game, group and class: the columns `game`, `group`, `class` and `n`, how
#'   often that group was chosen for that class. Cells of 0 may be missing.
#' @inheritParams game_indices
#' @return As [game_indices()], without a random level: a matrix does not say how many jobs its classes have.
#' @source Wu, Liu, Bai & Griffiths, appendix D; the matrices are those of a later version of the paper.
#' @noRd
matrix_indices <- function(data, by = NULL, n_draws = 2000, seed = 20260101) {
  check_columns(data, c(by, "game", "group", "class", "n"), to = "measure matrices")
  if (!is.numeric(data$n) || anyNA(data$n) || any(data$n < 0 | data$n != round(data$n))) {
    stop_with("Can't measure matrices: `n` must count, in whole numbers from 0.")
  }
  rounds <- data[rep(seq_len(nrow(data)), data$n), c(by, "game", "class"), drop = FALSE]
  rounds$choice <- rep(data$group, data$n)
  n_classes <- length(unique(data$class))
  indices <- game_indices(rounds, by = by, n_classes = n_classes, n_draws = n_draws, n_random = 0, seed = seed)
  indices[!startsWith(names(indices), "random_")]
}

#' What the indices of games measure, shown on games whose structure is known
#'
#' [simulate_structured_games()], measured: SI, BGD and GASI, each over the controlled experiment that it is about,
#' against the structure `p`. SI and BGD rise with it, GASI falls.
#'
#' @inheritParams simulate_structured_games
#' @param n_draws number of bootstrap draws over games, 0 for none.
#' @return A data frame with one row per experiment and value of `p`: `source`, `experiment`, `index` (the same), `p`,
#'   `n_games`, `estimate`, `sd`, `conf_low`, `conf_high` (t over games; none of GASI), `boot_low`, `boot_high`.
#' @source Wu, Liu, Bai & Griffiths, figures 9, 10 and 11, which have no printed numbers.
#' @export
#' @examples
#' controlled_indices(p = c(0, .5, 1), n_games = 5, n_draws = 0)[c("index", "p", "estimate")]
controlled_indices <- function(p = seq(0, 1, .1), experiments = c("si", "bgd", "gasi"), n_games = 30, n_rounds = 40,
                               n_groups = 4, class_sizes = c(5, 5, 5, 5), reassigned = .05, n_draws = 200,
                               seed = 20260101) {
  check_arguments()
  games <- simulate_structured_games(p, experiments, n_games, n_rounds, n_groups, class_sizes, reassigned, seed)
  indices <- game_indices(
    games,
    by = c("source", "experiment", "p"), n_classes = length(class_sizes), n_draws = n_draws, n_random = 0, seed = seed
  )
  indices <- indices[indices$index == indices$experiment, ]
  indices <- as_plain_rows(indices[order(match(indices$experiment, experiments), indices$p), ])
  indices[c(
    "source", "experiment", "index", "p", "n_games", "estimate", "sd", "conf_low", "conf_high", "boot_low", "boot_high"
  )]
}
