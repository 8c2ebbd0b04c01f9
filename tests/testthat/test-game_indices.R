# Rounds of games whose matrices (rows are groups, columns classes) are given.
rounds_of <- function(matrices) {
  do.call(rbind, lapply(seq_along(matrices), function(game) {
    cells <- which(matrices[[game]] > 0, arr.ind = TRUE)
    n <- matrices[[game]][cells]
    data.frame(game = game, choice = rep(letters[cells[, 1]], n), class = rep(paste0("c", cells[, 2]), n))
  }))
}

estimates <- function(found) stats::setNames(found$estimate, found$index)

printed_games <- function() {
  printed <- utils::read.csv(shared_path("published", "hiring_matrices.csv"))
  do.call(rbind, lapply(1:4, function(class) {
    n <- printed[[paste0("class_", class)]]
    data.frame(
      model = rep(printed$model_prompt, n), game = rep(printed$run, n), choice = rep(printed$group_rank, n),
      class = class
    )
  }))
}

test_that("each group in a class of its own is the highest, and all alike is nothing", {
  apart <- game_indices(rounds_of(list(diag(5, 4), diag(5, 4))), n_draws = 0, n_random = 0)
  expect_equal(unname(estimates(apart)), c(2, sqrt(log(2)), 0, 2, 1, 0))
  moved <- game_indices(rounds_of(list(diag(5, 4), diag(5, 4)[c(2, 3, 4, 1), ])), n_draws = 0, n_random = 0)
  expect_equal(unname(estimates(moved)), c(2, sqrt(log(2)), sqrt(log(2)), 2, 1, 1))
  alike <- game_indices(rounds_of(list(matrix(3, 4, 4), matrix(2, 4, 4))), n_draws = 0, n_random = 0)
  expect_equal(alike$estimate, rep(0, 6))
})

test_that("a group that was never hired is left out, and one group alone has no distance", {
  rounds <- rounds_of(list(rbind(c(4, 0), c(0, 0), c(0, 4)), rbind(c(3, 1), 0, 0)))
  found <- game_indices(rounds, n_draws = 0, n_random = 0)
  in_fourths <- -sum(c(.75, .25) * log2(c(.75, .25)))
  expect_equal(estimates(found)[["si"]], mean(c(1, 1 - in_fourths)))
  expect_equal(estimates(found)[["bgd"]], sqrt(log(2)))
  expect_equal(found$n_games, rep(2L, 6))
})

test_that("the intervals are those of t over games, and of games drawn again", {
  withr::local_seed(1)
  games <- lapply(1:12, function(k) matrix(stats::rpois(16, 2), 4))
  found <- game_indices(rounds_of(games), n_draws = 500, n_random = 0)
  by_game <- vapply(seq_along(games), function(k) {
    game_indices(rounds_of(games[k]), n_classes = 4, n_draws = 0, n_random = 0)$estimate[[1]]
  }, 1)
  expect_equal(c(found$conf_low[[1]], found$conf_high[[1]]), as.numeric(t.test(by_game)$conf.int))
  expect_true(all(found$boot_low < found$boot_high))
  expect_true(is.na(found$conf_low[[3]]))
  theirs <- stats::power.t.test(12, sd = stats::sd(by_game), power = .8, type = "one.sample", strict = TRUE, tol = 1e-9)
  expect_equal(found$mde[[1]], theirs$delta, tolerance = 1e-4)
  expect_equal(is.na(found$mde), is.na(found$conf_low))
  expect_equal(game_indices(rounds_of(games), n_draws = 500, n_random = 0), found)
})

test_that("fewer than five games have a t interval, but none of games drawn again", {
  withr::local_seed(1)
  games <- lapply(1:5, function(k) matrix(stats::rpois(16, 2), 4))
  four <- game_indices(rounds_of(games[1:4]), n_draws = 50, n_random = 0)
  expect_true(all(is.na(four$boot_low)) && all(is.na(four$boot_high)) && !is.na(four$conf_low[[1]]))
  five <- game_indices(rounds_of(games), n_draws = 50, n_random = 0)
  expect_true(all(five$boot_low < five$boot_high))
})

test_that("the level of chance is that of such a cell, with its jobs and rounds", {
  withr::local_seed(1)
  jobs <- data.frame(job = 1:15, class = rep(c("a", "b", "c", "d"), c(3, 4, 4, 4)))
  rows <- cbind(game = rep(1:10, each = 40), choice = sample(4, 400, TRUE), jobs[sample(15, 400, TRUE), ])
  found <- game_indices(rows, n_draws = 0, n_random = 30)
  chance <- random_level(class_sizes = c(3, 4, 4, 4), n_games = 10, n_cells = 30)
  expect_equal(found[c("random_level", "random_low", "random_high")], chance[2:4], ignore_attr = TRUE)
  pooled <- cbind(game = 1, choice = sample(4, 60, TRUE), jobs[rep(1:15, 4), ])
  alike <- random_level(60, class_sizes = c(3, 4, 4, 4), balanced = TRUE, n_games = 1, n_cells = 30)
  expect_equal(game_indices(pooled, n_draws = 0, n_random = 30)$random_level, alike$level)
})

test_that("chance chooses among all groups and classes, those never chosen and never drawn too", {
  rounds <- rounds_of(list(diag(8, 2), diag(8, 2)))
  found <- game_indices(rounds, n_draws = 0, n_random = 20, n_groups = 4, class_sizes = c(3, 2, 2))
  chance <- random_level(16, 4, c(2, 2, 3), n_games = 2, n_cells = 20)
  expect_equal(found$random_level, chance$level)
  expect_equal(estimates(found)[["si"]], log2(3))
})

test_that("SI and half-width of the printed matrices come out", {
  found <- game_indices(printed_games(), by = "model", n_draws = 0, n_random = 0)
  si <- found[found$index == "si", ]
  expect_equal(round(si$conf_high - si$estimate, 3), c(.165, .133))
  expect_equal(si$estimate, c(.891, 1.303), tolerance = .001)
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(game_indices(data.frame(game = 1, class = "a", group = "b")))
    write_error(game_indices(data.frame(game = 1, class = "a", choice = NA)))
    write_error(game_indices(data.frame(game = 1, class = "a", choice = "b"), n_draws = -1))
  })
})

test_that("games of one class have no index, and a sentence says so", {
  rows <- candidate_table(learner_games(n_games = 6))
  rows <- transform(rows[rows$is_chosen, ], choice = group)
  expect_message(found <- game_indices(rows, n_draws = 10, n_random = 5), "one class of jobs have no SI")
  expect_true(all(is.na(found[c("estimate", "conf_low", "boot_low", "random_level")])))
  expect_equal(unique(found$n_games), 6)
})
