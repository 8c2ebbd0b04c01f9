# What is known of games is worked out in two ways: from round to round as they are played, and at once of games that
# were played. They must agree.
seen_by_rounds <- function(rounds, ...) {
  memory <- memory_of(sizes_of(rounds), NULL, list(...))
  parts <- lapply(seq_len(ncol(rounds$choice)), function(round) {
    class <- pmax(rounds$class[, round], 1)
    seen <- memory$before(class)
    games <- which(rounds$choice[, round] > 0)
    memory$keep(games, class[games], rounds$choice[games, round], rounds$reward[games, round])
    lapply(seen[seen_parts], function(part) as.matrix(part)[games, , drop = FALSE])
  })
  lapply(stats::setNames(seen_parts, seen_parts), function(name) do.call(rbind, lapply(parts, `[[`, name)))
}

games_with_a_gap <- function() {
  rounds <- learner_games(n_games = 5, n_rounds = 12, n_classes = 3)
  rounds$choice[2, 3] <- rounds$class[4, 12] <- rounds$choice[4, 12] <- 0
  rounds
}

test_that("what is seen at once is what is seen from round to round", {
  rounds <- games_with_a_gap()
  by_rounds <- seen_by_rounds(rounds, rate_up = .4, rate_down = .2)
  past <- past_of(rounds)
  for (name in c("tries", "wins", "last", "has_won")) {
    expect_identical(as.matrix(past$seen[[name]]), by_rounds[[name]], info = name)
  }
})

test_that("values from try to try of a group are those from round to round, generalised and with first values, too", {
  rounds <- games_with_a_gap()
  n <- sizes_of(rounds)
  of <- list(rate_up = (1:5) / 10, rate_down = .2, first_values = matrix(1:60 / 60, 5))
  expect_identical(learned_values(past_of(rounds)$arms, of, n), do.call(seen_by_rounds, c(list(rounds), of))$values)
  of$generalisation <- .3
  shared <- past_of(rounds, shared = TRUE)$arms
  expect_equal(learned_values(shared, of, n), do.call(seen_by_rounds, c(list(rounds), of))$values, tolerance = 1e-14)
})

test_that("last choices noted as games are replayed are those that are found in the replays", {
  rounds <- learner_games(n_games = 4, n_rounds = 10, n_classes = 2)
  for (policy in choice_policies()[c("greedy", "win_stay_lose_shift")]) {
    played <- replayed_rounds(rounds, policy, list(lapse = .3, stay_after_win = .7, stay_after_loss = .2), noted = TRUE)
    expect_identical(played$last, last_choices(within_list(played, last = NULL)))
  }
})
