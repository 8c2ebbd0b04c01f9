test_that("a term that says each choice alone separates", {
  expect_true(separates(c(1, 0, 0, 2, 2, 1), c(TRUE, FALSE, FALSE, FALSE, TRUE, FALSE), 3))
  expect_false(separates(c(1, 0, 0, 2, 3, 1), c(TRUE, FALSE, FALSE, TRUE, FALSE, FALSE), 3))
  expect_false(separates(c(1, 1, 1), c(TRUE, FALSE, FALSE), 3))
})

skip_if_not_installed("survival")

test_that("people's choices come to the conditional logits that were computed elsewhere", {
  fit <- fit_choice(people_rounds("identical"))
  expect_equal(fit$estimates$term, c("mean", "sqrt_tries", "last", "last_won"))
  expect_equal(fit$estimates$estimate, c(3.051184, .3800185, -.8695736, 1.392894), tolerance = 1e-6)
  expect_equal(fit$estimates$std_error, c(.438072, .06728091, .1524453, .1651731), tolerance = 1e-6)
  expect_equal(fit$fits$log_lik, -4351.179, tolerance = 1e-6)
  expect_equal(fit$tables$sets$nats, 1.016631, tolerance = 1e-6)
  different <- fit_choice(people_rounds("different"))
  expect_equal(different$estimates$estimate, c(1.781773, .5336299, -.5553187, 1.854751), tolerance = 1e-6)
})

test_that("several classes and places in the prompt have terms of their own", {
  rows <- candidate_table(learner_games(n_games = 6, n_classes = 2))
  fit <- fit_choice(rows)
  expect_equal(fit$estimates$term, c("mean", "sqrt_tries", "last", "last_won", "others_mean", "shown_first"))
  expect_equal(fit$tables$terms$term, fit$estimates$term)
  expect_true(all(fit$tables$terms$vif >= 1))
  expect_equal(fit_choice(rows, terms = c("mean", "last"))$estimates$term, c("mean", "last"))
  expect_match(fit_choice(rows, terms = "men")$fits$error, "Terms there are: mean")
})

test_that("errors over few games are those of survival, on t with a degree of freedom less than there are games", {
  rows <- learner_games(n_games = 6)
  fit <- fit_choice(candidate_table(rows), terms = "mean")
  theirs <- with_robust_error(candidate_rows_of(rows), "mean")
  expect_equal(fit$estimates$std_error, unname(sqrt(diag(theirs$var) * 6 / 5)))
  expect_equal(fit$estimates$p_value, 2 * pt(-abs(fit$estimates$estimate / fit$estimates$std_error), 5))
})

test_that("separated choices are named and penalised", {
  stays <- list(stay_after_win = 1, stay_after_loss = 0)
  fit <- fit_choice(candidate_table(played_games(choice_policies()$win_stay_lose_shift, stays, n_games = 10)))
  expect_equal(fit$fits$status, "warned")
  expect_match(fit$fits$messages, "Choices are separated by .*Firth")
  expect_true(all(is.finite(fit$estimates$std_error)))
  expect_true(all(fit$tables$terms$is_penalised))
})

test_that("a term that is a combination of others is left out and named, not taken for one that separates", {
  rows <- candidate_rows_of(learner_games(n_games = 6))
  rows$others_mean <- 2 * rows$last - rows$mean
  terms <- c("mean", "last", "others_mean")
  expect_message(fit <- fit_choice_of(rows, terms), "Combinations of other terms, and left out: others_mean")
  expect_equal(fit$estimates$term, c("mean", "last"))
  rows$mean <- as.double(rows$set)
  expect_error(fit_choice_of(rows, "mean"), "no term differs between the groups of a round")
})

test_that("only the terms that separate choices are named", {
  stays <- list(stay_after_win = 1, stay_after_loss = .4) # one effect of winning is infinite, that of staying is not
  rows <- candidate_rows_of(played_games(choice_policies()$win_stay_lose_shift, stays, n_games = 10))
  model <- with_robust_error(rows, c("mean", "sqrt_tries", "last", "last_won"))
  expect_equal(separated_terms(model, rows), "last_won")
  expect_equal(separated_terms(model[c("coefficients", "run_off")], rows), "last_won")
})

test_that("one game has errors of its own, with a warning, and no policies are compared over it", {
  rows <- candidate_table(learner_games(n_games = 1))
  fit <- fit_choice(rows, terms = c("mean", "last"))
  expect_match(fit$fits$messages, "One game: standard errors are within it")
  expect_true(all(fit$estimates$std_error > 0))
  expect_match(fit_policies(rows)$fits$error, "Can't compare policies over one game")
})

test_that("Firth's estimates are nearer to 0 than the likeliest, and near them where there is much data", {
  rows <- candidate_rows_of(learner_games(n_games = 40))
  likeliest <- with_robust_error(rows, "mean")$coefficients
  penalised <- penalised_logit(rows, "mean")$coefficients
  expect_lt(penalised, likeliest)
  expect_equal(unname(penalised), unname(likeliest), tolerance = .01)
})

test_that("one group in every round is a failed fit with a reason", {
  rounds <- empty_games(2, 1)
  rounds$choice[] <- 1
  expect_match(fit_choice(candidate_table(rounds)[-8])$fits$error, "no term varies")
})

test_that("games that repeat one group have no fit, in a sentence", {
  rounds <- learner_games(n_games = 4)
  rounds$choice[] <- 1:4
  found <- fit_choice(candidate_table(rounds))$fits
  expect_equal(found$status, "failed")
  expect_match(found$messages, "Not identified: no game varies")
  expect_match(found$error, "each repeats the last of its class[.][[:space:]]+Who never varies")
})
