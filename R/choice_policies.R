# Ways to choose among groups after what was seen of them, each as a probability of every group in every round. All run
# through the same frame: games are rows, so that a round of all games is a few operations on matrices.

# By name: `start` of its parameters, on the scale on which they are searched for, and
# `weights(seen, parameters)`: a matrix of probabilities, a row a game and a column a group. `played`
# is a quicker way to play, whose shares depend on chance, with the same probabilities.
#
# What `seen` holds of the class of this round, before the choice: matrices `tries`, `wins`, `values` (of the delta
# rule) and `is_last` by game and group, `last` (the number of the group that was chosen last, 0 for none) and
# `has_won` by game.
choice_policies <- function() {
  lapse <- list(lapse = -2)
  list(
    random = list(start = list(), weights = function(seen, of) even_shares(seen$tries)),
    greedy = list(start = lapse, weights = function(seen, of) with_lapse(best_shares(posterior_means(seen)), of$lapse)),
    win_stay_lose_shift = list(start = list(stay_after_win = 1, stay_after_loss = -1), weights = stay_or_shift),
    thompson = list(
      start = lapse, weights = function(seen, of) with_lapse(chances_to_be_best(seen), of$lapse),
      played = function(seen, of) with_lapse(drawn_best(seen), of$lapse)
    ),
    ucb = list(start = lapse, weights = function(seen, of) with_lapse(best_shares(upper_bounds(seen)), of$lapse)),
    learner = learner_with(),
    learner_perseveration = learner_with("perseveration"),
    learner_lapse = learner_with("perseveration", "lapse"),
    learner_bonus = learner_with("perseveration", "lapse", "bonus"),
    learner_two_rates = learner_with("perseveration", "lapse", "rate_difference")
  )
}

learner_with <- function(...) {
  list(start = learning_start[c("rate", "sharpness", ...)], weights = learner_shares)
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
# reported, one number each or one a game; `past`, of past_of(), where it is known already.
choice_log_lik <- function(rounds, policy, parameters, past = NULL) {
  run_policy(rounds, policy, parameters, past = past)$log_lik
}

# The same games played by the policy: `rounds` with the choices and rewards of chance. Rewards are drawn with the true
# chances of success; where a group would have succeeded is not asked, for the rounds that are replayed differ.
replayed_rounds <- function(rounds, policy, parameters) {
  if (!can_be_replayed(rounds)) {
    stop_with("Can't replay these games: their chances of success (`p_success`) are not known.")
  }
  played <- run_policy(rounds, policy, parameters, plays = TRUE)
  rounds[c("choice", "reward")] <- played[c("choice", "reward")]
  rounds
}

run_policy <- function(rounds, policy, parameters, plays = FALSE, past = NULL) {
  n <- sizes_of(rounds)
  state <- first_state(n)
  values <- first_values(n, parameters)
  shares_of <- if (plays && !is.null(policy$played)) policy$played else policy$weights
  log_lik <- matrix(0, n[["games"]], ncol(rounds$choice))
  for (round in seq_len(ncol(rounds$choice))) {
    seen <- if (is.null(past)) seen_in_round(state, rounds, round, n) else past[[round]]
    seen$values <- matrix(values[seen$places], n[["games"]])
    shares <- shares_of(seen, parameters)
    if (plays) {
      played <- played_round(shares, rounds, round)
      rounds$choice[, round] <- played$choice
      rounds$reward[, round] <- played$reward
      seen <- chosen_in_round(seen, rounds, round)
    }
    log_lik[seen$games, round] <- log(shares[seen$chosen])
    if (is.null(past)) state <- next_state(state, seen)
    if (!is.null(parameters$rate_up)) values <- next_values(values, seen, parameters, n)
  }
  list(log_lik = log_lik, choice = rounds$choice, reward = rounds$reward)
}

sizes_of <- function(rounds) {
  c(games = nrow(rounds$choice), groups = length(rounds$groups), classes = length(rounds$classes))
}

# What is seen in each round of games as they were played: it depends on no parameter of a policy.
past_of <- function(rounds) {
  n <- sizes_of(rounds)
  state <- first_state(n)
  lapply(seq_len(ncol(rounds$choice)), function(round) {
    seen <- seen_in_round(state, rounds, round, n)
    state <<- next_state(state, seen)
    seen
  })
}

played_round <- function(shares, rounds, round) {
  is_on <- rounds$class[, round] > 0
  choice <- ifelse(is_on, drawn_groups(shares), 0)
  p <- rounds$p[cbind(rounds$origin, round, pmax(choice, 1))]
  list(choice = choice, reward = ifelse(is_on, as.numeric(stats::runif(nrow(shares)) < p), 0))
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

# What choice_policies() take, of the class of this round; `places`, where its groups are in the state, pairs of row and
# column, group after group; `of_class`, where its class is, a pair a game; and what chosen_in_round() adds.
seen_in_round <- function(state, rounds, round, n) {
  games <- seq_len(n[["games"]])
  class <- pmax(rounds$class[, round], 1)
  groups <- rep(seq_len(n[["groups"]]), each = n[["games"]])
  places <- cbind(games, rep((class - 1) * n[["groups"]], n[["groups"]]) + groups, deparse.level = 0)
  of_class <- cbind(games, class, deparse.level = 0)
  last <- state$last[of_class]
  seen <- list(
    tries = matrix(state$tries[places], n[["games"]]), wins = matrix(state$wins[places], n[["games"]]), last = last,
    is_last = matrix(rep(last, n[["groups"]]) == groups, n[["games"]]), has_won = state$has_won[of_class],
    places = places, of_class = of_class
  )
  chosen_in_round(seen, rounds, round)
}

# `games`, the numbers of those with a choice in this round, and of each of them `choice`, `reward`, `chosen` (where it
# is in a matrix by game and group) and `place` (where in the state).
chosen_in_round <- function(seen, rounds, round) {
  games <- which(rounds$choice[, round] > 0)
  choice <- rounds$choice[games, round]
  column <- seen$places[games, 2] - 1 + choice # of the first group of the class, and on from there
  seen[c("games", "choice", "reward", "chosen", "place")] <- list(
    games, choice, rounds$reward[games, round], cbind(games, choice, deparse.level = 0),
    cbind(games, column, deparse.level = 0)
  )
  seen
}

next_state <- function(state, seen) {
  state$tries[seen$place] <- state$tries[seen$place] + 1
  state$wins[seen$place] <- state$wins[seen$place] + seen$reward
  class <- seen$of_class[seen$games, , drop = FALSE]
  state$last[class] <- seen$choice
  state$has_won[class] <- seen$reward
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
      other <- cbind(seen$games, (class - 1) * n[["groups"]] + seen$choice, deparse.level = 0)
      values[other] <- learned(other, share)
    }
  }
  values[seen$place] <- own
  values
}

value_of_games <- function(values, games) if (length(values) == 1) values else values[games]

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

even_shares <- function(like) matrix(1 / ncol(like), nrow(like), ncol(like))

with_lapse <- function(shares, lapse) (1 - lapse) * shares + lapse / ncol(shares)

# Those with the highest value share the choice.
best_shares <- function(values) {
  is_best <- values >= row_maxima(values) - 1e-12
  is_best / rowSums(is_best)
}

row_maxima <- function(values) values[cbind(seq_len(nrow(values)), max.col(values, "first"))]

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
  n_groups <- ncol(seen$tries)
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
