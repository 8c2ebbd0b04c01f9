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
  expect_true(found$is_sign_kept_by_missing)
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
  expect_false(bounds(answers_with(values(40, 20, 40), values(30, 30, 40)))$is_sign_kept_by_missing)
  whole <- bounds(answers_with(values(40, 20, 0), values(30, 30, 0)))
  expect_equal(c(whole$delta_p_lowest, whole$delta_p_highest), rep(whole$delta_p, 2))
  expect_true(is.na(bounds(answers_with(values(0, 0, 5), values(3, 3, 0)))$delta_p))
})

test_that("the interval is Newcombe's own example", { # Newcombe (1998), Table II, method 10: 56/70 - 48/80
  found <- share_difference(56, 70, 48, 80)
  expect_equal(round(c(found$conf_low, found$conf_high), 4), c(.0524, .3339))
})

test_that("a sign that missing answers keep may still be chance: the interval of Imbens and Manski says so", {
  few <- bounds(answers_with(values(9, 1, 0), values(8, 2, 0)))
  expect_true(few$is_sign_kept_by_missing)
  expect_lt(few$bounds_conf_low, 0)
  expect_gt(few$bounds_conf_high, 0)
})

test_that("the interval of bounds lies between a normal one and one-sided limits", {
  expect_equal(interval_of_bounds(.2, .2, .1, .1), .2 + c(-1, 1) * stats::qnorm(.975) * .1, tolerance = 1e-6)
  expect_equal(interval_of_bounds(-5, 5, .1, .2), c(-5, 5) + c(-.1, .2) * stats::qnorm(.95), tolerance = 1e-6)
})

test_that("the interval of bounds holds the difference in 95 of 100 samples, whatever is missing", {
  withr::local_seed(1)
  holds <- replicate(400, {
    draw <- function(p, missing) ifelse(stats::runif(100) < missing, NA, stats::runif(100) < p)
    found <- bounds_of_difference(draw(.7, .02), draw(.5, .02), "is_consistent")
    found$bounds_conf_low <= .2 && .2 <= found$bounds_conf_high
  })
  expect_gt(mean(holds), .93)
})
