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
  empty <- data.frame(
    index = character(), n_games = integer(), n_complete = integer(), n_open = integer(), n_refused = integer(),
    n_malformed = integer(), n_ended_otherwise = integer(), last_round = double(), estimate = double(),
    estimate_all = double()
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
