stepped_trials <- function(step = 64) {
  withr::local_seed(3)
  condition <- rep(conditions, each = 200)
  tokens <- step * ceiling(pmax(0, rnorm(400, 90, 80) + 50 * (condition == "incompatible")) / step)
  data.frame(condition = condition, condition_no = match(condition, conditions), tokens = tokens)
}

test_that("the drawn d's are those of a plain loop from the same seed", {
  trials <- stepped_trials()
  found <- step_sensitivity(trials, n_draws = 20, seed = 7)$estimates
  # step_sensitivity() draws for the reference first, and so does this data frame
  withr::with_seed(7, {
    drawn <- replicate(20, {
      anew <- runif(400, trials$tokens - 63, trials$tokens)
      effect_size(transform(trials, tokens = anew))$estimates$estimate
    })
  }, .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion", .rng_sample_kind = "Rejection")
  expect_equal(found$estimate[[1]], mean(drawn))
  expect_equal(found$std_error[[1]], sd(drawn))
  expect_equal(c(found$conf_low[[1]], found$conf_high[[1]]), unname(quantile(drawn, c(.025, .975))))
})

test_that("the same seed gives the same numbers, another one others, and the session's own stay", {
  trials <- stepped_trials()
  set.seed(1)
  before <- .Random.seed
  first <- step_sensitivity(trials, n_draws = 10)
  expect_identical(step_sensitivity(trials, n_draws = 10), first)
  expect_identical(.Random.seed, before)
  expect_false(identical(step_sensitivity(trials, n_draws = 10, seed = 2)$estimates, first$estimates))
})

test_that("the step is found in the counts, and a count of 0 is drawn or kept", {
  trials <- stepped_trials(step = 10)
  found <- step_sensitivity(trials, n_draws = 10)
  expect_match(found$fits$optimiser, "10 draws, step 10,")
  expect_equal(found$estimates$term, c("cohens_d", "cohens_d_zeros_kept"))
  expect_false(found$estimates$estimate[[1]] == found$estimates$estimate[[2]])
  without_zeros <- step_sensitivity(subset(trials, tokens > 0), n_draws = 10)$estimates
  expect_equal(without_zeros$estimate[[1]], without_zeros$estimate[[2]])
})

test_that("counts without a step are d itself, without a spread, and a message says so", {
  trials <- rbind(
    transform(stepped_trials(), model = "stepped"),
    transform(stepped_trials(), model = "exact", tokens = tokens + seq_along(tokens))
  )
  found <- step_sensitivity(trials, by = "model", n_draws = 5)
  expect_equal(found$fits$status, c("ok", "ok"))
  expect_match(found$fits$messages[[2]], "steps of 1: nothing is drawn")
  exact <- subset(found$estimates, model == "exact")
  expect_equal(exact$std_error, c(0, 0))
  expect_equal(exact$estimate[[1]], effect_size(subset(trials, model == "exact"))$estimates$estimate)
  expect_equal(exact$conf_low, exact$estimate)
})

test_that("the step is that of all rows of the model, not of one test", {
  trials <- rbind(
    transform(stepped_trials(), model = "stepped", test = "a"),
    transform(stepped_trials(128), model = "stepped", test = "b"),
    transform(stepped_trials(), model = "exact", test = "a", tokens = tokens + seq_along(tokens)),
    transform(stepped_trials(2), model = "exact", test = "b")
  )
  found <- step_sensitivity(trials, by = c("model", "test"), n_draws = 5)
  expect_match(found$fits$optimiser, "^(5 draws, step 64|0 draws, step 1),")
  expect_equal(grepl("step 64", found$fits$optimiser), c(TRUE, TRUE, FALSE, FALSE))
  trials$its_step <- ifelse(trials$model == "stepped", 64, 1)
  expect_equal(step_sensitivity(trials, by = c("model", "test"), n_draws = 5, step = "its_step"), found)
})

test_that("counts of one value above 0 tell no step", {
  trials <- transform(stepped_trials(), tokens = ifelse(tokens > 64, 64, 0))
  expect_match(step_sensitivity(trials, n_draws = 5)$fits$error, "fewer than two different counts above 0")
  expect_equal(step_sensitivity(trials, n_draws = 5, step = 64)$fits$status, "ok")
})

test_that("wrong arguments are one sentence", {
  expect_snapshot({
    write_error(step_sensitivity(stepped_trials(), n_draws = 1))
    write_error(step_sensitivity(stepped_trials(), seed = "x"))
    write_error(step_sensitivity(stepped_trials(), step = 0))
  })
  not_its_step <- step_sensitivity(stepped_trials(), step = 100)$fits$error
  expect_match(not_its_step, "Not all counts are multiples of the step 100")
})
