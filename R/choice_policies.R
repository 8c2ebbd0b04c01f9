# Ways to choose among groups after what was seen of them, each as a probability of every group in every round. All run
# through the same frame: games are rows, so that a round of all games is a few operations on matrices.

# By name: `start` of its parameters, on the scale on which they are searched for, and
# `weights(seen, parameters)`: a matrix of probabilities, a row a round of a game and a column a group. `played`
# is a quicker way to play, whose shares depend on chance, with the same probabilities. `sees`: which of the matrices
# below both need (all of them, if it is absent): the others take time.
#
# What `seen` holds of the class of a round, before the choice: matrices `tries`, `wins`, `values` (of the delta
# rule) and `is_last` by round and group, `last` (the number of the group that was chosen last, 0 for none) and
# `has_won` by round, and `size`, the numbers of rows and columns.
choice_policies <- function() {
  lapse <- list(lapse = -2)
  counts <- c("tries", "wins")
  list(
    random = list(start = list(), sees = character(), weights = function(seen, of) even_shares(seen$size)),
    greedy = list(
      start = lapse, sees = counts,
      weights = function(seen, of) with_lapse(best_shares(posterior_means(seen)), of$lapse)
    ),
    win_stay_lose_shift = list(
      start = list(stay_after_win = 1, stay_after_loss = -1), sees = c("last", "has_won"), weights = stay_or_shift
    ),
    thompson = list(
      start = lapse, sees = counts, weights = function(seen, of) with_lapse(chances_to_be_best(seen), of$lapse),
      played = function(seen, of) with_lapse(drawn_best(seen), of$lapse)
    ),
    ucb = list(
      start = lapse, sees = counts, weights = function(seen, of) with_lapse(best_shares(upper_bounds(seen)), of$lapse)
    ),
    learner = learner_with(),
    learner_perseveration = learner_with("perseveration"),
    learner_lapse = learner_with("perseveration", "lapse"),
    learner_bonus = learner_with("perseveration", "lapse", "bonus"),
    learner_two_rates = learner_with("perseveration", "lapse", "rate_difference")
  )
}

learner_with <- function(...) {
  sees <- c(perseveration = "last", bonus = "tries")[intersect(c(...), c("perseveration", "bonus"))]
  list(start = learning_start[c("rate", "sharpness", ...)], sees = unname(sees), weights = learner_shares)
}

learning_start <- list(
  rate = -.5, sharpness = 1.5, perseveration = 0, lapse = -3, bonus = 0, rate_difference = 0
)

# From the scale of the search to that of the report. `rate` and `rate_difference` make `rate_up` and `rate_down`:
# logit(rate) = rate ± difference / 2.
reported_parameters <- function(searched) {
  of <- as.list(searched)
  share <- c("lapse", "stay_after_win", "stay_after_loss", "generalisation")
  as_they_are <- of[intersect(names(of), c("perseveration", "bonus"))]
  found <- c(lapply(of[intersect(names(of), share)], stats::plogis), as_they_are)
  if (!is.null(of$sharpness)) found$sharpness <- exp(of$sharpness)
  if (!is.null(of$rate)) {
    half <- if (is.null(of$rate_difference)) 0 else of$rate_difference / 2
    found$rate_up <- stats::plogis(of$rate + half)
    found$rate_down <- stats::plogis(of$rate - half)
  }
  found
}

# The logarithm of the probability of each choice: a matrix by game and round, 0 where there was none. `parameters` as
# reported, one number each or one a game; `past`, of past_of(), where it is known already. Only values go from round
# to round; shares are those of all rounds at once, of as many games as fit into memory.
choice_log_lik <- function(rounds, policy, parameters, past = NULL, most = 2e5) {
  n <- sizes_of(rounds)
  at_once <- max(1, most %/% ncol(rounds$choice))
  if (is.null(past) && n[["games"]] > at_once) {
    blocks <- split(seq_len(n[["games"]]), (seq_len(n[["games"]]) - 1) %/% at_once)
    parts <- lapply(blocks, function(games) {
      choice_log_lik(chosen_games(rounds, games), policy, lapply(parameters, value_of_games, games), most = most)
    })
    return(do.call(rbind, unname(parts)))
  }
  if (is.null(past)) past <- past_of(rounds, policy$sees)
  seen <- past$seen
  if (!is.null(parameters$rate_up)) seen$values <- learned_values(past, parameters, n)
  of_choices <- parameters[setdiff(names(parameters), c("first_values", "rate_up", "rate_down"))]
  shares <- policy$weights(seen, lapply(of_choices, value_of_games, past$game))
  log_lik <- matrix(0, n[["games"]], ncol(rounds$choice))
  log_lik[past$cell] <- log(shares[past$chosen])
  log_lik
}

