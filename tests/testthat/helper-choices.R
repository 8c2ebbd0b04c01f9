# Games as game_rounds() makes them, empty: `chances` are those of success of the groups, alike in all classes.
empty_games <- function(n_games, n_rounds, chances = c(.3, .5, .9, .1), n_classes = 1) {
  at <- function(values) matrix(values, n_games, n_rounds)
  list(
    choice = at(0), class = at(rep(rep_len(seq_len(n_classes), n_rounds), each = n_games)), reward = at(0),
    shown = NULL, origin = seq_len(n_games),
    p = aperm(array(chances, c(length(chances), n_games, n_rounds)), c(2, 3, 1)),
    games = as.character(seq_len(n_games)), groups = letters[seq_along(chances)], classes = LETTERS[seq_len(n_classes)]
  )
}

played_games <- function(policy, parameters, n_games = 30, n_rounds = 40, seed = 1, ...) {
  withr::with_seed(seed, replayed_rounds(empty_games(n_games, n_rounds, ...), policy, parameters))
}

learner_games <- function(...) {
  of <- list(rate_up = .3, rate_down = .3, sharpness = 6, perseveration = .5, lapse = .05)
  played_games(list(weights = learner_shares), of, ...)
}

# The rows that they would be in the view allocation_candidates.
candidate_table <- function(rounds) {
  places <- expand.grid(
    group = seq_along(rounds$groups), round = seq_len(ncol(rounds$choice)), game = seq_along(rounds$games)
  )
  at <- cbind(places$game, places$round)
  data.frame(
    game = rounds$games[places$game], round = places$round, class = rounds$classes[rounds$class[at]],
    group = rounds$groups[places$group], is_chosen = rounds$choice[at] == places$group,
    is_success = ifelse(rounds$choice[at] == 0, NA, rounds$reward[at] == 1),
    p_success = rounds$p[cbind(at, places$group)], shown_at = places$group
  )
}

# The choices of people, next to the checkout: `rewards` "identical" or "different".
people_rounds <- function(rewards) {
  rows <- utils::read.csv(file.path(shared_data("allocation_people"), "choices.csv"))
  rows <- rows[rows$rewards == rewards, ]
  p <- if (rewards == "identical") rep(.9, 4) else c(.3, .5, .9, .1)
  each <- rows[rep(seq_len(nrow(rows)), each = 4), ]
  group <- rep(1:4, nrow(rows))
  data.frame(
    game = each$person, round = each$round, class = "all", group = group, is_chosen = each$choice == group,
    is_success = each$reward == 1, p_success = p[group]
  )
}
