test_in_full("with p = 1 each group keeps to one class, whichever the experiment", {
  games <- simulate_structured_games(p = 1, n_games = 20, reassigned = 0)
  keys <- interaction(games$experiment, games$game, games$choice, drop = TRUE)
  expect_true(all(tapply(games$class, keys, function(class) length(unique(class))) == 1))
  expect_equal(as.vector(table(games$game)), rep(3 * 40, 20))
})

test_in_full("groups may share a class in the experiment on SI only, and unmapped classes are not drawn there", {
  games <- simulate_structured_games(p = 1, n_games = 250, n_rounds = 30, reassigned = 0)
  key <- interaction(games$experiment, games$game, drop = TRUE)
  n_classes <- tapply(games$class, key, function(classes) length(unique(classes)))
  of <- sub("[.].*", "", names(n_classes))
  expect_true(all(n_classes[of != "si"] == 4))
  expect_setequal(n_classes[of == "si"], 1:4)
})

test_in_full("with p = 0 the experiments on BGD and SI are games of chance", {
  games <- simulate_structured_games(p = 0, experiments = c("si", "bgd"), n_games = 200, reassigned = 0)
  tilted <- games[games$experiment == "bgd", ]
  expect_gt(stats::chisq.test(table(tilted$class, tilted$choice))$p.value, .001)
  shared <- games[games$experiment == "si", ]
  expect_gt(stats::chisq.test(table(shared$choice))$p.value, .001)
})

test_in_full("the mapping of games is one with p = 1, and all are as likely with p = 0", {
  games <- simulate_structured_games(p = c(0, 1), experiments = "gasi", n_games = 200)
  mappings <- unique(games[c("p", "game", "class", "choice")])
  dots_of_first <- function(p) table(mappings$choice[mappings$p == p & mappings$class == "class 1"])
  expect_equal(unname(c(dots_of_first(1))), 200)
  expect_gt(stats::chisq.test(dots_of_first(0))$p.value, .001)
})

test_in_full("a share of hires is reassigned", {
  games <- simulate_structured_games(p = 1, experiments = "bgd", n_games = 500, reassigned = .2)
  counts <- table(games$game, games$choice, games$class)
  # three of four reassigned hires go to another group than their own
  expect_equal(1 - sum(apply(counts, c(1, 3), max)) / sum(counts), .2 * 3 / 4, tolerance = .03)
})

test_in_full("one seed gives the same games, and leaves R's own stream alone", {
  set.seed(5)
  before <- stats::runif(1)
  set.seed(5)
  games <- simulate_structured_games(p = .5, n_games = 2)
  expect_equal(stats::runif(1), before)
  expect_identical(simulate_structured_games(p = .5, n_games = 2), games)
  expect_false(identical(simulate_structured_games(p = .5, n_games = 2, seed = 2)$choice, games$choice))
})

test_in_full("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(simulate_structured_games(p = 1.2))
    write_error(simulate_structured_games(experiments = "sigma"))
    write_error(simulate_structured_games(n_groups = 5))
    write_error(simulate_structured_games(reassigned = NA))
    write_error(simulate_structured_games(n_games = 0))
  })
})
