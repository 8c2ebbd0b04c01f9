# What players know of each group before a choice, which goes from round to round: counts, the last choice, and the
# values of the delta rule. Rows are games within classes: those of class 1 first.

seen_parts <- c("tries", "wins", "last", "has_won", "values")

# Functions that share what is known as games are played. `before(class)`: what choice_policies() take, by the class of
# each game; `keep(games, class, choice, reward)` learns from a round, and says which choices are of a new group.
# `sees`: which parts are kept; `parameters`: those of the delta rule, which values need.
memory_of <- function(n, sees = NULL, parameters = NULL) {
  if (is.null(sees)) sees <- seen_parts
  n_rows <- n[["games"]] * n[["classes"]]
  empty <- matrix(0, n_rows, n[["groups"]])
  tries <- wins <- empty
  last <- has_won <- double(n_rows)
  was_tried <- matrix(FALSE, n_rows, n[["groups"]])
  learns <- "values" %in% sees && !is.null(parameters$rate_up)
  values <- if (learns) first_values(n, parameters)
  list(
    before = function(class) {
      at <- seq_len(n[["games"]]) + n[["games"]] * (class - 1)
      seen <- list(size = c(length(at), n[["groups"]]))
      if ("tries" %in% sees) seen$tries <- tries[at, , drop = FALSE]
      if ("wins" %in% sees) seen$wins <- wins[at, , drop = FALSE]
      if ("last" %in% sees) seen$last <- last[at]
      if ("has_won" %in% sees) seen$has_won <- has_won[at]
      if (learns) seen$values <- values[at, , drop = FALSE]
      seen
    },
    keep = function(games, class, choice, reward) {
      at <- games + n[["games"]] * (class - 1)
      place <- at + n_rows * (choice - 1)
      is_new <- !was_tried[place]
      was_tried[place] <<- TRUE
      if ("tries" %in% sees) tries[place] <<- tries[place] + 1
      if ("wins" %in% sees) wins[place] <<- wins[place] + reward
      if ("last" %in% sees) last[at] <<- choice
      if ("has_won" %in% sees) has_won[at] <<- reward
      if (!learns) {
        return(invisible(is_new))
      }
      of_games <- lapply(parameters[c("rate_up", "rate_down")], value_of_games, games)
      own <- learned(values[place], reward, of_games)
      if (is_shared(parameters, n)) {
        share <- value_of_games(parameters$generalisation, games)
        for (other in seq_len(n[["classes"]])) { # its own class, too, which is set below
          there <- games + n[["games"]] * (other - 1) + n_rows * (choice - 1)
          values[there] <<- learned(values[there], reward, of_games, share)
        }
      }
      values[place] <<- own
      invisible(is_new)
    }
  )
}

# Whether what is learned in a class is learned of the others, too.
is_shared <- function(parameters, n) !is.null(parameters$generalisation) && n[["classes"]] > 1

# A matrix by game within class and group; `first_values` has a row a game, and columns by group within class.
first_values <- function(n, parameters) {
  first <- if (is.null(parameters$first_values)) .5 else parameters$first_values
  if (is.matrix(first)) first <- aperm(array(first, n[c("games", "groups", "classes")]), c(1, 3, 2))
  matrix(as.vector(first), n[["games"]] * n[["classes"]], n[["groups"]])
}

# The delta rule: values after a reward, of which a share is learned.
learned <- function(values, reward, of, share = 1) {
  error <- reward - values
  rate <- of$rate_down
  if (!identical(of$rate_up, of$rate_down)) rate <- rate + (of$rate_up - of$rate_down) * (error > 0)
  values + share * rate * error
}

# What is seen before each choice of games as they were played: it depends on no parameter of a policy. `seen`, as
# choice_policies() take it, has a row a choice, round after round; `game`, `class` and `cell` (in a matrix by game and
# round) say whose, `chosen` what was chosen, in a matrix by row and group. `arms`: what values go by, see arms_of().
past_of <- function(rounds, sees = NULL, shared = FALSE) {
  if (is.null(sees)) sees <- seen_parts
  n <- sizes_of(rounds)
  cell <- which(rounds$choice > 0)
  game <- (cell - 1) %% n[["games"]] + 1
  class <- rounds$class[cell]
  choice <- rounds$choice[cell]
  reward <- rounds$reward[cell]
  unit <- game + n[["games"]] * (class - 1)
  before <- earlier_choices(unit)
  seen <- list(size = c(length(cell), n[["groups"]]))
  if ("tries" %in% sees) seen$tries <- before$counts(choice, n[["groups"]])
  if ("wins" %in% sees) seen$wins <- before$counts(choice, n[["groups"]], reward)
  if ("last" %in% sees) seen$last <- before$last(choice)
  if ("has_won" %in% sees) seen$has_won <- before$last(reward)
  list(
    seen = seen, game = game, class = class, cell = cell, chosen = seq_along(cell) + length(cell) * (choice - 1),
    arms = if ("values" %in% sees) arms_of(n, unit, game, class, choice, reward, shared)
  )
}

