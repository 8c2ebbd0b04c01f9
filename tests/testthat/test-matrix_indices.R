counts <- data.frame(
  game = rep(1:3, each = 4), group = rep(c("A", "B"), 6), class = rep(c("high", "high", "low", "low"), 3),
  n = c(9, 1, 2, 8, 10, 0, 0, 10, 5, 5, 6, 4)
)

test_that("matrices give what their rounds do", {
  rounds <- counts[rep(seq_len(nrow(counts)), counts$n), ]
  rounds$choice <- rounds$group
  expected <- game_indices(rounds, n_draws = 50, n_random = 0)
  expect_equal(matrix_indices(counts, n_draws = 50), expected[!startsWith(names(expected), "random_")])
})

test_that("a class that no group was chosen for counts as one", {
  never <- rbind(counts, data.frame(game = 1, group = "A", class = "middle", n = 0))
  si <- function(data) matrix_indices(data, n_draws = 0)$estimate[[1]]
  expect_equal(si(never) - si(counts), log2(3) - log2(2))
})

test_that("what is no count is refused", {
  expect_error(matrix_indices(transform(counts, n = n / 2)), "whole numbers")
  expect_error(matrix_indices(counts[c("game", "n")]), "group")
})
