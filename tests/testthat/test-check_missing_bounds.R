answers_with <- function(usual, crossed) {
  data.frame(
    condition = rep(c("usual", "crossed"), c(length(usual), length(crossed))), is_consistent = c(usual, crossed)
  )
}
values <- function(n_true, n_false, n_missing) rep(c(TRUE, FALSE, NA), c(n_true, n_false, n_missing))
bounds <- function(answers) check_missing_bounds(answers, levels = c("usual", "crossed"))

test_that("the bounds are the difference with missing answers all one way, and each its own", {
  found <- bounds(answers_with(values(80, 10, 10), values(50, 30, 20)))
  expect_equal(found$delta_p, 80 / 90 - 50 / 80)
  expect_equal(found$delta_p_all_true, .9 - .7)
  expect_equal(found$delta_p_all_false, .8 - .5)
  expect_equal(c(found$delta_p_lowest, found$delta_p_highest), c(.8 - .7, .9 - .5))
  expect_true(found$is_sign_certain)
})

test_that("whatever missing answers would have been lies inside the bounds", {
  withr::local_seed(1)
  answers <- answers_with(values(40, 20, 15), values(30, 25, 25))
  found <- bounds(answers)
  filled <- replicate(100, {
    is_missing <- is.na(answers$is_consistent)
    answers$is_consistent[is_missing] <- runif(sum(is_missing)) < runif(1)
    bounds(answers)$delta_p
  })
  expect_true(all(filled >= found$delta_p_lowest & filled <= found$delta_p_highest))
})

test_that("enough missing answers leave the sign open, and without any the bounds are the difference", {
  expect_false(bounds(answers_with(values(40, 20, 40), values(30, 30, 40)))$is_sign_certain)
  whole <- bounds(answers_with(values(40, 20, 0), values(30, 30, 0)))
  expect_equal(c(whole$delta_p_lowest, whole$delta_p_highest), rep(whole$delta_p, 2))
  expect_true(is.na(bounds(answers_with(values(0, 0, 5), values(3, 3, 0)))$delta_p))
})

test_that("the interval is Newcombe's own example", { # Newcombe (1998), Table II, method 10: 56/70 - 48/80
  found <- share_difference(56, 70, 48, 80)
  expect_equal(round(c(found$conf_low, found$conf_high), 4), c(.0524, .3339))
})