# The same games played by the policy: `rounds` with the choices and rewards of chance. Rewards are drawn with the true
# chances of success; where a group would have succeeded is not asked, for the rounds that are replayed differ.
replayed_rounds <- function(rounds, policy, parameters) {
  if (!can_be_replayed(rounds)) {
    stop_with("Can't replay these games: their chances of success (`p_success`) are not known.")
  }
  n <- sizes_of(rounds)
  state <- first_state(n)
  values <- first_values(n, parameters)
  shares_of <- if (is.null(policy$played)) policy$weights else policy$played
  for (round in seq_len(ncol(rounds$choice))) {
    seen <- seen_in_round(state, rounds, round, n, policy$sees)
    seen$values <- matrix(values[seen$places], n[["games"]])
    played <- played_round(shares_of(seen, parameters), rounds, round)
    rounds$choice[, round] <- played$choice
    rounds$reward[, round] <- played$reward
    seen <- chosen_in_round(seen, rounds, round)
    state <- next_state(state, seen, policy$sees)
    if (!is.null(parameters$rate_up)) values <- next_values(values, seen, parameters, n)
  }
  rounds
}

sizes_of <- function(rounds) {
  c(games = nrow(rounds$choice), groups = length(rounds$groups), classes = length(rounds$classes))
}

# What is seen before each choice of games as they were played: it depends on no parameter of a policy. `seen`, as
# choice_policies() take it, has a row a choice, round after round; `game` and `cell` (in a matrix by game and round)
# say whose, `chosen` what was chosen, in a matrix by row and group. `by_round`: what values go by.
past_of <- function(rounds, sees = seen_parts) {
  if (is.null(sees)) sees <- seen_parts
  n <- sizes_of(rounds)
  state <- first_state(n)
  by_round <- lapply(seq_len(ncol(rounds$choice)), function(round) {
    seen <- seen_in_round(state, rounds, round, n, sees)
    state <<- next_state(state, seen, sees)
    seen
  })
  cell <- which(rounds$choice > 0)
  game <- (cell - 1) %% n[["games"]] + 1
  of_choices <- function(name) {
    parts <- lapply(by_round, function(seen) {
      if (is.matrix(seen[[name]])) seen[[name]][seen$games, , drop = FALSE] else seen[[name]][seen$games]
    })
    do.call(if (is.matrix(parts[[1]])) rbind else c, parts)
  }
  named <- intersect(c("tries", "wins", "last", "is_last", "has_won"), names(by_round[[1]]))
  seen <- lapply(stats::setNames(named, named), of_choices)
  seen$size <- c(length(cell), n[["groups"]])
  list(
    seen = seen, game = game, cell = cell, chosen = seq_along(cell) + length(cell) * (rounds$choice[cell] - 1),
    by_round = places_by_round(by_round, n)
  )
}

# What values go by in each round: the choices, and `places`, where those of their groups are, and `rows`, where they go
# in a matrix by choice and group.
places_by_round <- function(by_round, n) {
  n_choices <- lengths(lapply(by_round, `[[`, "games"))
  before <- cumsum(n_choices) - n_choices
  of_groups <- function(first, step) group_places(first, step, n[["groups"]])
  Map(function(seen, before) {
    list(
      games = seen$games, choice = seen$choice, reward = seen$reward, place = as.integer(seen$place),
      places = of_groups(seen$places[seen$games], n[["games"]]),
      rows = of_groups(before + seq_along(seen$games), sum(n_choices))
    )
  }, by_round, before)
}

# Of groups in columns that are `step` numbers long, from the places of the first.
group_places <- function(first, step, n_groups) {
  rep(first, n_groups) + rep(as.integer(step * (seq_len(n_groups) - 1)), each = length(first))
}

