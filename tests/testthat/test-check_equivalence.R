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

test_that("of effects over words and wordings it has their standard errors and degrees of freedom", {
  effects <- data.frame(
    model = c("a", "b", "c"), estimate = c(5, 2, NA), std_error = c(4, 4, NA), df = c(9, 200, NA),
    p_value = c(.2, .6, NA), sd = c(100, 100, NA), generalises_to = c("wording, item", "item", "item")
  )
  found <- check_equivalence(effects, bound = .12, by = "model")
  expect_equal(found$model, c("a", "b"))
  expect_equal(found$d, c(.05, .02))
  expect_equal(found$p_equivalence, stats::pt(c((5 - 12) / 4, (2 - 12) / 4), c(9, 200)))
  expect_equal(found$finding, c("not decided", "equivalent within the bound"))
  expect_equal(found$generalises_to, c("wording, item", "item"))
  expect_equal(found$percentile, rep(100 * stats::pnorm(.12), 2))
})

test_that("there are three verdicts, from the bound alone", {
  of <- function(effect, n_items, bound) check_equivalence(made_trials(effect, 0, n_items), bound = bound)$finding
  expect_equal(of(0, 400, .2), "equivalent within the bound")
  expect_equal(of(30, 12, .1), "differs by more than the bound")
  expect_equal(of(1.5, 400, .3), "equivalent within the bound") # significant, and yet smaller than the bound
  expect_equal(of(0, 3, .1), "not decided")
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
