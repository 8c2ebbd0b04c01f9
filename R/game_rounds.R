# The rounds of games as matrices, a row a game and a column a round: what models of choice run through.

# Of rows with one candidate of one round each (the view `allocation_candidates`). `choice` holds the number of the
# group that was chosen (0: none, the round changes nothing), `class` that of the class of jobs (0: the game has no such
# round), `reward` 1 or 0. `p`, the chances of success, and `shown`, the places in the prompt, are arrays by game, round
# and group, of the games numbered `origin`; NULL where nothing is known of them. `to` ends "Can't …". Games in which
# more than a tenth of the rounds have no choice are left out; a warning names them. Rounds whose number is missing
# between two others have none.
game_rounds <- function(data, to = "fit choices") {
  check_columns(data, c("game", "round", "class", "group", "is_chosen", "is_success"), to = to)
  classes <- levels(sorted_factor(data$class))
  groups <- levels(sorted_factor(data$group))
  if (length(groups) < 2) stop_with(sprintf("Can't %s: there is one group only, and so no choice.", to))
  if (!is.logical(data$is_success) && !all(data$is_success %in% c(0, 1, NA))) {
    text <- "Can't %s: `is_success` must be TRUE or FALSE (or 1 and 0): rewards on another scale are not learned from."
    stop_with(
      sprintf(text, to),
      "Say from which reward on a round is a success, as in: data$is_success <- data$points > 0"
    )
  }
  at <- round_places(data, groups, classes, to)
  size <- c(max(at$game), max(at$round))
  filled <- function(values, rows = rep(TRUE, nrow(data)), empty = 0) {
    replace(matrix(empty, size[[1]], size[[2]]), cbind(at$game, at$round)[rows, , drop = FALSE], values[rows])
  }
  is_chosen <- !is.na(data$is_chosen) & as.logical(data$is_chosen) & !is.na(data$is_success)
  if (anyDuplicated(data.frame(at$game, at$round)[is_chosen, ]) > 0) {
    stop_with(
      sprintf("Can't %s: a round has more than one choice.", to),
      "`game` must tell games apart: fit each source, study version, variant and model apart (`by`)."
    )
  }
  rounds <- list(
    choice = filled(at$group, is_chosen), class = filled(at$class),
    reward = filled(as.numeric(data$is_success), is_chosen),
    shown = by_candidate(data$shown_at, at, size, length(groups)),
    p = by_candidate(data$p_success, at, size, length(groups)), origin = seq_along(at$games), games = at$games,
    groups = groups, classes = classes
  )
  rounds <- without_broken_games(rounds, missing_rounds(data, at$games), to)
  n_rounds <- rowSums(rounds$class > 0)
  is_short <- n_rounds < max(n_rounds)
  if (any(is_short)) {
    message(sprintf(
      "%s with fewer rounds than others (%d of %d and more): the rounds that are there count.",
      counted(sum(is_short), "game"), min(n_rounds), max(n_rounds)
    ))
  }
  say_of_constant_games(rounds)
  rounds
}

# By game, how many numbers of rounds are missing between others. Only if some game has all of its numbers from the
# first round on: else they count something else.
missing_rounds <- function(data, games) {
  numbers <- split(as.numeric(data$round), factor(as.character(data$game), games))
  first <- min(data$round)
  n_missing <- vapply(numbers, function(of_game) max(of_game) - first + 1 - length(unique(of_game)), 0)
  if (first %in% c(0, 1) && any(n_missing == 0) && all(n_missing %% 1 == 0)) unname(n_missing) else 0 * seq_along(games)
}

# Who takes the group of the first round in all rounds of a class has no finite sharpness: any is as likely.
say_of_constant_games <- function(rounds) {
  last <- last_choices(rounds)
  has_past <- rounds$choice > 0 & last$choice > 0
  is_constant <- rowSums(has_past & rounds$choice != last$choice) == 0 & rowSums(has_past) > 0
  what <- "one group in all rounds of a class"
  if (all(is_constant)) {
    warning(sprintf("Not identified: no game varies (%s), so that any rule that stays fits.", what), call. = FALSE)
  } else if (any(is_constant)) {
    message(sprintf(
      "%s without variation (%s): of their own parameters nothing is known.", counted(sum(is_constant), "game"), what
    ))
  }
}

