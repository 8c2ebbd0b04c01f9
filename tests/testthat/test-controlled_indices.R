test_that("SI and BGD rise with the structure and GASI falls, between the ends that are known", {
  found <- controlled_indices(p = c(0, .5, 1), n_draws = 0, reassigned = 0)
  of <- function(index) found$estimate[found$index == index]
  expect_true(all(diff(of("si")) > 0) && all(diff(of("bgd")) > 0) && all(diff(of("gasi")) < 0))
  expect_equal(c(of("si")[[3]], of("bgd")[[3]], of("gasi")[[3]]), c(2, sqrt(log(2)), 0))
  # one class in four is a group's own by chance: a random mapping of two games differs in the others
  expect_equal(of("gasi")[[1]], .75 * sqrt(log(2)), tolerance = .1)
})

test_that("at p = 0 BGD is that of chance, and SI above it, because classes may be left out", {
  found <- controlled_indices(p = 0, experiments = c("si", "bgd"), n_games = 200, n_draws = 0, reassigned = 0)
  chance <- random_level(n_games = 30, n_cells = 100)
  expect_equal(found$estimate[[2]], chance$level[[2]], tolerance = .05)
  expect_gt(found$conf_low[[1]], chance$level_high[[1]])
})
