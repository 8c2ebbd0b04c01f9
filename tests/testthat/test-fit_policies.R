candidates_of <- function(rounds, ...) fit_policies(candidate_table(rounds), ...)$tables$candidates

test_in_full("players are recognised among the candidates by games that were not seen", {
  lapse <- list(lapse = .1)
  players <- list(
    random = list(), greedy = lapse, win_stay_lose_shift = list(stay_after_win = .95, stay_after_loss = .1),
    thompson = lapse, ucb = lapse
  )
  for (name in names(players)) {
    played <- played_games(choice_policies()[[name]], players[[name]], chances = rep(.9, 4), n_classes = 4)
    rows <- candidates_of(played)
    own <- rows[rows$policy == name, ]
    expect_gt(own$elpd_difference, -2 - 2 * own$se_difference, label = name)
    expect_true(own$passes, label = name)
  }
})

test_that("a candidate is fitted by maximum likelihood and compared over games", {
  rounds <- learner_games(n_games = 12, n_rounds = 20)
  candidates <- choice_policies()[c("random", "greedy", "learner")]
  fits <- lapply(candidates, policy_fit, rounds = rounds)
  nearby <- function(step) sum(game_log_lik(rounds, candidates$learner, fits$learner$searched + step))
  expect_gt(fits$learner$log_lik, max(nearby(c(.05, 0)), nearby(c(0, .05)), nearby(c(-.05, -.05))))
  expect_equal(fits$random$log_lik, -12 * 20 * log(4))
  fold <- rep(1:3, 4)
  elpd <- left_out_log_lik(rounds, candidates$learner, fits$learner, fold)
  expect_length(elpd, 12)
  expect_lt(sum(elpd), fits$learner$log_lik)
})

test_in_full("a player that only stays and shifts fails the replays of a learner", {
  stays <- list(stay_after_win = 1, stay_after_loss = 0)
  rounds <- played_games(choice_policies()$win_stay_lose_shift, stays, n_games = 30, chances = rep(.9, 4))
  policies <- choice_policies()[c("learner_perseveration", "win_stay_lose_shift")]
  passes <- withr::with_seed(2, vapply(policies, function(policy) {
    all(policy_replays(rounds, policy, policy_fit(policy, rounds))$checks$passes)
  }, NA))
  expect_equal(unname(passes), c(FALSE, TRUE))
})

test_that("from two starts a candidate comes to the same likelihood, to 1e-8, at a limit, too", {
  rounds <- learner_games(n_games = 8, n_rounds = 20)
  rounds$reward[] <- 1 # nothing is bad news: a rate goes to its limit
  apart <- vapply(choice_policies()[c("win_stay_lose_shift", "learner_lapse", "learner_two_rates")], function(policy) {
    start <- unlist(policy$start)
    first <- policy_fit(policy, rounds, start = start)
    second <- policy_fit(policy, rounds, start = start + .4 * (-1)^seq_along(start))
    abs(first$log_lik - second$log_lik)
  }, 0)
  expect_lt(max(apart), 1e-8)
})

test_in_full("from two starts people's choices come to the same loss, to 1e-8; to 1e-6 without the hold at a limit", {
  for (kind in c("identical", "different")) {
    rounds <- game_rounds(people_rounds(kind))
    for (policy in choice_policies()[c("learner_perseveration", "learner_lapse", "learner_two_rates")]) {
      start <- unlist(policy$start)
      first <- policy_fit(policy, rounds, start = start)
      second <- policy_fit(policy, rounds, start = start + .4 * (-1)^seq_along(start))
      expect_lt(abs(first$loss(first$searched) - second$loss(second$searched)), 1e-8)
      expect_lt(abs(first$log_lik - second$log_lik), 1e-6)
    }
  }
})

