fixed <- list(rate_up = .3, rate_down = .3, sharpness = 5, perseveration = .2, lapse = .05)
learner <- list(weights = learner_shares)
log_lik_of <- function(rows, ...) {
  rounds <- game_rounds(rows)
  stats::setNames(rowSums(choice_log_lik(rounds, learner, utils::modifyList(fixed, list(...)))), rounds$games)
}

test_that("the likelihood of people's choices at fixed parameters is the one that was computed elsewhere", {
  two_rates <- list(rate_up = .4, rate_down = .2, perseveration = -.2)
  identical <- people_rounds("identical")
  found <- log_lik_of(identical)
  expect_equal(sum(found), -4332.22283593, tolerance = 1e-11)
  expect_equal(found[c("1", "2")], c("1" = -18.85449786, "2" = -25.45490056), tolerance = 1e-9)
  expect_equal(sum(do.call(log_lik_of, c(list(identical), two_rates))), -4435.66989888, tolerance = 1e-11)
  different <- people_rounds("different")
  expect_equal(sum(log_lik_of(different)), -3661.00693001, tolerance = 1e-11)
  expect_equal(sum(do.call(log_lik_of, c(list(different), two_rates))), -3808.72086354, tolerance = 1e-11)
})

test_in_full("candidates fitted to people reach the likelihoods that were computed elsewhere", {
  rounds <- game_rounds(people_rounds("identical"))
  names <- c("learner", "learner_perseveration", "learner_lapse", "learner_two_rates")
  found <- vapply(choice_policies()[names], function(policy) policy_fit(policy, rounds)$log_lik, 0)
  expect_equal(unname(found), c(-4286.83, -4271.724, -4262.3, -4205.881), tolerance = 1e-6)
})

test_that("nothing learned and nothing preferred is chance", {
  rounds <- learner_games(n_games = 3)
  nothing <- list(rate_up = 0, rate_down = 0, sharpness = 5, perseveration = 0, lapse = 0)
  expect_equal(rowSums(choice_log_lik(rounds, learner, nothing)), rep(-40 * log(4), 3))
})

test_that("a game by hand has the probabilities of the delta rule", {
  rounds <- empty_games(1, 3, chances = c(.5, .5))
  rounds$choice[1, ] <- c(1, 1, 2)
  rounds$reward[1, ] <- c(1, 0, 0)
  of <- list(rate_up = .5, rate_down = .25, sharpness = 2, perseveration = 1, lapse = .1, bonus = .5)
  # values of group 1: .5, .5 + .5 * .5 = .75, .75 - .25 * .75 = .5625
  first <- .5
  second <- plogis(2 * (.75 - .5) + 1 + .5 * (1 / sqrt(2) - 1))
  third <- plogis(2 * (.5625 - .5) + 1 + .5 * (1 / sqrt(3) - 1))
  expected <- log(.9 * c(first, second, 1 - third) + .05)
  expect_equal(as.vector(choice_log_lik(rounds, learner, of)), expected)
})

test_that("what is learned goes to other classes by the share that is generalised", {
  rounds <- empty_games(1, 2, chances = c(.5, .5), n_classes = 2)
  rounds$choice[1, ] <- c(1, 1)
  rounds$reward[1, ] <- c(1, 0)
  of <- list(rate_up = .5, rate_down = .5, sharpness = 2, generalisation = .5)
  expect_equal(choice_log_lik(rounds, learner, of)[[2]], log(plogis(2 * .5 * .5 * .5)))
  of$generalisation <- NULL
  expect_equal(choice_log_lik(rounds, learner, of)[[2]], log(.5))
})

test_that("games that are run in blocks have the likelihoods of all at once", {
  rounds <- learner_games(n_games = 5, n_rounds = 6, n_classes = 2)
  rounds$choice[2, 3] <- 0
  of <- utils::modifyList(fixed, list(sharpness = 1:5, first_values = matrix(1:40 / 40, 5)))
  expect_identical(choice_log_lik(rounds, learner, of, most = 12), choice_log_lik(rounds, learner, of))
})

test_that("other names of groups change nothing", {
  rows <- candidate_table(learner_games(n_games = 4))
  renamed <- transform(rows, group = c(a = "z", b = "k", c = "m", d = "b")[group])
  expect_equal(log_lik_of(rows), log_lik_of(renamed))
})

test_that("a round without a choice changes nothing but its own likelihood", {
  rounds <- learner_games(n_games = 2)
  without <- candidate_table(rounds)
  is_lost <- without$game == "1" & without$round == 40
  without$is_chosen[is_lost] <- FALSE
  whole <- choice_log_lik(rounds, learner, fixed)
  expect_message(lost <- game_rounds(without), "1 round without a choice")
  found <- choice_log_lik(lost, learner, fixed)
  expect_equal(found[-(2 * 39 + 1)], whole[-(2 * 39 + 1)])
  expect_equal(found[1, 40], 0)
})

test_that("rounds without numbers have no choice, unless numbers count something else; games of many are left out", {
  rows <- candidate_table(learner_games(n_games = 3))
  missing <- rows[!(rows$game == "2" & rows$round %in% 11:15) & !(rows$game == "1" & rows$round == 7), ]
  expect_warning(expect_message(rounds <- game_rounds(missing), "1 round without a choice"), "1 game left out, .*: 2")
  expect_equal(rounds$games, c("1", "3"))
  missing$round <- missing$round * 3
  expect_equal(suppressMessages(game_rounds(missing))$games, c("1", "2", "3"))
  rows$is_chosen[rows$game == "2" & rows$round > 30] <- FALSE
  expect_warning(rounds <- game_rounds(rows), "1 game left out, .* have no choice: 2")
  expect_equal(rounds$games, c("1", "3"))
})

test_that("games that were cut, or never vary, are counted", {
  rounds <- learner_games(n_games = 3)
  rounds$choice[1, ] <- 2
  rows <- candidate_table(rounds)
  said <- testthat::capture_messages(game_rounds(rows[rows$game != "3" | rows$round <= 4, ]))
  expect_match(said[[1]], "1 game with fewer rounds than others (4 of 40 and more)", fixed = TRUE)
  expect_match(said[[2]], "1 game without variation (one group in all rounds of a class)", fixed = TRUE)
  expect_warning(game_rounds(rows[rows$game == "1", ]), "Not identified: no game varies")
})

test_that("rewards on another scale are a sentence, and so are a round with two choices and one group", {
  rows <- candidate_table(learner_games(n_games = 2))
  expect_silent(game_rounds(transform(rows, is_success = as.numeric(is_success))))
  expect_error(game_rounds(transform(rows, is_success = 10 * is_success)), "on another scale.*points > 0")
  expect_error(game_rounds(transform(rows, is_chosen = TRUE)), "a round has more than one choice")
  expect_error(game_rounds(transform(rows, group = "a")), "one group only")
})

test_that("the chance to be the best group adds up to 1 and follows what was seen", {
  seen <- list(tries = rbind(c(0, 0, 0), c(10, 10, 0)), wins = rbind(c(0, 0, 0), c(9, 1, 0)))
  shares <- chances_to_be_best(seen)
  expect_equal(rowSums(shares), c(1, 1))
  expect_equal(shares[1, ], rep(1 / 3, 3))
  drawn <- withr::with_seed(1, matrix(rbeta(3e5, c(10, 2, 1), c(2, 10, 1)), 3))
  expect_equal(shares[2, ], tabulate(max.col(t(drawn)), 3) / 1e5, tolerance = .01)
})