# The values of the delta rule before each choice, a row a choice.
learned_values <- function(past, parameters, n) {
  values <- first_values(n, parameters)
  before <- matrix(0, length(past$cell), n[["groups"]])
  for (seen in past$by_round) {
    before[seen$rows] <- values[seen$places]
    values <- next_values(values, seen, parameters, n)
  }
  before
}

# No number is drawn in a round that no game has.
played_round <- function(shares, rounds, round) {
  is_on <- rounds$class[, round] > 0
  if (!any(is_on)) {
    return(list(choice = double(length(is_on)), reward = double(length(is_on))))
  }
  group <- drawn_groups(shares)
  size <- dim(rounds$p)
  p <- rounds$p[rounds$origin + size[[1]] * (round - 1 + size[[2]] * (group - 1))]
  is_success <- as.numeric(stats::runif(length(p)) < p)
  list(choice = replace(group, !is_on, 0), reward = replace(is_success, !is_on, 0))
}

# Matrices by game and by group within class: the columns of class 1 first. `last` and `has_won`: by game and class.
first_state <- function(n) {
  empty <- matrix(0, n[["games"]], n[["groups"]] * n[["classes"]])
  by_class <- matrix(0, n[["games"]], n[["classes"]])
  list(tries = empty, wins = empty, last = by_class, has_won = by_class)
}

first_values <- function(n, parameters) {
  matrix(0, n[["games"]], n[["groups"]] * n[["classes"]]) +
    (if (is.null(parameters$first_values)) .5 else parameters$first_values)
}

seen_parts <- c("tries", "wins", "last", "has_won")

# What choice_policies() take, of the class of this round; `places`, where its groups are in the state, group after
# group; `of_class`, where its class is, a number a game; and what chosen_in_round() adds. Places are numbers in a
# matrix, column after column.
seen_in_round <- function(state, rounds, round, n, sees = seen_parts) {
  if (is.null(sees)) sees <- seen_parts
  n_games <- n[["games"]]
  n_groups <- n[["groups"]]
  class <- pmax(rounds$class[, round], 1)
  first <- as.integer(seq_len(n_games) + n_games * n_groups * (class - 1))
  seen <- list(
    places = group_places(first, n_games, n_groups),
    of_class = seq_len(n_games) + n_games * (class - 1), size = c(n_games, n_groups)
  )
  for (name in intersect(c("tries", "wins"), sees)) seen[[name]] <- matrix(state[[name]][seen$places], n_games)
  if ("last" %in% sees) {
    seen$last <- state$last[seen$of_class]
    seen$is_last <- matrix(rep(seen$last, n_groups) == rep(seq_len(n_groups), each = n_games), n_games)
  }
  if ("has_won" %in% sees) seen$has_won <- state$has_won[seen$of_class]
  chosen_in_round(seen, rounds, round)
}

# `games`, the numbers of those with a choice in this round, and of each of them `choice`, `reward` and `place` (where
# in the state).
chosen_in_round <- function(seen, rounds, round) {
  games <- which(rounds$choice[, round] > 0)
  choice <- rounds$choice[games, round]
  place <- seen$places[games] + seen$size[[1]] * (choice - 1)
  seen[c("games", "choice", "reward", "place")] <- list(games, choice, rounds$reward[games, round], place)
  seen
}

next_state <- function(state, seen, sees = seen_parts) {
  if (is.null(sees)) sees <- seen_parts
  class <- seen$of_class[seen$games]
  if ("tries" %in% sees) state$tries[seen$place] <- state$tries[seen$place] + 1
  if ("wins" %in% sees) state$wins[seen$place] <- state$wins[seen$place] + seen$reward
  if ("last" %in% sees) state$last[class] <- seen$choice
  if ("has_won" %in% sees) state$has_won[class] <- seen$reward
  state
}

