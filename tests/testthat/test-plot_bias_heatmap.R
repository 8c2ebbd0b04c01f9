made_tiles <- function() {
  rows <- expand.grid(test = c("talks", "pages"), model = c("a", "b"), stringsAsFactors = FALSE)
  rows <- transform(rows, source = "simulated", mean_d = c(.9, -.7, .02, NA), sd_d = .3, n_d = 40, n_trials = 42)
  rows[nrow(rows), "n_d"] <- 0
  rows
}

test_that("every model and test has a tile, an empty one where there is no value, and a star apart from the middle", {
  tiles <- heat_map_tiles(bias_to_draw(made_tiles()), 0)
  expect_equal(tiles$text, c(".90*", ".02", "-.70*", "-"))
  expect_equal(as.character(tiles$model_shown), c("a", "b", "a", "b"))
  expect_equal(tiles$is_apart, c(TRUE, FALSE, TRUE, FALSE))
  almost <- transform(made_tiles(), mean_d = c(-.001, 1, -1, 0))
  expect_equal(heat_map_tiles(bias_to_draw(almost), 0)$text, c("0", "-1*", "1*", "0"))
})

test_figure("decisions are drawn around a half, and the words count what is apart", {
  rows <- transform(made_tiles(), share_expected = c(.9, .1, .5, .6), n_decided = 40, n_conversations = 42)
  words <- attr(plot_bias_heatmap(rows), "alt_text")
  expect_match(words, "Of 4 shares, 1 lie above .5 with their interval, 1 below")
  expect_match(attr(plot_bias_heatmap(made_tiles()), "alt_text"), "1 tile is empty")
})

test_looks("bias heat map", plot_bias_heatmap(made_tiles()))
