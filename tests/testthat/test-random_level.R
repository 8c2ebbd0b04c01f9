test_that("40 rounds of four groups come to the level that is known of chance", {
  found <- random_level(n_cells = 60)
  expect_equal(found$level[1:3], c(.275, .296, .294), tolerance = .02)
  expect_true(all(found$level_low < found$level & found$level < found$level_high))
  expect_equal(random_level(n_cells = 60), found)
})

test_that("unequal classes raise it, and jobs that come equally often lower it", {
  expect_equal(random_level(class_sizes = c(3, 4, 4, 4), n_cells = 60)$level[[1]], .287, tolerance = .02)
  expect_equal(random_level(balanced = TRUE, n_cells = 60)$level[[1]], .218, tolerance = .02)
})

test_that("400 pooled rounds have a level of their own, and one game has no GASI", {
  pooled <- random_level(n_rounds = 400, balanced = TRUE, n_games = 1, n_cells = 400)
  expect_equal(pooled$level[[1]], .0165, tolerance = .05)
  expect_true(is.na(pooled$level[[3]]))
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(random_level(n_rounds = 0))
    write_error(random_level(class_sizes = c(5, 0)))
    write_error(random_level(n_rounds = 30, balanced = TRUE))
  })
})
