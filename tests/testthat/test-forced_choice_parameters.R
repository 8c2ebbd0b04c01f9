test_that("the default differences between conditions are the printed ones of Table 1", {
  truths <- true_contrasts(forced_choice_parameters())
  delta_p <- truths[truths$scale == "delta_p", ]
  expect_equal(delta_p$truth, c(.086, .020, .017, .002, .004, .001))
  expect_equal(sign(truths$truth[truths$scale == "s"]), rep(1, 6))
})

test_in_full("draws from the prior centre where the analysis puts its intercept, and repeat with the seed", {
  means <- vapply(1:400, function(seed) {
    mean(stats::qlogis(forced_choice_parameters("prior", seed)$p_consistent))
  }, 1)
  expect_equal(c(mean(means), stats::sd(means)), c(3, 1.5), tolerance = .1)
  expect_identical(forced_choice_parameters("prior", 7), forced_choice_parameters("prior", 7))
})

test_in_full("the difference between two cells of the reference model is one coefficient, of standard deviation 1", {
  s <- vapply(1:400, function(seed) true_contrasts(forced_choice_parameters("prior", seed))$truth[[2]], 1)
  expect_equal(c(mean(s), stats::sd(s)), c(0, 1), tolerance = .1)
})

test_that("the truths of a seed don't hang on R's option for contrasts", {
  found <- forced_choice_parameters("prior", 2)
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  expect_equal(forced_choice_parameters("prior", 2), found)
})
