# Short fits of real chains: 5 s each, with the compiled model that all tests share.
recovered <- function(delta_p, sd_item = .5) {
  parameters <- forced_choice_parameters()
  is_crossed <- parameters$condition == "incongruent" & parameters$test == "gender_career"
  parameters$p_consistent <- ifelse(is_crossed, .95 - delta_p, .95)
  parameters$sd_item_consistent <- sd_item
  trials <- simulate_forced_choice(parameters, seed = 3)
  settings <- list(chains = 1, iterations = 500, warmup = 200, adapt_delta = .9, seed = 1)
  with_truth(recovered_effects(trials, settings), parameters, 1)
}

skip_if_not_installed("brms")

test_in_full("a large difference between conditions is found with its sign and size, and none where there is none", {
  found <- recovered(.3)
  is_career <- found$test == "gender_career"
  expect_equal(found$truth, ifelse(is_career, .3, 0))
  expect_true(all(found$conf_low[is_career] > .1))
  expect_lt(max(abs(found$estimate - found$truth)), .12)
  expect_true(all(found$conf_low[!is_career] < .02 & found$conf_high[!is_career] > -.02))
})

test_in_full("recovery is the same on any number of cores, and its truths are those of the parameters", {
  recover <- function(cores) {
    recover_contrasts(2, "paper", n_words = 3, chains = 1, iterations = 200, warmup = 100, cores = cores)
  }
  one <- recover(1)
  expect_identical(recover(2), one)
  expect_equal(one$truth, rep(c(.086, .020, .017, .002, .004, .001), 2))
  expect_false(identical(one$estimate[1:6], one$estimate[7:12]))
})
