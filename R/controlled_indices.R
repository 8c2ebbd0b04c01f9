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