# Functions of what was chosen earlier in the same unit, of choices in the order in which they were made: `counts`, how
# often each group was (or the sum of `amount`), by choice and group, and `last`, a value of the choice before (0: there
# is none).
earlier_choices <- function(unit) {
  in_order <- order(as.integer(unit), method = "radix")
  begins <- which(c(TRUE, diff(unit[in_order]) > 0)[seq_along(unit)])
  n_choices <- diff(c(begins, length(unit) + 1))
  as_made <- function(values) replace(double(length(unit)), in_order, values)
  list(
    counts = function(choice, n_groups, amount = 1) {
      amount <- rep_len(amount, length(unit))
      found <- vapply(seq_len(n_groups), function(group) {
        own <- ((choice == group) * amount)[in_order]
        before <- cumsum(own) - own
        as_made(before - rep(before[begins], n_choices))
      }, double(length(unit)))
      matrix(found, length(unit))
    },
    last = function(values) as_made(replace(c(0, values[in_order][-length(unit)]), begins, 0))
  )
}

# Values change only where there is a choice, so that they go from try to try of an arm (a group in a class of a game;
# in all classes, if they are `shared`) rather than from round to round. Arms that were tried most often come first.
# `tries`: of each try that an arm may have had, the `reward` and `class` of each arm that had it; `game`: whose arms
# they are; `place`, by choice and group: where the value before the choice is, among those before any try and after
# each.
arms_of <- function(n, unit, game, class, choice, reward, shared) {
  if (shared) unit <- game
  n_units <- n[["games"]] * (if (shared) 1 else n[["classes"]])
  n_arms <- n_units * n[["groups"]]
  before <- earlier_choices(unit)$counts(choice, n[["groups"]])
  arm <- unit + n_units * (choice - 1)
  n_tries <- tabulate(arm, n_arms)
  in_order <- order(n_tries, decreasing = TRUE)
  rank <- replace(integer(n_arms), in_order, seq_len(n_arms))
  number <- before[cbind(seq_along(choice), choice)] + 1
  order_of_tries <- order(number, rank[arm])
  n_arms_on <- tabulate(number, max(n_tries))
  ends <- cumsum(n_arms_on)
  all_groups <- rep(n_units * (seq_len(n[["groups"]]) - 1), each = length(unit))
  list(
    game = (in_order - 1) %% n[["games"]] + 1, in_order = in_order, class = class, shared = shared,
    tries = Map(function(end, n_on) {
      try <- order_of_tries[end - n_on + seq_len(n_on)]
      list(reward = reward[try], class = class[try])
    }, ends, n_arms_on),
    place = c(0, n_arms + ends - n_arms_on)[as.vector(before) + 1] + rank[rep(unit, n[["groups"]]) + all_groups]
  )
}

# The values of the delta rule before each choice, by choice and group.
learned_values <- function(arms, parameters, n) {
  first <- first_values(n, parameters)
  if (arms$shared) {
    first <- matrix(aperm(array(first, n[c("games", "classes", "groups")]), c(1, 3, 2)), ncol = n[["classes"]])
  }
  now <- if (arms$shared) first[arms$in_order, , drop = FALSE] else first[arms$in_order]
  of <- lapply(parameters[c("rate_up", "rate_down")], value_of_games, arms$game)
  after <- c(list(now), lapply(arms$tries, function(try) {
    arms_on <- seq_along(try$reward)
    of <<- lapply(of, value_of_games, arms_on)
    now <<- if (arms$shared) {
      share <- value_of_games(parameters$generalisation, arms$game[arms_on])
      share <- ifelse(col(now[arms_on, , drop = FALSE]) == try$class, 1, share)
      learned(now[arms_on, , drop = FALSE], try$reward, of, share)
    } else {
      learned(now[arms_on], try$reward, of)
    }
  }))
  if (!arms$shared) {
    return(matrix(unlist(after, use.names = FALSE)[arms$place], length(arms$class)))
  }
  after <- do.call(rbind, after)
  matrix(after[arms$place + nrow(after) * (rep(arms$class, n[["groups"]]) - 1)], length(arms$class))
}

# The values of the delta rule as learned_values() has them, and how they grow with each rate.
slopes_of_values <- function(arms, parameters, n) {
  now <- first_values(n, parameters)[arms$in_order]
  by_up <- by_down <- 0 * now
  all_states <- c(list(list(now, by_up, by_down)), lapply(arms$tries, function(try) {
    arms_on <- seq_along(try$reward)
    error <- try$reward - now[arms_on]
    is_good <- error > 0
    kept <- 1 - ifelse(is_good, parameters$rate_up, parameters$rate_down)
    now <<- learned(now[arms_on], try$reward, parameters)
    by_up <<- by_up[arms_on] * kept + error * is_good
    by_down <<- by_down[arms_on] * kept + error * !is_good
    list(now, by_up, by_down)
  }))
  of_choices <- function(which) {
    matrix(unlist(lapply(all_states, `[[`, which), use.names = FALSE)[arms$place], length(arms$class))
  }
  list(values = of_choices(1), by_up = of_choices(2), by_down = of_choices(3))
}
