games <- function(n_cut) {
  withr::local_seed(4)
  rounds <- expand.grid(round = 1:12, game = 1:6)
  rounds$class <- rep(c("high", "low"), 36)
  rounds$choice <- sample(c("x", "y"), 72, TRUE)
  is_cut <- rounds$game <= n_cut
  rounds$is_complete <- !is_cut
  rounds$ended_as <- ifelse(is_cut, "refused", NA)
  rounds$choice[is_cut & rounds$round == 5] <- NA
  rounds[!is_cut | rounds$round <= 5, ]
}

test_that("games that were cut short are counted, and the indices stand next to those of all", {
  found <- check_games_ended(games(2))
  expect_equal(unique(found[c("n_games", "n_complete", "n_refused", "last_round")]), data.frame(
    n_games = 6L, n_complete = 4L, n_refused = 2L, last_round = 5
  ))
  complete <- game_indices(games(2)[games(2)$is_complete, ], n_draws = 0, n_random = 0)
  expect_equal(found$estimate, complete$estimate[match(found$index, complete$index)])
  expect_false(isTRUE(all.equal(found$estimate, found$estimate_all)))
})

test_that("without any both are the same", {
  found <- check_games_ended(games(0))
  expect_equal(found$estimate, found$estimate_all)
  expect_true(all(is.na(found$last_round)))
})
