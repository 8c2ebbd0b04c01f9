ordered_trials <- function(first) {
  trials <- made_trials()
  trials$first_option <- first(trials)
  trials
}

by_condition <- function(trials) ifelse(trials$condition == "compatible", "Career", "Family")

balanced <- function(trials) ifelse((trials$item + trials$wording) %% 2 == 0, "Career", "Family")

test_that("an order that changes with the condition can't be told from it", {
  found <- check_option_order(ordered_trials(by_condition))
  expect_true(found$is_confounded)
  expect_equal(found$association, 1)
  expect_equal(found$estimate_order, NA_real_)
})

test_that("a balanced order has an effect of its own, as in a model fitted directly", {
  trials <- ordered_trials(balanced)
  trials$tokens <- trials$tokens + 9 * (trials$first_option == "Family")
  found <- check_option_order(trials)
  direct <- lmerTest::lmer(tokens ~ condition + first_option + (1 | wording), data = trials)
  table <- coef(summary(direct))
  expect_false(found$is_confounded)
  expect_equal(found$association, 0)
  expect_equal(c(found$estimate, found$estimate_order), unname(table[2:3, "Estimate"]), tolerance = 1e-6)
  expect_equal(c(found$p_value, found$p_order), unname(table[2:3, "Pr(>|t|)"]), tolerance = 1e-4)
})

test_that("an order that is the same in all trials is not confounded and has no effect to estimate", {
  found <- check_option_order(ordered_trials(function(trials) "Career"))
  expect_equal(found[c("n_orders", "is_confounded", "estimate_order")], data.frame(
    n_orders = 1L, is_confounded = FALSE, estimate_order = NA_real_
  ))
})
