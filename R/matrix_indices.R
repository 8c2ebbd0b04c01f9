#' How stratified are games of which only the allocation matrices are known?
#'
#' [game_indices()] for games without their rounds: how often each group was chosen for each class of jobs is all that
#' SI, BGD and mutual information need. The paper prints such matrices, and the view `allocation_matrices` has them. In
#' print, groups and classes are put in another order in every run ("rank-ordered"): SI and BGD don't care, but GASI
#' asks whether a group's jobs are the same in all games, and means nothing then.
#'
#' @param counts a data frame with one row per game, group and class: the columns `game`, `group`, `class` and `n`, how
#'   often that group was chosen for that class. Cells of 0 may be missing.
#' @inheritParams game_indices
#' @return As [game_indices()], without a random level: a matrix does not say how many jobs its classes have.
#' @source Wu, Liu, Bai & Griffiths, appendix D; the matrices are those of a later version of the paper.
#' @export
#' @examples
#' counts <- data.frame(
#'   game = rep(1:3, each = 4), group = rep(c("A", "B"), 6), class = rep(c("high", "high", "low", "low"), 3),
#'   n = c(9, 1, 2, 8, 10, 0, 0, 10, 5, 5, 6, 4)
#' )
#' matrix_indices(counts, n_boot = 100)[c("index", "estimate", "conf_low", "conf_high")]
matrix_indices <- function(counts, by = NULL, n_boot = 2000, seed = 20260101) {
  check_columns(counts, c(by, "game", "group", "class", "n"), to = "measure matrices")
  if (!is.numeric(counts$n) || anyNA(counts$n) || any(counts$n < 0 | counts$n != round(counts$n))) {
    stop_with("Can't measure matrices: `n` must count, in whole numbers from 0.")
  }
  rounds <- counts[rep(seq_len(nrow(counts)), counts$n), c(by, "game", "class"), drop = FALSE]
  rounds$choice <- rep(counts$group, counts$n)
  n_classes <- length(unique(counts$class))
  found <- game_indices(rounds, by = by, n_classes = n_classes, n_boot = n_boot, n_random = 0, seed = seed)
  found[!startsWith(names(found), "random_")]
}
