# The parameters of one draw as as.matrix() names them.
one_draw <- function(parameters) {
  named <- lapply(names(parameters), function(name) {
    values <- parameters[[name]]
    if (length(dim(values)) == 0) return(stats::setNames(values, name))
    places <- apply(arrayInd(seq_along(values), dim(values)), 1, paste, collapse = ",")
    stats::setNames(as.vector(values), sprintf("%s[%s]", name, places))
  })
  t(unlist(named))
}

test_in_full("Stan's likelihood of a learner is that of R", {
  skip_without_stan()
  rounds <- learner_games(n_games = 5, n_classes = 2)
  rounds$choice[2, 7] <- 0
  switches <- c(
    perseveration = TRUE, lapse = TRUE, two_rates = TRUE, bonus = TRUE, generalisation = TRUE, free_values = TRUE
  )
  model <- compiled_model(readLines(shipped_file(file.path("stan", "learner.stan"))))
  at <- withr::with_seed(5, stats::rnorm(7 + 8 + 3 + 15, sd = .3)) # parameters without limits, as Stan has them
  fits <- lapply(c(TRUE, FALSE), function(prior_only) {
    data <- learner_data(rounds, switches, prior_only)
    suppressWarnings(rstan::sampling(model, data = data, chains = 1, iter = 2, warmup = 1, refresh = 0))
  })
  of_stan <- diff(vapply(fits, function(fit) rstan::log_prob(fit, at, adjust_transform = FALSE), 0))
  expect_equal(learner_log_lik(rounds, one_draw(rstan::constrain_pars(fits[[2]], at))), of_stan, tolerance = 1e-8)
})

test_in_full("a learner's parameters are found again, and its replays pass", {
  skip_without_stan()
  fit <- fit_learning(candidate_table(learner_games(n_games = 20)), chains = 2, iterations = 1000, warmup = 500)
  truth <- c(rate = .3, sharpness = 6, perseveration = .5, lapse = .05)
  rows <- fit$estimates[match(names(truth), fit$estimates$term), ]
  expect_true(all(rows$conf_low < truth & truth < rows$conf_high))
  expect_true(fit$tables$learner$passes)
  expect_true(all(fit$tables$priors$is_identified))
  expect_equal(unique(fit$tables$counterfactuals$statistic), "one_minus_herfindahl")
})

test_in_full("a player that never varies has parameters that are not identified", {
  skip_without_stan()
  rounds <- empty_games(3, 10, chances = c(1, 1))
  rounds$choice[] <- 1
  rounds$reward[] <- 1
  fit <- fit_learning(candidate_table(rounds), chains = 1, iterations = 400, warmup = 200)
  expect_match(fit$fits$messages, "Not identified")
})

test_that("data for Stan hold the rounds game after game", {
  rounds <- learner_games(n_games = 2, n_rounds = 3)
  rounds$class[1, 3] <- 0
  data <- learner_data(rounds, c(perseveration = TRUE, lapse = FALSE))
  expect_equal(as.vector(data$begins), c(1, 4 - 1))
  expect_equal(as.vector(data$ends), c(2, 5))
  expect_equal(data$choice, as.integer(c(rounds$choice[1, 1:2], rounds$choice[2, ])))
  expect_equal(c(data$has_perseveration, data$has_lapse), c(1L, 0L))
})

test_that("what the posterior does not narrow is not identified, in words", {
  draws <- withr::with_seed(1, cbind(mu_rate = rnorm(400, sd = 1.4), mu_sharpness = rnorm(400, sd = .1)))
  rows <- prior_rows(draws, c(perseveration = FALSE))
  expect_equal(rows$is_identified, c(FALSE, TRUE))
  expect_match(identification_warning(rows), "Not identified .*: rate\\.")
})

test_that("settings of a learner that are none are sentences", {
  rows <- candidate_table(learner_games(n_games = 2, n_rounds = 3))
  expect_error(fit_learning(rows, lapse = "no"), "`lapse` must be TRUE or FALSE")
  expect_error(fit_policies(rows, folds = 1), "`folds` must be a whole number from 2")
})

test_in_full("a player that only stays and shifts fails the replays of a learner of many games", {
  skip_without_stan()
  stays <- list(stay_after_win = 1, stay_after_loss = 0)
  policy <- choice_policies()$win_stay_lose_shift # of 30 games p is .05 after Holm's correction
  rounds <- played_games(policy, stays, n_games = 60, chances = rep(.9, 4), n_classes = 4)
  fit <- fit_learning(candidate_table(rounds), chains = 2, iterations = 1000, warmup = 400)
  expect_false(fit$tables$learner$passes)
  expect_match(fit$fits$messages, "switch_after_success 0.000", fixed = TRUE)
})

test_in_full("a player that looks for what it knows least fails the replays of a learner", {
  skip_without_stan()
  rounds <- played_games(choice_policies()$ucb, list(lapse = 0), chances = rep(.9, 4), n_classes = 4)
  fit <- fit_learning(candidate_table(rounds), chains = 1, iterations = 400, warmup = 200)
  expect_false(fit$tables$learner$passes)
  si <- fit$tables$checks[fit$tables$checks$statistic == "si" & fit$tables$checks$kind == "mean", ]
  expect_lt(si$observed, si$conf_low)
  expect_false(si$passes)
})

test_that("indices are given with people's exploration, and what is none is a sentence", {
  rounds <- learner_games(n_games = 3, n_rounds = 10, n_classes = 2)
  games <- sprintf("%s[%d]", rep(c("rate", "sharpness", "perseveration"), each = 3), 1:3)
  draws <- matrix(rep(c(0, 6, .5), each = 3), 4, 9, byrow = TRUE, dimnames = list(NULL, games))
  draws <- cbind(draws, half_difference = 0, lapse = .05, bonus = 0, generalisation = 0)
  firsts <- matrix(.5, 4, 8, dimnames = list(NULL, sprintf("first[%d,%d]", rep(1:4, 2), rep(1:2, each = 4))))
  rows <- withr::with_seed(1, counterfactual_rows(rounds, cbind(draws, firsts), list(sharpness = 0, perseveration = 0)))
  of <- function(world) rows$predicted[rows$exploration == world & rows$statistic == "one_minus_herfindahl"]
  expect_equal(of("as people explore"), of("at random"), tolerance = .15)
  expect_gt(of("as people explore"), of("as fitted"))
  expect_error(checked_exploration(list(rate = .3)), "`people` must be a list of numbers by name")
})

test_that("games whose rates are not known can't be replayed, and nothing is said of replays", {
  rates <- learner_games(n_games = 2)
  rates$p[] <- NA
  expect_null(learner_checks(rates, NULL))
  expect_null(replay_warning(learner_checks(rates, NULL)))
})
