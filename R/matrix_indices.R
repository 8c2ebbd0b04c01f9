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
