# Ways to choose among groups after what was seen of them, each as a probability of every group in every round. All run
# through the same frame: games are rows, so that a round of all games is a few operations on matrices.

# By name: `start` of its parameters, on the scale on which they are searched for, and
# `weights(seen, parameters)`: a matrix of probabilities, a row a round of a game and a column a group. `played`
# is a quicker way to play, whose shares depend on chance, with the same probabilities. `sees`: what both need of
# seen_parts (all of it, if it is absent): the rest takes time. `slopes(past, searched, n)`, if it is known by a rule,
# of the log likelihood of all choices along the scale of the search.
#
# What `seen` holds of the class of a round, before the choice: matrices `tries`, `wins` and `values` (of the delta
# rule) by round and group, `last` (the number of the group that was chosen last, 0 for none) and `has_won` by round,
# and `size`, the numbers of rows and columns.
choice_policies <- function() {
  lapse <- list(lapse = -2)
  counts <- c("tries", "wins")
  list(
    random = list(start = list(), sees = character(), weights = function(seen, of) {
      matrix(1 / seen$size[[2]], seen$size[[1]], seen$size[[2]])
    }),
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
  list(
    start = learning_start[c("rate", "sharpness", ...)], sees = c("values", unname(sees)), weights = learner_shares,
    slopes = learner_slopes
  )
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
# reported, one number each or one a game; `past`, of past_of(), where it is known already. Shares are those of all
# rounds at once, of as many games as fit into memory.
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
  if (is.null(past)) past <- past_of(rounds, policy$sees, is_shared(parameters, n))
  seen <- past$seen
  if (!is.null(parameters$rate_up)) seen$values <- learned_values(past$arms, parameters, n)
  of_choices <- parameters[setdiff(names(parameters), c("first_values", "rate_up", "rate_down"))]
  shares <- policy$weights(seen, lapply(of_choices, value_of_games, past$game))
  log_lik <- matrix(0, n[["games"]], ncol(rounds$choice))
  log_lik[past$cell] <- log(shares[past$chosen])
  log_lik
}

# The same games played by the policy: `rounds` with the choices and rewards of chance. Rewards are drawn with the true
# chances of success; where a group would have succeeded is not asked, for the rounds that are replayed differ.
# Also with `last`, as last_choices() has it, if they are `noted`.
replayed_rounds <- function(rounds, policy, parameters, noted = FALSE) {
  if (!can_be_replayed(rounds)) {
    stop_with("Can't replay these games: their chances of success (`p_success`) are not known.")
  }
  n <- sizes_of(rounds)
  memory <- memory_of(n, if (!is.null(policy$sees)) c(policy$sees, if (noted) c("last", "has_won")), parameters)
  note <- if (noted) notes_of_last(rounds)
  shares_of <- if (is.null(policy$played)) policy$weights else policy$played
  choice <- reward <- vector("list", ncol(rounds$choice))
  for (round in seq_along(choice)) {
    class <- pmax(rounds$class[, round], 1)
    seen <- memory$before(class)
    played <- played_round(shares_of(seen, parameters), rounds, round)
    choice[[round]] <- played$choice
    reward[[round]] <- played$reward
    games <- which(played$choice > 0)
    is_new <- memory$keep(games, class[games], played$choice[games], played$reward[games])
    if (noted) note$add(round, seen, games, is_new)
  }
  rounds$choice[] <- unlist(choice)
  rounds$reward[] <- unlist(reward)
  if (noted) rounds$last <- note$all()
  rounds
}

sizes_of <- function(rounds) {
  c(games = nrow(rounds$choice), groups = length(rounds$groups), classes = length(rounds$classes))
}

# No number is drawn in a round that no game has.
played_round <- function(shares, rounds, round) {
  is_on <- rounds$class[, round] > 0
  if (!any(is_on)) {
    return(list(choice = double(length(is_on)), reward = double(length(is_on))))
  }
  u <- stats::runif(nrow(shares))
  reached <- shares[, 1]
  group <- 1 + (u >= reached)
  for (k in seq_len(ncol(shares) - 1)[-1]) {
    reached <- reached + shares[, k]
    group <- group + (u >= reached)
  }
  size <- dim(rounds$p)
  p <- rounds$p[rounds$origin + size[[1]] * (round - 1 + size[[2]] * (group - 1))]
  is_success <- as.numeric(stats::runif(length(p)) < p)
  if (all(is_on)) {
    return(list(choice = group, reward = is_success))
  }
  list(choice = replace(group, !is_on, 0), reward = replace(is_success, !is_on, 0))
}

# Of these games: one number for all of them, one a game, or a row a game.
value_of_games <- function(values, games) {
  if (is.matrix(values)) values[games, , drop = FALSE] else if (length(values) == 1) values else values[games]
}

with_lapse <- function(shares, lapse) (1 - lapse) * shares + lapse / ncol(shares)

# Those with the highest value share the choice.
best_shares <- function(values) {
  is_best <- values >= row_maxima(values) - 1e-12
  is_best / rowSums(is_best)
}

row_maxima <- function(values) {
  values[seq_len(nrow(values)) + nrow(values) * (max.col(values, "first") - 1)]
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
  n_groups <- ncol(seen$tries)
  known <- paste(seen$tries, seen$wins)
  kinds <- which(!duplicated(known)) # groups of which as much is known have the same distribution
  a <- 1 + seen$wins[kinds]
  b <- 1 + (seen$tries - seen$wins)[kinds]
  of_kind <- function(distribution) {
    outer(seq_along(kinds), beta_grid, function(kind, x) distribution(x, a[kind], b[kind]))
  }
  below <- of_kind(stats::pbeta)
  density <- of_kind(stats::dbeta)
  kind <- matrix(match(known, known[kinds]), nrow(seen$tries))
  shares <- vapply(seq_len(n_groups), function(group) {
    others <- density[kind[, group], , drop = FALSE]
    for (other in seq_len(n_groups)[-group]) others <- others * below[kind[, other], , drop = FALSE]
    rowSums(others)
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
  shares <- matrix((1 - stays) / (n_groups - 1), seen$size[[1]], n_groups)
  had_last <- which(seen$last > 0)
  shares[places_of_last(seen, had_last)] <- stays[had_last]
  shares[seen$last == 0, ] <- 1 / n_groups
  shares
}

# In a matrix by round and group, where the last groups of these rounds are.
places_of_last <- function(seen, rows) rows + seen$size[[1]] * (seen$last[rows] - 1)

# Values times `sharpness`, `perseveration` for the last group, `bonus` / sqrt(tries + 1) for those seldom tried.
learner_shares <- function(seen, of) {
  utility <- of$sharpness * seen$values
  if (!is.null(of$perseveration)) {
    had_last <- which(seen$last > 0)
    again <- places_of_last(seen, had_last)
    utility[again] <- utility[again] + value_of_games(of$perseveration, had_last)
  }
  if (!is.null(of$bonus)) utility <- utility + of$bonus / sqrt(seen$tries + 1)
  shares <- exp(utility - row_maxima(utility))
  shares <- shares / rowSums(shares)
  if (is.null(of$lapse)) shares else with_lapse(shares, of$lapse)
}

# The slopes of a learner's log likelihood by the chain rule; values learn in each class alone. A utility that grows by
# 1 raises the chance of its own group, and takes from all in proportion to theirs.
learner_slopes <- function(past, searched, n) {
  of <- reported_parameters(searched)
  grown <- slopes_of_values(past$arms, of, n)
  seen <- c(past$seen, list(values = grown$values))
  lapse <- if (is.null(of$lapse)) 0 else of$lapse
  chances <- learner_shares(seen, of[setdiff(names(of), "lapse")])
  own <- chances[past$chosen]
  share <- (1 - lapse) * own + lapse / n[["groups"]]
  weight <- (1 - lapse) * own / share
  along <- function(utility) sum(weight * (utility[past$chosen] - rowSums(chances * utility)))
  spread <- function(rate) rate * (1 - rate)
  by_up <- of$sharpness * spread(of$rate_up) * grown$by_up
  by_down <- of$sharpness * spread(of$rate_down) * grown$by_down
  vapply(names(searched), function(name) {
    switch(name,
      rate = along(by_up + by_down), rate_difference = along(by_up - by_down) / 2,
      sharpness = along(of$sharpness * grown$values), bonus = along(1 / sqrt(seen$tries + 1)),
      perseveration = along(1 * (col(chances) == seen$last)),
      lapse = spread(lapse) * sum((1 / n[["groups"]] - own) / share)
    )
  }, 0)
}