test_that("intervals of candidates end within the limits, errors are those of the delta method, none at a limit", {
  rounds <- learner_games(n_games = 8, n_rounds = 20)
  for (name in c("greedy", "learner_two_rates")) {
    fit <- policy_fit(choice_policies()[[name]], rounds)
    rows <- policy_estimates(name, fit)
    shares <- grepl(": (lapse|rate)", rows$term) & !is.na(rows$std_error)
    expect_true(all(rows$conf_low[shares] >= 0 & rows$conf_high[shares] <= 1))
    reported <- function(at) unlist(reported_parameters(as.list(at)))
    slopes <- vapply(seq_along(fit$searched), function(i) {
      step <- replace(0 * fit$searched, i, 1e-5)
      (reported(fit$searched + step) - reported(fit$searched - step)) / 2e-5
    }, reported(fit$searched))
    by_hand <- sqrt(diag(rbind(slopes) %*% policy_covariance(fit) %*% t(rbind(slopes))))
    expect_equal(rows$std_error, unname(by_hand), tolerance = 1e-4)
  }
  fit$searched[["lapse"]] <- -12.1
  expect_equal(is.na(policy_estimates(name, fit)$conf_low), grepl("lapse", rows$term))
})

test_that("the order of rows changes nothing", {
  rows <- candidate_table(learner_games(n_games = 4, n_rounds = 6))
  mixed <- rows[withr::with_seed(1, sample(nrow(rows))), ]
  expect_identical(game_rounds(mixed), game_rounds(rows))
})

test_that("where chances of success are not known, nothing is replayed and the verdict says so", {
  rows <- candidate_rows(
    learner_games(n_games = 4, n_rounds = 5),
    list(a = list(n_parameters = 0L, log_lik = -27.7), b = list(n_parameters = 1L, log_lik = -20)),
    list(a = rep(-6.9, 4), b = c(-5, -5, -6, -6)), list(a = NULL, b = NULL)
  )
  expect_equal(rows$is_best, c(FALSE, TRUE))
  expect_equal(rows$elpd_difference, c(-5.6, 0))
  expect_match(rows$verdict, "could not be replayed", all = TRUE)
})

test_that("points that are run side by side have the likelihoods and slopes of each alone", {
  rounds <- learner_games(n_games = 4, n_rounds = 10, n_classes = 2)
  rounds$choice[2, 3] <- 0
  policy <- choice_policies()$learner_two_rates
  points <- rbind(unlist(policy$start), unlist(policy$start) + .3)
  alone <- vapply(1:2, function(i) game_log_lik(rounds, policy, points[i, ]), double(4))
  expect_equal(lanes_log_lik(rounds, policy, points), alone, tolerance = 1e-12)
  of <- loss_with_slopes(rounds, policy, 1:4)
  along <- (of$loss(points[1, ] + 1e-4) - of$loss(points[1, ] - 1e-4)) / 2e-4
  expect_equal(sum(of$slopes(points[1, ])), along, tolerance = 1e-5)
})

test_that("slopes of learners are those of differences, at a limit, too", {
  rounds <- learner_games(n_games = 4, n_rounds = 15, n_classes = 2)
  rounds$choice[2, 3] <- 0
  for (name in c("learner", "learner_bonus", "learner_two_rates")) {
    policy <- choice_policies()[[name]]
    for (at in list(unlist(policy$start), unlist(policy$start) + .7, 13 * (-1)^seq_along(policy$start))) {
      names(at) <- names(policy$start)
      by_rule <- loss_with_slopes(rounds, policy, 1:4)$slopes(at)
      expect_equal(by_rule, loss_with_slopes(rounds, within_list(policy, slopes = NULL), 1:4)$slopes(at),
                   tolerance = 1e-6, ignore_attr = TRUE, info = name)
    }
  }
})

test_in_full("rate times sharpness, and perseveration, are found again in 30 games", {
  policy <- choice_policies()$learner_perseveration
  recovered <- function(seed) {
    withr::local_seed(seed)
    rate <- stats::plogis(stats::rnorm(1, -.5, 1))
    sharpness <- exp(stats::rnorm(1, 1.5, .6))
    of <- list(rate_up = rate, rate_down = rate, sharpness = sharpness, perseveration = stats::rnorm(1))
    games <- replayed_rounds(empty_games(30, 40, chances = rep(.5, 4), n_classes = 4), policy, of)
    found <- reported_parameters(as.list(policy_fit(policy, games)$searched))
    c(rate * sharpness, found$rate_up * found$sharpness, of$perseveration, found$perseveration)
  }
  known <- vapply(1:20, recovered, double(4))
  expect_gt(stats::cor(known[1, ], known[2, ]), .9)
  expect_gt(stats::cor(known[3, ], known[4, ]), .9)
})
