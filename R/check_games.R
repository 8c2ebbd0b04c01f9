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
#'   `index`; `left_out`; `n_games`; `estimate_all`, of all games; `estimate`, without it; `change`, the one minus the
#'   other; `cooks_distance`, the squared change in squared standard errors of the jackknife; `is_influential` (above
#'   4 / number of games, the usual mark); `random_high_all` and `random_high`, below which 97.5 % of cells of as many
#'   random games lie, with and without the game; `changes_conclusion` (above that in only one of the two); `status`,
#'   `messages`. A group of fewer than three games has no other, and is one row that says so.
#' @references Efron, B. & Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics, 9, 586-596.
#'   Cook, R. D. (1977). Detection of influential observation in linear regression. Technometrics, 19, 15-18.
#' @noRd
check_game_influence <- function(data, by = NULL, n_random = 200, seed = 20260101) {
  check_arguments()
  check_columns(data, c("game", "class", "choice"), to = "check the influence of games")
  empty <- columns_of(
    "index:text left_out:text n_games:whole estimate_all estimate change cooks_distance is_influential:flag",
    "random_high_all random_high changes_conclusion:flag"
  )
  random <- random_levels(n_random, seed)
  check_each_group(data, by, c("game", "class", "choice"), empty, function(rows) {
    counts <- game_counts(rows)
    n <- dim(counts)[[1]]
    if (n < 3) {
      stop_with(sprintf("None of %s can be left out: three are needed.", counted(n, "complete game")))
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
  })
}

#' Were games cut short, and does it matter?
#'
#' A game ends early if its model refuses, names no group or fails in another way. Indices are of games that were
#' played to their end; these are next to those of all games. Shorter games stratify more by chance alone, so that a
#' difference is a reason to look, and no estimate of a bias.
#'
#' @param data a data frame with one row per round: `game`, `class`, `choice` (NA if the game ended), `is_complete`
#'   (of its game), `ended_as` (the outcome that ended its game early, else NA).
#' @param by names of the columns that define the groups.
#' @return A data frame with one row per group and index (`si`, `bgd`, `gasi`; see [game_indices()]): `index`;
#'   `n_games`, `n_complete`, `n_open` (can still be played on), `n_refused`, `n_malformed`, `n_ended_otherwise`;
#'   `last_round`, the median number of rounds of those that ended early (NA if none did); `estimate`, of complete
#'   games, and `estimate_all`, of all that have a choice; `status`, `messages`.
#' @noRd
check_games_ended <- function(data, by = NULL) {
  check_columns(data, c("game", "class", "choice", "is_complete", "ended_as"), to = "check how games ended")
  empty <- columns_of(
    "index:text n_games:whole n_complete:whole n_open:whole n_refused:whole n_malformed:whole",
    "n_ended_otherwise:whole last_round estimate estimate_all"
  )
  check_each_group(data, by, c("game", "is_complete"), empty, function(rows) {
    games <- rows[!duplicated(rows$game), , drop = FALSE]
    ended <- games$ended_as[!games$is_complete]
    n_asked <- table(rows$game)[as.character(games$game)]
    is_ended <- !games$is_complete & !is.na(games$ended_as)
    data.frame(
      index = indices_to_check, n_games = nrow(games), n_complete = sum(games$is_complete), n_open = sum(is.na(ended)),
      n_refused = sum(ended %in% "refused"), n_malformed = sum(ended %in% "malformed"),
      n_ended_otherwise = sum(!is.na(ended) & !ended %in% c("refused", "malformed")),
      last_round = if (any(is_ended)) as.double(stats::median(n_asked[is_ended])) else NA_real_,
      estimate = indices_of(rows[rows$is_complete, , drop = FALSE]), estimate_all = indices_of(rows)
    )
  })
}

indices_to_check <- c("si", "bgd", "gasi")

# The indices of all these rounds; NA of none.
indices_of <- function(rows) {
  rows <- rows[!is.na(rows$choice), , drop = FALSE]
  if (nrow(rows) == 0) {
    return(rep(NA_real_, length(indices_to_check)))
  }
  measured <- measured_games(game_counts(rows))
  unname(weighted_indices(measured, equal_weights(nrow(measured$games)))[1, indices_to_check])
}
