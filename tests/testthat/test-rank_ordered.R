matrix_of <- function(ranked, value = "n") {
  unclass(stats::xtabs(stats::reformulate(c("group_rank", "class_rank"), value), ranked))
}

test_that("the largest cell comes first on the diagonal, then the largest that is left", {
  counts <- expand.grid(group = c("A", "B", "C"), class = c("x", "y", "z"), game = 1)
  counts$n <- c(1, 7, 2, 5, 6, 0, 3, 4, 2)
  ranked <- rank_ordered(counts)
  expect_equal(diag(matrix_of(ranked)), c(7, 5, 2), ignore_attr = TRUE)
  expect_equal(ranked$choice[ranked$class_rank == 1], c("B", "A", "C"))
  expect_equal(unique(ranked$class), c("x", "y", "z"))
})

test_that("ordering moves rows and columns only: SI and BGD stay, in games of any shape", {
  games <- simulate_structured_games(p = .5, experiments = "si", n_games = 12, n_groups = 5, class_sizes = c(3, 4, 4))
  ranked <- rank_ordered(games)
  again <- ranked[rep(seq_len(nrow(ranked)), ranked$n), ]
  ordered <- data.frame(game = again$game, choice = again$group_rank, class = again$class_rank)
  within <- c("si", "bgd", "mutual_information_bits", "bgd_divergence_bits")
  of <- function(rounds) {
    found <- game_indices(rounds, n_classes = 3, n_draws = 0, n_random = 0)
    found$estimate[found$index %in% within]
  }
  expect_equal(of(ordered), of(games))
  expect_equal(as.vector(tapply(ranked$n, ranked$game, sum)), rep(40, 12))
})

test_that("printed matrices are in this order already", {
  printed <- utils::read.csv(shared_path("published", "hiring_matrices.csv"))
  long <- do.call(rbind, lapply(1:4, function(class) {
    data.frame(
      model = printed$model_prompt, game = printed$run, choice = printed$group_rank, class = class,
      n = printed[[paste0("class_", class)]]
    )
  }))
  ranked <- rank_ordered(long, by = "model")
  both <- merge(
    ranked[c("model", "game", "group_rank", "class_rank", "n")], long,
    by.x = c("model", "game", "group_rank", "class_rank"), by.y = c("model", "game", "choice", "class")
  )
  expect_equal(nrow(both), 960)
  expect_equal(both$n.x, both$n.y)
})

test_that("rounds and their counts come to the same, and a group never chosen has no share", {
  rounds <- data.frame(game = 1, class = c("x", "x", "y"), choice = c("A", "A", "B"), model = "m")
  counts <- expand.grid(game = 1, class = c("x", "y"), group = c("A", "B", "C"), model = "m")
  counts$n <- c(2, 0, 0, 1, 0, 0)
  ranked <- rank_ordered(counts, by = "model")
  expect_equal(ranked[ranked$choice != "C", "n"], rank_ordered(rounds, by = "model")$n)
  expect_true(all(is.na(ranked$share[ranked$choice == "C"])))
  expect_equal(ranked$share[ranked$group_rank == 1], c(1, 0))
})