# The values of the delta rule after a round.
next_values <- function(values, seen, parameters, n) {
  rate_up <- value_of_games(parameters$rate_up, seen$games)
  rate_down <- value_of_games(parameters$rate_down, seen$games)
  learned <- function(place, share) {
    error <- seen$reward - values[place]
    values[place] + share * (rate_down + (rate_up - rate_down) * (error > 0)) * error
  }
  own <- learned(seen$place, 1)
  if (!is.null(parameters$generalisation) && n[["classes"]] > 1) {
    share <- value_of_games(parameters$generalisation, seen$games)
    for (class in seq_len(n[["classes"]])) { # its own class, too, which is set below
      other <- seen$games + n[["games"]] * ((class - 1) * n[["groups"]] + seen$choice - 1)
      values[other] <- learned(other, share)
    }
  }
  values[seen$place] <- own
  values
}

# Of these games: one number for all of them, one a game, or a row a game.
value_of_games <- function(values, games) {
  if (is.matrix(values)) values[games, , drop = FALSE] else if (length(values) == 1) values else values[games]
}

# A group of each row, by its probabilities.
drawn_groups <- function(shares) {
  u <- stats::runif(nrow(shares))
  reached <- rep(0, nrow(shares))
  group <- rep(1, nrow(shares))
  for (k in seq_len(ncol(shares) - 1)) {
    reached <- reached + shares[, k]
    group <- group + (u >= reached)
  }
  group
}

even_shares <- function(size) matrix(1 / size[[2]], size[[1]], size[[2]])

with_lapse <- function(shares, lapse) (1 - lapse) * shares + lapse / ncol(shares)

# Those with the highest value share the choice.
best_shares <- function(values) {
  is_best <- values >= row_maxima(values) - 1e-12
  is_best / rowSums(is_best)
}

row_maxima <- function(values) {
  highest <- values[, 1]
  for (column in seq_len(ncol(values))[-1]) highest <- pmax(highest, values[, column])
  highest
}

posterior_means <- function(seen) (seen$wins + 1) / (seen$tries + 2)

# As the participant `ucb` has it: the mean and sqrt(2 log t / n); groups that were never tried come first.
upper_bounds <- function(seen) {
  tries <- pmax(seen$tries, 1)
  bounds <- seen$wins / tries + sqrt(2 * log(pmax(rowSums(seen$tries), 1)) / tries)
  replace(bounds, seen$tries == 0, Inf)
}

# The chance that each group is the best one, under Beta(1 + successes, 1 + failures), by a grid.
chances_to_be_best <- function(seen) {
  n <- length(seen$tries)
  a <- rep(1 + seen$wins, length(beta_grid))
  b <- rep(1 + seen$tries - seen$wins, length(beta_grid))
  x <- rep(beta_grid, each = n)
  below <- array(stats::pbeta(x, a, b), c(dim(seen$tries), length(beta_grid)))
  density <- array(stats::dbeta(x, a, b), dim(below))
  shares <- vapply(seq_len(ncol(seen$tries)), function(group) {
    others <- density[, group, ]
    for (other in seq_len(ncol(seen$tries))[-group]) others <- others * below[, other, ]
    rowSums(matrix(others, nrow(seen$tries)))
  }, double(nrow(seen$tries)))
  shares <- matrix(shares, nrow(seen$tries))
  shares / rowSums(shares)
}

# One draw of each posterior; the highest is chosen.
drawn_best <- function(seen) {
  draws <- stats::rbeta(length(seen$tries), 1 + seen$wins, 1 + seen$tries - seen$wins)
  best_shares(matrix(draws, nrow(seen$tries)))
}

beta_grid <- (seq_len(200) - .5) / 200

stay_or_shift <- function(seen, of) {
  stays <- ifelse(seen$has_won == 1, of$stay_after_win, of$stay_after_loss)
  n_groups <- seen$size[[2]]
  shares <- ifelse(seen$is_last, stays, (1 - stays) / (n_groups - 1))
  shares[seen$last == 0, ] <- 1 / n_groups
  shares
}

# Values times `sharpness`, `perseveration` for the last group, `bonus` / sqrt(tries + 1) for those seldom tried.
learner_shares <- function(seen, of) {
  utility <- of$sharpness * seen$values
  if (!is.null(of$perseveration)) utility <- utility + of$perseveration * seen$is_last
  if (!is.null(of$bonus)) utility <- utility + of$bonus / sqrt(seen$tries + 1)
  shares <- exp(utility - row_maxima(utility))
  shares <- shares / rowSums(shares)
  if (is.null(of$lapse)) shares else with_lapse(shares, of$lapse)
}
