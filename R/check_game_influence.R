#' Does one game decide a result?
#'
#' The indices of a cell of games without each game in turn, next to those of all, and to what chance alone gives to
#' as many games (`random_level()`).
#'
#' @inheritParams game_indices
#' @param data a data frame with one row per round of complete games: `game`, `class`, `choice`. Used if present:
#'   `job`, and `n_groups`, how many groups there were to choose from.
#' @param by names of the columns that define the groups.
#' @return A data frame with one row per group, index (`si`, `bgd`, `gasi`; see [game_indices()]) and game left out:
#'   `index`; `left_out`; `n_games`; `estimate_all`, of all games; `estimate`, without it; `change`, the one less the
#'   other; `cooks_distance`, the squared change in squared standard errors of the jackknife; `is_influential` (above
#'   4 / number of games, the usual mark); `random_high_all` and `random_high`, below which 97.5 % of cells of as many
#'   random games lie, with and without the game; `changes_conclusion` (above that in only one of the two); `status`,
#'   `messages`. A group of fewer than three games has no other, and is one row that says so.
#' @references Efron, B. & Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics, 9, 586-596.
#'   Cook, R. D. (1977). Detection of influential observation in linear regression. Technometrics, 19, 15-18.
#' @noRd
check_game_influence <- function(data, by = NULL, n_random = 200, seed = 20260101) {
  check_columns(data, c("game", "class", "choice"), to = "check the influence of games")
  check_resampling(n_random, seed, to = "check the influence of games")
  empty <- data.frame(
    index = character(), left_out = character(), n_games = integer(), estimate_all = double(), estimate = double(),
    change = double(), cooks_distance = double(), is_influential = logical(), random_high_all = double(),
    random_high = double(), changes_conclusion = logical()
  )
  random <- random_levels(n_random, seed)
  check_each_group(data, by, c("game", "class", "choice"), empty, function(rows) {
    without_each_game(rows, random)
  })
}

without_each_game <- function(rows, random) {
  counts <- game_counts(rows)
  n <- dim(counts)[[1]]
  if (n < 3) {
    stop_with(sprintf("Of %s none can be left out: there must be three.", counted(n, "complete game")))
  }
  n_groups <- if (is.null(rows$n_groups)) NULL else max(rows$n_groups)
  cell <- cell_of_chance(rows, counts, n_groups = n_groups)
  high <- function(n_games) {
    cell$n_games <- n_games
    random(cell)$random_high[match(indices_to_check, index_names)]
  }
  measured <- measured_games(counts)
  of_all <- weighted_indices(measured, equal_weights(n))[1, indices_to_check]
  without <- weighted_indices(measured, 1 - diag(n))[, indices_to_check, drop = FALSE]
  high_all <- high(n)
  high_without <- high(n - 1)
  do.call(rbind, lapply(seq_along(indices_to_check), function(i) {
    change <- without[, i] - of_all[[i]]
    variance <- (n - 1) / n * sum((without[, i] - mean(without[, i]))^2)
    cooks_distance <- if (is.na(variance) || variance < 1e-20) rep(NA_real_, n) else change^2 / variance
    data.frame(
      index = indices_to_check[[i]], left_out = dimnames(counts)[[1]], n_games = n, estimate_all = of_all[[i]],
      estimate = without[, i], change = change, cooks_distance = cooks_distance,
      is_influential = cooks_distance > 4 / n, random_high_all = high_all[[i]], random_high = high_without[[i]],
      changes_conclusion = (of_all[[i]] > high_all[[i]]) != (without[, i] > high_without[[i]])
    )
  }))
}
