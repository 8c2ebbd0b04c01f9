# Do games that a model of choice plays look like those that were played? Whole games are replayed, each with its own
# learning, and compared in what the indices of games and the reviewers of such models ask for.

# Of 250 replays the smallest p is 2 / 251, which Holm's method multiplies by the number of statistics: a call that is
# close goes on, to a thousand at most.
n_replays <- c(few = 250L, many = 1000L)

# One row a statistic, of what game_statistics() has of the games and of their replays: `kind` (`"mean"` over games, or
# `"sd"` between them), `observed`, `predicted` (mean over draws), `conf_low` and `conf_high` (95 % of the draws),
# `p_value` (two-sided, draws that equal the observed counted half; that of a normal distribution for what lies beyond
# all draws), `p_adjusted` (Holm) and `passes`, whether that is .05 or more. What is not defined is left out.
replay_checks <- function(observed, replicated) {
  known <- names(observed)[is.finite(unlist(observed))]
  rows <- lapply(known, function(name) check_row(name, observed[[name]], replicated[[name]]))
  rows <- do.call(rbind, Filter(Negate(is.null), rows))
  rows$p_adjusted <- stats::p.adjust(rows$p_value, "holm")
  rows$passes <- rows$p_adjusted >= .05
  as_plain_rows(rows)
}

# What replays say: list(checks, curves). `play`, function(draws), gives the lanes of the draws with these numbers: the
# same games many times, once for each draw, one below the other, as replayed_rounds() played them. `n_draws` of them,
# and as long as a call is close more, `at_most` as many. A few at once are quicker than all, whose matrices leave the
# processor's caches.
compared_replays <- function(rounds, play, n_draws = n_replays[["few"]], at_most = n_replays[["many"]]) {
  observed <- measured_replays(rounds, 1)
  replicated <- list(statistics = list(), curves = list())
  n_done <- 0
  repeat {
    draws <- n_done + seq_len(min(n_replays[["few"]], at_most - n_done))
    more <- measured_replays(play(draws), length(draws))
    replicated$statistics <- joined_draws(c, replicated$statistics, more$statistics)
    replicated$curves <- joined_draws(cbind, replicated$curves, more$curves)
    n_done <- n_done + length(draws)
    if (n_done < n_draws) next
    checks <- replay_checks(observed$statistics, replicated$statistics)
    least <- min(checks$p_adjusted)
    if (n_done >= at_most || least <= .01 || least >= .2) break
  }
  list(checks = checks, curves = replay_curves(observed$curves, replicated$curves))
}

joined_draws <- function(join, first, more) if (length(first) == 0) more else Map(join, first, more)

measured_replays <- function(lanes, n_draws) {
  lanes$last <- last <- last_choices(lanes) # known already, if they were noted as the games were played
  reach <- 2
  is_on <- lanes$choice > 0
  has_past <- is_on & last$choice > 0
  summed <- function(values) {
    n_games <- nrow(values) / n_draws
    t(colSums(array(as.numeric(values), c(n_games, n_draws, ncol(values)))))
  }
  rounds_near <- abs(outer(seq_len(ncol(is_on)), seq_len(ncol(is_on)), `-`)) <= reach
  share <- function(values, of) (rounds_near %*% summed(values & of)) / (rounds_near %*% summed(of))
  list(statistics = game_statistics(lanes, n_draws), curves = list(
    success = share(lanes$reward == 1, is_on), repeated = share(lanes$choice == last$choice, has_past),
    new_group = share(last$is_new == 1, is_on)
  ))
}

