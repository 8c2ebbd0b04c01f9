#' Rank-ordered allocation matrices of games
#'
#' In each game of its own, groups and classes are put in an order in which the largest cell of the allocation matrix
#' comes first on the diagonal, then the largest one among the groups and classes that are left, and so on. The nearer
#' a matrix is to its diagonal, the more stratified the game. The place of a group and class differs between games:
#' SI and BGD don't depend on that, but GASI can't be had from such matrices.
#'
#' The order looks for the diagonal, so random choices have one as well: compare with theirs, not with equal shares.
#' Of cells that are equally large, the one whose group, then class, comes first in the alphabet is taken.
#'
#' @param data a data frame with one row per round, as for [game_indices()] (`game`, `class`, `choice`), or with one
#'   row per game, group and class and their number in `n` (the view `allocation_matrices`, whose `group` is taken for
#'   `choice`). Every group and class of a cell has its place in all games of the cell, hired or not.
#' @param by names of the columns that define the cells.
#' @return A data frame with one row per game and place in the matrix: `by`, `game`, `group_rank`, `class_rank`,
#'   `choice`, `class`, `n` (rounds), `share` (of this group's rounds in the game, `NA` if it was never chosen).
#' @source Wu, Liu, Bai & Griffiths, appendix D; how matrices are ordered, and what comes of ties, is ours, and leaves
#'   printed matrices as they are.
#' @export
#' @examples
#' games <- simulate_structured_games(p = .8, experiments = "bgd", n_games = 2)
#' ranked <- rank_ordered(games)
#' stats::xtabs(n ~ group_rank + class_rank + game, ranked)
rank_ordered <- function(data, by = NULL) {
  check_arguments()
  if (is.data.frame(data) && !"choice" %in% names(data) && all(c("group", "n") %in% names(data))) {
    data$choice <- data$group
  }
  check_columns(data, c(by, "game", "class", "choice"), to = "order games")
  if (!"n" %in% names(data)) data$n <- rep(1L, nrow(data))
  over_cells_of_games(data, by, function(rows) {
    counts <- tapply(rows$n, lapply(rows[c("game", "choice", "class")], sorted_factor), sum)
    counts[is.na(counts)] <- 0
    games <- dimnames(counts)[[1]]
    ordered <- lapply(seq_along(games), function(k) {
      rank_ordered_matrix(matrix(counts[k, , ], dim(counts)[[2]], dimnames = dimnames(counts)[-1]))
    })
    n_places <- vapply(ordered, nrow, 1L)
    key <- rows$game[match(games, as.character(rows$game))]
    cbind(game = rep(key, n_places), do.call(rbind, ordered))
  })
}

# One matrix (groups by classes), its largest remaining cell next on the diagonal.
rank_ordered_matrix <- function(counts) {
  left <- counts
  groups <- classes <- integer()
  for (place in seq_len(min(dim(counts)))) {
    # the largest cell; the first group of several, and its first class
    largest <- which(left == max(left), arr.ind = TRUE)
    largest <- largest[order(largest[, 1], largest[, 2])[[1]], ]
    groups <- c(groups, largest[[1]])
    classes <- c(classes, largest[[2]])
    left[largest[[1]], ] <- -1
    left[, largest[[2]]] <- -1
  }
  # where there are more of the ones than of the others: the most frequent first
  groups <- c(groups, setdiff(order(-rowSums(counts)), groups))
  classes <- c(classes, setdiff(order(-colSums(counts)), classes))
  ordered <- counts[groups, classes, drop = FALSE]
  places <- expand.grid(group_rank = seq_along(groups), class_rank = seq_along(classes))
  n <- as.vector(ordered)
  of_group <- rowSums(ordered)[places$group_rank]
  data.frame(
    places, choice = rownames(counts)[groups][places$group_rank], class = colnames(counts)[classes][places$class_rank],
    n = n, share = ifelse(of_group > 0, n / of_group, NA_real_), row.names = NULL
  )
}
