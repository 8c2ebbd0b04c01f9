# Ways to choose among groups after what was seen of them, each as a probability of every group in every round. All run
# through the same frame: games are rows, so that a round of all games is a few operations on matrices.

# By name: `start` of its parameters, on the scale on which they are searched for, and
# `weights(seen, parameters)`: a matrix of probabilities, a row a game and a column a group. `played`
# is a quicker way to play, whose shares depend on chance, with the same probabilities.
#
# What `seen` holds of the class of this round, before the choice: matrices `tries`, `wins` and `values` (of the delta
# rule) by game and group, `last` (the number of the group that was chosen last, 0 for none) and `has_won` by game.
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
# reported, one number each or one a game.
choice_log_lik <- function(rounds, policy, parameters) {
  run_policy(rounds, policy, parameters)$log_lik
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

run_policy <- function(rounds, policy, parameters, plays = FALSE) {
  n <- c(games = nrow(rounds$choice), groups = length(rounds$groups), classes = length(rounds$classes))
  state <- first_state(n, parameters)
  shares_of <- if (plays && !is.null(policy$played)) policy$played else policy$weights
  log_lik <- matrix(0, n[["games"]], ncol(rounds$choice))
  for (round in seq_len(ncol(rounds$choice))) {
    is_on <- rounds$class[, round] > 0 & (plays | rounds$choice[, round] > 0)
    if (!any(is_on)) next
    at <- state_places(pmax(rounds$class[, round], 1), n)
    shares <- shares_of(seen_in_class(state, at), parameters)
    choice <- if (plays) ifelse(is_on, drawn_groups(shares), 0) else rounds$choice[, round]
    chosen <- cbind(seq_len(n[["games"]]), pmax(choice, 1))
    log_lik[is_on, round] <- log(shares[chosen[is_on, , drop = FALSE]])
    if (plays) {
      rounds$choice[, round] <- choice
      p <- rounds$p[cbind(rounds$origin, round, chosen[, 2])]
      rounds$reward[, round] <- ifelse(is_on, as.numeric(stats::runif(n[["games"]]) < p), 0)
    }
    state <- next_state(state, at, chosen[, 2], rounds$reward[, round], is_on, parameters, n)
  }
  list(log_lik = log_lik, choice = rounds$choice, reward = rounds$reward)
}

# Matrices by game and by group within class: the columns of class 1 first. `last` and `has_won`: by game and class.
first_state <- function(n, parameters) {
  empty <- matrix(0, n[["games"]], n[["groups"]] * n[["classes"]])
  values <- if (is.null(parameters$first_values)) .5 else parameters$first_values
  by_class <- matrix(0, n[["games"]], n[["classes"]])
  list(tries = empty, wins = empty, values = empty + values, last = by_class, has_won = by_class)
}

# Where the class of this round is in a state: `groups`, pairs of row and column, group after group; `classes`, a pair a
# game.
state_places <- function(class, n) {
  games <- seq_len(n[["games"]])
  groups <- rep(seq_len(n[["groups"]]), each = n[["games"]])
  list(
    groups = cbind(games, rep((class - 1) * n[["groups"]], n[["groups"]]) + groups, deparse.level = 0),
    classes = cbind(games, class, deparse.level = 0)
  )
}

seen_in_class <- function(state, at) {
  n_games <- nrow(state$tries)
  of_groups <- lapply(state[c("tries", "wins", "values")], function(part) matrix(part[at$groups], n_games))
  c(of_groups, list(last = state$last[at$classes], has_won = state$has_won[at$classes]))
}

next_state <- function(state, at, choice, reward, is_on, parameters, n) {
  games <- which(is_on)
  column <- at$groups[games, 2] - 1 + choice[games] # of the first group of the class, and on from there
  place <- cbind(games, column, deparse.level = 0)
  won <- reward[games]
  state$tries[place] <- state$tries[place] + 1
  state$wins[place] <- state$wins[place] + won
  state$last[at$classes[games, , drop = FALSE]] <- choice[games]
  state$has_won[at$classes[games, , drop = FALSE]] <- won
  if (is.null(parameters$rate_up)) {
    return(state)
  }
  learned <- function(place, share) {
    error <- won - state$values[place]
    rate <- ifelse(error > 0, value_of_games(parameters$rate_up, games), value_of_games(parameters$rate_down, games))
    state$values[place] + share * rate * error
  }
  own <- learned(place, 1)
  if (!is.null(parameters$generalisation) && n[["classes"]] > 1) {
    for (class in seq_len(n[["classes"]])) { # its own class, too, which is set below
      other <- cbind(games, (class - 1) * n[["groups"]] + choice[games], deparse.level = 0)
      state$values[other] <- learned(other, value_of_games(parameters$generalisation, games))
    }
  }
  state$values[place] <- own
  state
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
  is_last <- outer(seen$last, seq_len(n_groups), `==`)
  shares <- ifelse(is_last, stays, (1 - stays) / (n_groups - 1))
  shares[seen$last == 0, ] <- 1 / n_groups
  shares
}

# Values times `sharpness`, `perseveration` for the last group, `bonus` / sqrt(tries + 1) for those seldom tried.
learner_shares <- function(seen, of) {
  utility <- of$sharpness * seen$values
  if (!is.null(of$perseveration)) {
    utility <- utility + of$perseveration * outer(seen$last, seq_len(ncol(utility)), `==`)
  }
  if (!is.null(of$bonus)) utility <- utility + of$bonus / sqrt(seen$tries + 1)
  shares <- exp(utility - row_maxima(utility))
  shares <- shares / rowSums(shares)
  if (is.null(of$lapse)) shares else with_lapse(shares, of$lapse)
}