check_row <- function(name, observed, replicated) {
  replicated <- replicated[is.finite(replicated)]
  if (length(replicated) < 2) {
    return(NULL)
  }
  ties <- abs(replicated - observed) < 1e-9
  above <- mean((replicated > observed & !ties) + ties / 2)
  p_value <- 2 * min(above, 1 - above)
  if (p_value == 0) {
    beyond <- 2 * stats::pnorm(-abs(observed - mean(replicated)) / stats::sd(replicated))
    p_value <- min(beyond, 2 / (length(replicated) + 1))
  }
  limits <- unname(stats::quantile(replicated, c(.025, .975)))
  data.frame(
    statistic = sub("^sd_", "", name), kind = if (startsWith(name, "sd_")) "sd" else "mean", observed = observed,
    predicted = mean(replicated), conf_low = limits[[1]], conf_high = limits[[2]],
    p_value = p_value
  )
}

# By name, a value a draw: means over the games of a draw, and standard deviations between them (`sd_`).
game_statistics <- function(rounds, n_draws) {
  n_games <- nrow(rounds$choice) / n_draws
  by_draw <- function(values) matrix(values, n_games)
  counted <- counted_choices(rounds)
  # Blocks that no game has in full are left out.
  size <- 10
  n <- c(nrow(rounds$choice), length(rounds$groups))
  blocks <- seq_len(ncol(rounds$choice) %/% size)
  found <- lapply(blocks, function(block) {
    choice <- rounds$choice[, (block - 1) * size + seq_len(size), drop = FALSE]
    place <- (rep(seq_len(n[[1]]), size) + n[[1]] * (as.vector(choice) - 1))[choice > 0]
    counts <- matrix(as.numeric(tabulate(place, prod(n))), n[[1]])
    totals <- rowSums(counts)
    ifelse(totals > 0, rowSums(plogp(counts / pmax(totals, 1))), NA_real_)
  })
  of_games <- c(share_statistics(rounds, counted), stats::setNames(found, sprintf("entropy_block_%d", blocks)))
  means <- lapply(of_games, function(values) colMeans(by_draw(values), na.rm = TRUE))
  spread <- if (n_games > 1) {
    lapply(of_games[intersect(c("one_minus_herfindahl", "si"), names(of_games))], function(values) {
      off <- sweep(by_draw(values), 2, colMeans(by_draw(values)))
      sqrt(colSums(off^2) / (n_games - 1))
    })
  }
  gasi <- if (n_games > 1 && length(rounds$classes) > 1) list(gasi = gasi_by_draw(counted, n_draws))
  c(means, gasi, if (length(spread) > 0) stats::setNames(spread, paste0("sd_", names(spread))))
}

# Each game's: 1 minus the sum of squared shares of the groups, SI and BGD, how often another group than the last of its
# class was chosen after a success and after a failure, and which share of groups was ever tried in a class.
share_statistics <- function(rounds, counted) {
  counts <- counted$counts
  totals <- rowSums(counts, dims = 2)
  last <- last_choices(rounds)
  has_past <- last$choice > 0 & rounds$choice > 0
  has_switched <- rounds$choice != last$choice
  switches <- function(won) {
    is_asked <- has_past & last$reward == won
    rowSums(is_asked & has_switched) / rowSums(is_asked)
  }
  met <- colSums(aperm(counts, c(2, 1, 3))) > 0
  found <- list(
    one_minus_herfindahl = 1 - rowSums((totals / rowSums(totals))^2),
    switch_after_success = switches(1), switch_after_failure = switches(0),
    groups_tried = rowSums(counts > 0) / (length(rounds$groups) * rowSums(met))
  )
  if (length(rounds$classes) == 1) {
    return(found)
  }
  apart <- pairs_within(counted$shares, counted$entropy)
  c(found, list(si = si_within(counted$entropy, length(rounds$classes)), bgd = bgd_within(apart)))
}

# Arrays by game, group and class: counts, and shares of classes among the choices of a group; their entropies.
counted_choices <- function(rounds) {
  counts <- counts_of_choices(rounds)
  shares <- class_shares(counts)
  list(counts = counts, shares = shares, entropy = rowSums(plogp(shares), dims = 2))
}

