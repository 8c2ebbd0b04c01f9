one_game <- function(source = "simulated", model = "a", n_rounds = 8, game = 1) {
  data.frame(
    source = source, model = model, variant = "main", game = game, round = seq_len(n_rounds),
    class = rep(c("x", "y"), length.out = n_rounds), choice = rep(c("g", "g", "h"), length.out = n_rounds)
  )
}

measured <- function(...) game_indices(..., n_draws = 0, n_random = 0)

test_that("collected games are never measured, or compared, together with simulated ones", {
  both <- rbind(one_game("simulated", game = 1), one_game("collected", game = 2))
  expect_error(measured(both), "more than one source", class = "slant_error")
  expect_equal(nrow(measured(both, by = "source")), 12)
  both$variant <- rep(c("main", "hot"), each = 8)
  expect_silent(compare_games(both, between = "source", n_draws = 20))
  twice <- rbind(both, transform(both, variant = rev(variant), game = game + 2))
  expect_error(compare_games(twice), "more than one source", class = "slant_error")
})

test_that("games that are called alike are not taken for one", {
  both <- rbind(one_game(model = "a"), one_game(model = "b"))
  expect_error(suppressWarnings(measured(both)), "a round more than once", class = "slant_error")
  expect_silent(measured(both, by = "model"))
})

test_that("models, answer formats and lengths of games that are put together are said", {
  expect_warning(measured(rbind(one_game(), one_game(model = "b", game = 2))), "more than one model .* a, b")
  expect_warning(measured(rbind(one_game(), one_game(n_rounds = 6, game = 2))), "Games of 6 to 8 rounds")
  formats <- rbind(
    cbind(one_game(), answer_format = "direct"),
    transform(cbind(one_game(game = 2), answer_format = "cot"), variant = "hot")
  )
  expect_warning(compare_games(formats, n_draws = 20), "more than one answer_format .* cot, direct")
})
