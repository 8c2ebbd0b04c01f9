# Games of 24 rounds; with the chance `leaning` a group gets the class of its own number.
made_games <- function(variant, leaning, n_games = 12, model = "a", seed = 1) {
  withr::local_seed(seed)
  n <- 24 * n_games
  class <- sample(4, n, TRUE)
  choice <- ifelse(stats::runif(n) < leaning, class, sample(4, n, TRUE))
  data.frame(model = model, variant = variant, game = rep(seq_len(n_games), each = 24), class = class, choice = choice)
}

test_that("a large difference is found with its sign, and a shared way of leaning makes games alike", {
  data <- rbind(made_games("main", 0), made_games("steer_bonus", .9, seed = 2))
  found <- compare_games(data, n_draws = 199)
  expect_equal(found$index, c("si", "bgd", "gasi"))
  expect_equal(found$difference > 0, c(TRUE, TRUE, FALSE))
  expect_equal(found$p_value, rep(1 / 200, 3))
  expect_true(all(found$boot_low > 0 | found$boot_high < 0))
  plain <- game_indices(data, by = "variant", n_draws = 0, n_random = 0)
  difference <- plain$estimate[plain$variant == "steer_bonus"] - plain$estimate[plain$variant == "main"]
  expect_equal(found$difference, difference[1:3])
})

test_that("p is spread evenly where nothing differs", {
  p <- vapply(1:30, function(seed) {
    data <- rbind(made_games("main", 0, 6, seed = seed), made_games("other", 0, 6, seed = 1000 + seed))
    compare_games(data, indices = "si", n_draws = 39)$p_value
  }, 1)
  expect_lt(mean(p < .1), .3)
  expect_gt(mean(p), .3)
})

test_that("all comparisons of an index are corrected together", {
  data <- rbind(
    made_games("main", 0), made_games("hot", 0, seed = 3), made_games("main", 0, model = "b", seed = 4),
    made_games("hot", .5, model = "b", seed = 5)
  )
  found <- compare_games(data, by = "model", indices = "si", n_draws = 199)
  expect_equal(found$model, c("a", "b"))
  expect_equal(found$n_comparisons, c(2L, 2L))
  expect_equal(found$p_adjusted, stats::p.adjust(found$p_value, "holm"))
  expect_equal(compare_games(data, by = "model", indices = "si", n_draws = 199), found)
})

test_that("permutations too few for so many comparisons are said, and how many it takes", {
  data <- rbind(made_games("main", 0), made_games("hot", .9, seed = 3), made_games("cold", .9, seed = 4))
  expect_warning(found <- compare_games(data, indices = "si", n_draws = 30), "no corrected p can be below 0.065")
  expect_equal(found$p_adjusted, rep(2 / 31, 2))
  expect_warning(compare_games(data, indices = "si", n_draws = 30), "`n_draws` must be 39 or more")
  expect_silent(compare_games(data, indices = "si", n_draws = 39))
  expect_silent(compare_games(data, indices = "si", n_draws = 30, adjust = "BH"))
})

test_that("fewer than five games on a side are not drawn again, but dealt out", {
  found <- compare_games(rbind(made_games("main", 0), made_games("hot", .9, n_games = 4)), n_draws = 99)
  expect_true(all(is.na(found$boot_low)) && all(is.na(found$boot_high)) && !anyNA(found$p_value))
})

test_that("kinds of games that both conditions hold are dealt out, and drawn again, each on its own", {
  data <- rbind(
    made_games("main", 0, 8), made_games("hot", .25, 8, seed = 2),
    transform(rbind(made_games("main", .8, 8, seed = 3), made_games("hot", .95, 8, seed = 4)), model = "b",
              game = game + 8)
  )
  apart <- compare_games(data, indices = "si", n_draws = 199, strata = "model")
  expect_warning(mixed <- compare_games(data, indices = "si", n_draws = 199), "more than one model")
  expect_equal(apart$difference, mixed$difference)
  expect_lt(apart$p_value, mixed$p_value)
  expect_lt(apart$boot_high - apart$boot_low, (mixed$boot_high - mixed$boot_low) / 2)
  whole <- compare_games(data, by = "model", indices = "si", n_draws = 49)
  expect_equal(compare_games(data, by = "model", indices = "si", n_draws = 49, strata = "model"), whole)
})

test_that("the standard error of a mean is that of a t test, and GASI's that of leaving out each game", {
  data <- rbind(made_games("main", .3, 8), made_games("hot", .6, 6, seed = 2))
  found <- compare_games(data, n_draws = 49)
  of_games <- lapply(c("main", "hot"), function(variant) {
    lapply(split(data[data$variant == variant, ], data$game[data$variant == variant]), function(rows) rows)
  })
  si <- lapply(of_games, vapply, function(rows) game_indices(rows, n_draws = 0, n_random = 0)$estimate[1], 1)
  expect_equal(found$std_error[1], sqrt(stats::var(si[[1]]) / 8 + stats::var(si[[2]]) / 6))
  welch <- stats::t.test(si[[1]], si[[2]])
  expect_equal(t_test_power(found$mde[1], welch$stderr, welch$parameter[[1]]), .8, tolerance = 1e-6)
  gasi_without <- function(games) {
    vapply(seq_along(games), function(n) {
      game_indices(do.call(rbind, games[-n]), n_draws = 0, n_random = 0)$estimate[3]
    }, 1)
  }
  variance <- function(left_out) (length(left_out) - 1) * mean((left_out - mean(left_out))^2)
  expect_equal(found$std_error[3], sqrt(sum(vapply(lapply(of_games, gasi_without), variance, 1))))
})

test_that("two games on a side say nothing of how much GASI varies there", {
  found <- compare_games(rbind(made_games("main", 0), made_games("hot", .9, n_games = 2)), n_draws = 19)
  expect_equal(is.na(found$p_value), c(FALSE, FALSE, TRUE))
  expect_false(anyNA(found$p_unstudentised))
})

test_in_full("small p come as often as they should where the side with fewer games varies more", {
  rates <- unequal_games_p(n_data_sets = 400, n_games = c(10, 30), seed = 1)
  expect_lt(rates$studentised, .08)
  expect_gt(rates$unstudentised, .15)
})

test_that("the other way round is the same with the other sign, and the same games do not differ", {
  data <- rbind(made_games("main", 0), made_games("hot", .5, seed = 3))
  found <- compare_games(data, reference = "main", n_draws = 49)
  turned <- compare_games(data, reference = "hot", n_draws = 49)
  expect_equal(turned$difference, -found$difference)
  same <- compare_games(rbind(made_games("main", .2), made_games("again", .2)), n_draws = 49)
  expect_equal(same$difference, c(0, 0, 0))
  expect_equal(same$p_value, c(1, 1, 1))
  expect_true(all(same$boot_low < 0 & same$boot_high > 0))
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(compare_games(made_games("main", 0)))
    write_error(compare_games(made_games("main", 0), indices = "SI"))
    write_error(compare_games(made_games("main", 0), adjust = "none at all"))
    write_error(compare_games(made_games("main", 0), n_draws = 0))
  })
})
