test_in_full("the statistics of a game are those that are counted by hand", {
  rounds <- empty_games(1, 4, chances = c(.5, .5))
  rounds$choice[1, ] <- c(1, 1, 2, 2)
  rounds$reward[1, ] <- c(1, 0, 1, 1)
  found <- game_statistics(rounds, 1)
  expect_equal(found$one_minus_herfindahl, .5)
  expect_equal(found$switch_after_success, 0) # rounds 2 and 4
  expect_equal(found$switch_after_failure, 1) # round 3
  expect_equal(found$groups_tried, 1)
})

test_in_full("indices of replays are those of game_indices()", {
  rounds <- learner_games(n_games = 6, n_classes = 4, chances = rep(.9, 4))
  rows <- candidate_table(rounds)
  chosen <- rows[rows$is_chosen, ]
  chosen$choice <- chosen$group
  known <- game_indices(chosen, n_draws = 0, n_random = 0)
  found <- game_statistics(rounds, 1)
  for (name in c("si", "bgd", "gasi")) expect_equal(found[[name]], known$estimate[known$index == name], info = name)
})

test_in_full("statistics of the true player are outside 95 % of its replays in about one of twenty", {
  of <- list(lapse = .2)
  greedy <- choice_policies()$greedy
  p_values <- unlist(lapply(2001:2030, function(seed) {
    rounds <- played_games(greedy, of, n_games = 10, n_rounds = 20, seed = seed)
    lanes <- withr::with_seed(seed + 1000, replayed_rounds(chosen_games(rounds, rep(1:10, 200)), greedy, of))
    replay_checks(game_statistics(rounds, 1), game_statistics(lanes, 200))$p_value
  }))
  expect_lt(mean(p_values < .05), .1)
  expect_gt(mean(p_values < .5), .35)
})

test_in_full("games whose chances are not known can't be replayed", {
  rounds <- learner_games(n_games = 2)
  rounds$p <- NULL
  expect_error(replayed_rounds(rounds, choice_policies()$greedy, list(lapse = 0)), "chances of success")
})

test_in_full("GASI of replays is that of the indices of games", {
  rounds <- learner_games(n_games = 12, n_rounds = 12, n_classes = 3)
  rounds$choice[3, ] <- 1
  of_draw <- function(draw) {
    counts <- counts_of_choices(chosen_games(rounds, (draw - 1) * 4 + 1:4))
    weighted_indices(measured_games(counts), equal_weights(4))[1, "gasi"]
  }
  expect_equal(gasi_by_draw(counted_choices(rounds), 3), unname(vapply(1:3, of_draw, 0)))
})

test_in_full("a call that is close goes on from the replays that there are, one that is clear does not", {
  random <- choice_policies()$random
  asked_of <- function(rounds, ...) {
    asked <- list()
    withr::with_seed(1, compared_replays(rounds, function(draws) {
      asked <<- c(asked, list(range(draws)))
      replayed_rounds(chosen_games(rounds, rep(1:4, length(draws))), random, NULL)
    }, ...))
    asked
  }
  close <- played_games(random, NULL, n_games = 4, n_rounds = 12, seed = 5)
  expect_equal(asked_of(close)[1:2], list(c(1, 250), c(251, 500)))
  expect_equal(asked_of(close, n_draws = 400, at_most = 400), list(c(1, 250), c(251, 400)))
  close$choice[] <- 1
  expect_equal(asked_of(close), list(c(1, 250)))
})
