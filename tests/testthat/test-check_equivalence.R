test_that("the two one-sided tests are those of t.test() against the bounds in tokens", {
  trials <- made_trials(effect = 1, n_items = 60)
  found <- check_equivalence(trials, bound = .2)
  sides <- split(trials$tokens, trials$condition)
  pooled <- sqrt((var(sides$compatible) + var(sides$incompatible)) / 2)
  one_sided <- function(mu, side) {
    t.test(sides$incompatible, sides$compatible, mu = mu, alternative = side, var.equal = TRUE)$p.value
  }
  expect_equal(found$p_equivalence, max(one_sided(-.2 * pooled, "greater"), one_sided(.2 * pooled, "less")))
  expect_equal(found$p_difference, t.test(sides$incompatible, sides$compatible, var.equal = TRUE)$p.value)
  interval <- t.test(sides$incompatible, sides$compatible, var.equal = TRUE, conf.level = .9)$conf.int / pooled
  expect_equal(c(found$conf_low, found$conf_high), as.vector(interval))
  expect_equal(found$d, effect_size(trials)$estimates$estimate)
})

test_that("there are four findings", {
  of <- function(effect, n_items, bound) check_equivalence(made_trials(effect, 0, n_items), bound = bound)$finding
  expect_equal(of(0, 400, .2), "equivalent")
  expect_equal(of(30, 12, .1), "different")
  expect_equal(of(1.5, 400, .3), "both")
  expect_equal(of(0, 3, .1), "undecided")
})

test_that("the smallest bound is where equivalence just begins, and too few trials are told", {
  trials <- made_trials(effect = 1)
  smallest <- check_equivalence(trials)$smallest_bound
  expect_lt(check_equivalence(trials, bound = smallest * 1.001)$p_equivalence, .05)
  expect_gt(check_equivalence(trials, bound = smallest * .999)$p_equivalence, .05)
  expect_false(check_equivalence(trials, bound = .1)$is_possible)
  expect_true(check_equivalence(trials, bound = .5)$is_possible)
  expect_error(check_equivalence(trials, bound = 0), "above 0")
})