counts_of_choices <- function(rounds) {
  n <- c(nrow(rounds$choice), length(rounds$groups), length(rounds$classes))
  is_on <- rounds$choice > 0
  place <- row(rounds$choice)[is_on] + n[[1]] * (rounds$choice[is_on] - 1 + n[[2]] * (rounds$class[is_on] - 1))
  array(as.numeric(tabulate(place, prod(n))), n)
}

# The last choice in the class of each round, and its reward (0 where there is none), and whether the group that was
# chosen is new in the class: matrices by game and round. `rounds$last`, if they are known already.
last_choices <- function(rounds) {
  if (!is.null(rounds$last)) {
    return(rounds$last)
  }
  memory <- memory_of(sizes_of(rounds), c("last", "has_won"))
  note <- notes_of_last(rounds)
  for (round in seq_len(ncol(rounds$choice))) { # of many games quicker than past_of(), which sorts all choices
    class <- pmax(rounds$class[, round], 1)
    seen <- memory$before(class)
    games <- which(rounds$choice[, round] > 0)
    is_new <- memory$keep(games, class[games], rounds$choice[games, round], rounds$reward[games, round])
    note$add(round, seen, games, is_new)
  }
  note$all()
}

# Functions that share such matrices: `add` a round, and give `all`.
notes_of_last <- function(rounds) {
  n_games <- nrow(rounds$choice)
  choice <- reward <- is_new <- vector("list", ncol(rounds$choice)) # a column each: a matrix would be copied each time
  list(
    add = function(round, seen, games, new) {
      choice[[round]] <<- seen$last
      reward[[round]] <<- seen$has_won
      is_new[[round]] <<- replace(double(n_games), games, new)
    },
    all = function() {
      lapply(list(choice = choice, reward = reward, is_new = is_new), function(columns) {
        matrix(as.numeric(unlist(columns)), n_games)
      })
    }
  )
}

# How choices settle, in the games and in their replays: shares of games by round, as running means over five rounds
# (`success`, `repeated`, the last group of the class, `new_group` in the class). Of replays mean and 95 % of draws.
replay_curves <- function(observed, replicated) {
  rows <- do.call(rbind, lapply(names(observed), function(measure) {
    values <- replicated[[measure]]
    limits <- apply(values, 1, stats::quantile, c(.025, .975), na.rm = TRUE)
    frame_of(
      measure = rep(measure, nrow(values)), round = seq_len(nrow(values)), observed = as.vector(observed[[measure]]),
      predicted = rowMeans(values, na.rm = TRUE), conf_low = limits[1, ], conf_high = limits[2, ]
    )
  }))
  as_plain_rows(rows[is.finite(rows$observed) & is.finite(rows$predicted), ])
}

# As weighted_indices() has it, of each draw: the mean over pairs of games, then over groups.
gasi_by_draw <- function(counted, n_draws) {
  shares <- counted$shares
  n_games <- dim(shares)[[1]] / n_draws
  pairs <- utils::combn(n_games, 2)
  half_entropy <- counted$entropy / 2
  by_group <- vapply(seq_len(ncol(shares)), function(group) {
    of_pairs <- function(halves) {
      by_draw <- matrix(halves, n_games)
      by_draw[pairs[1, ], , drop = FALSE] + by_draw[pairs[2, ], , drop = FALSE]
    }
    middle <- 0
    for (class in seq_len(dim(shares)[[3]])) middle <- middle + plogp(of_pairs(shares[, group, class] / 2))
    apart <- pmax(middle - of_pairs(half_entropy[, group]), 0) * log(2)
    colMeans(sqrt(apart), na.rm = TRUE)
  }, double(n_draws))
  rowMeans(matrix(by_group, n_draws), na.rm = TRUE)
}

no_checks <- function() {
  columns_of("statistic:text kind:text observed predicted conf_low conf_high p_value p_adjusted passes:flag")
}

no_curves <- function() {
  columns_of("measure:text round:whole observed predicted conf_low conf_high")
}