# The numbers of game, round (in the order in which they were played), group and class of each row.
round_places <- function(data, groups, classes, to) {
  games <- levels(sorted_factor(data$game)) # not as they come: folds and replays must not go by the order of rows
  game <- match(as.character(data$game), games)
  played <- unique(data.frame(game = game, round = as.numeric(data$round)))
  if (anyNA(played)) stop_with(sprintf("Can't %s: a row has no game or no round.", to))
  played <- played[order(played$game, played$round), ]
  played$place <- sequence(rle(played$game)$lengths)
  key <- function(of) paste(of$game, of$round)
  round <- played$place[match(key(data.frame(game = game, round = as.numeric(data$round))), key(played))]
  list(
    game = game, round = round, group = match(as.character(data$group), groups),
    class = match(as.character(data$class), classes), games = games
  )
}

# A value of each candidate of each round, as an array; NULL where there is none.
by_candidate <- function(values, at, size, n_groups) {
  if (is.null(values) || all(is.na(values))) {
    return(NULL)
  }
  found <- array(NA_real_, c(size, n_groups))
  found[cbind(at$game, at$round, at$group)] <- as.numeric(values)
  found
}

# Whether the chance of success of every candidate is known, so that games can be replayed.
can_be_replayed <- function(rounds) {
  once <- !duplicated(rounds$origin)
  is_round <- as.vector(rounds$class[once, ] > 0)
  !is.null(rounds$p) && !anyNA(matrix(rounds$p[rounds$origin[once], , ], length(is_round))[is_round, ])
}

most_without_choice <- .1

without_broken_games <- function(rounds, n_missing, to) {
  without <- rowSums(rounds$class > 0 & rounds$choice == 0) + n_missing
  is_broken <- without / (rowSums(rounds$class > 0) + n_missing) > most_without_choice
  n_open <- sum(without[!is_broken])
  if (any(is_broken)) {
    named <- utils::head(rounds$games[is_broken], 3)
    warning(sprintf(
      "%s left out, in which more than a tenth of the rounds have no choice: %s%s.", counted(sum(is_broken), "game"),
      toString(named), if (sum(is_broken) > length(named)) ", \u2026" else ""
    ), call. = FALSE)
  }
  if (n_open > 0) message(sprintf("%s without a choice: nothing is learned in them.", counted(n_open, "round")))
  if (all(is_broken)) stop_with(sprintf("Can't %s: no game is left.", to))
  chosen_games(rounds, !is_broken)
}

# Of these games alone, some of them several times.
chosen_games <- function(rounds, games) {
  for (name in c("choice", "class", "reward")) rounds[[name]] <- rounds[[name]][games, , drop = FALSE]
  for (name in c("games", "origin")) rounds[[name]] <- rounds[[name]][games]
  rounds
}

n_choices <- function(rounds) sum(rounds$choice > 0)

game_columns <- c("game", "round", "class", "group", "is_chosen", "is_success", "p_success", "shown_at")

# One fit of the games of each group of `data`: `fit_one`, function(rounds), as of fit_each_group(). What is said of a
# round is there once for each of its candidates, and may be missing.
fit_games <- function(data, by, to, fit_one, save_to = NULL) {
  check_columns(data, setdiff(game_columns, c("p_success", "shown_at")), to = to)
  data <- data[intersect(names(data), c(by, game_columns, kinds_of_rows()))]
  data$.row <- seq_len(nrow(data))
  columns <- c("game", "round", "class", "group", ".row")
  fit_rows <- function(rows) {
    rounds <- game_rounds(data[rows$.row, ], to) # here: what is said of games is said once, and is no error of a fit
    fit_one(rounds)
  }
  fit_each_group(data, by, columns, fit_rows, save_to)
}
