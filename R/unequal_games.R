#' How often p is small for games that vary unequally
#'
#' Simulates pairs of conditions with the same value of an index, one of which is played in games that are very unlike
#' each other (each at random or leaning), the other in games that are alike, and counts how often the two tests of
#' [compare_games()] give p ≤ .05, which they should in 5 %.
#'
#' @param n_data_sets number of simulated pairs of conditions.
#' @param n_games number of games of the varied condition, and of the other.
#' @param index one that is a mean over games (`"si"`, `"bgd"`), which is the same in both, to the precision of
#' `n_calibration` games.
#' @param n_draws permutations of each test.
#' @param seed a whole number.
#' @return A data frame with one row: `studentised` and `unstudentised` (shares of p ≤ .05), and their Monte Carlo
#'   errors `studentised_error` and `unstudentised_error`.
#' @noRd
unequal_games_p <- function(n_data_sets, n_games = c(10, 30), index = "si", n_draws = 199, seed = 1,
                            n_calibration = 4000) {
  varied <- c(0, .95)
  index_of <- function(leaning) {
    games <- with_seed(seed, measured_games(leaning_counts(rep_len(leaning, n_calibration)), 4))
    weighted_indices(games, equal_weights(n_calibration))[, index]
  }
  target <- index_of(varied)
  alike <- stats::uniroot(function(leaning) index_of(leaning) - target, varied, tol = .001)$root
  p <- with_seed(seed, vapply(seq_len(n_data_sets), function(number) {
    leaning <- c(sample(varied, n_games[[1]], TRUE), rep(alike, n_games[[2]]))
    measured <- measured_games(leaning_counts(leaning), 4)
    tested <- tested_difference(measured, rep(c(TRUE, FALSE), n_games), index, n_draws, seed + number)
    c(tested$p_value, tested$p_unstudentised)
  }, numeric(2)))
  shares <- rowMeans(p < .05 + 1e-9)
  errors <- sqrt(shares * (1 - shares) / n_data_sets)
  data.frame(
    studentised = shares[[1]], studentised_error = errors[[1]], unstudentised = shares[[2]],
    unstudentised_error = errors[[2]]
  )
}

# Counts by game, group and class of games of four groups and classes: in a round, with the probability of
# `leaning` (one for each game), a class goes to its own group, else to any.
leaning_counts <- function(leaning, n_rounds = 40) {
  n <- length(leaning)
  at_random <- function() matrix(sample.int(4, n * n_rounds, TRUE), n)
  class <- at_random()
  group <- ifelse(matrix(stats::runif(n * n_rounds), n) < leaning, class, at_random())
  array(tabulate(row(class) + n * (group - 1) + 4 * n * (class - 1), 16 * n), c(n, 4, 4))
}
