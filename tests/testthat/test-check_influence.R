estimates_left_out <- function() {
  data.frame(
    test = "a", term = c("all", "without 1", "without 2", "without 3"), estimate = c(10, 11, -2, 4),
    std_error = c(2, 2, 2, 3), p_value = c(.001, .001, .3, .2)
  )
}

test_that("Cook's distance is the squared change in squared standard errors of the whole", {
  found <- check_influence(estimates_left_out(), by = "test")
  expect_equal(found$left_out, c("1", "2", "3"))
  expect_equal(found$change, c(1, -12, -6))
  expect_equal(found$cooks_distance, c(.25, 36, 9))
  expect_equal(found$is_influential, c(FALSE, TRUE, TRUE))
  expect_equal(found$changes_sign, c(FALSE, TRUE, FALSE))
  expect_equal(found$changes_conclusion, c(FALSE, TRUE, TRUE))
})

test_that("one prompt that makes the effect alone is found", {
  trials <- made_trials(effect = 0, wording_sd = 0)
  is_it <- trials$wording == 7 & trials$condition == "incompatible"
  trials$tokens[is_it] <- trials$tokens[is_it] + 200
  fit <- fit_leave_one_out(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = conditions))
  found <- check_influence(fit$estimates)
  expect_equal(found$left_out[[which.max(found$cooks_distance)]], "7")
  expect_true(found$changes_conclusion[found$left_out == "7"])
})

test_that("a group that has nothing to compare is one row that says why, and the others go on", {
  broken <- transform(estimates_left_out()[2:4, ], test = "b")
  found <- check_influence(rbind(estimates_left_out(), broken), by = "test")
  expect_equal(found$test, c("a", "a", "a", "b"))
  expect_equal(found$cooks_distance, c(.25, 36, 9, NA))
  expect_equal(found$status, c("ok", "ok", "ok", "failed"))
  expect_match(found$messages[[4]], "one term \"all\"")
})

test_that("nothing fitted is no rows, and other estimates are one sentence", {
  expect_equal(nrow(check_influence(estimates_left_out()[0, ], by = "test")), 0)
  expect_match(check_influence(fit_made(made_trials())$estimates)$messages, "one term \"all\"")
})
