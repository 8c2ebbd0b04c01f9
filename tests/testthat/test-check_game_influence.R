even_games <- function() {
  withr::local_seed(5)
  data.frame(
    game = rep(1:8, each = 40), class = rep(c("high", "low"), 160), choice = sample(c("x", "y"), 320, TRUE)
  )
}

test_that("one game that is all stereotype decides that the index is above chance, even games decide nothing", {
  rounds <- even_games()
  expect_false(any(check_game_influence(rounds, n_random = 100)$changes_conclusion))
  is_odd <- rounds$game == 3
  rounds$choice[is_odd] <- ifelse(rounds$class[is_odd] == "high", "x", "y")
  found <- check_game_influence(rounds, n_random = 100)
  si <- found[found$index == "si", ]
  expect_equal(si$left_out[si$changes_conclusion], "3")
  expect_equal(si$left_out[si$is_influential], "3")
})

test_that("the index without a game is that of the others", {
  rounds <- even_games()
  found <- check_game_influence(rounds, n_random = 10)
  others <- game_indices(rounds[rounds$game != 2, ], n_draws = 0, n_random = 0)
  here <- found[found$left_out == "2", ]
  expect_equal(here$estimate, others$estimate[match(here$index, others$index)])
})

test_that("two games are too few, and that is said", {
  found <- check_game_influence(even_games()[1:80, ], n_random = 10)
  expect_match(found$messages, "three are needed")
})
