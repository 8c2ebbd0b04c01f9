test_that("answers at the floor, at the limit and cut off are counted in each condition", {
  trials <- data.frame(
    test = "a", condition = rep(c("incompatible", "compatible"), each = 4),
    tokens = c(0, 64, 512, 512, 64, 64, 128, 192),
    finish_reason = c("stop", "stop", "length", "max_tokens", NA, "stop", "stop", "stop"),
    outcome = c("answered", "answered", "truncated", "answered", rep("answered", 4)), token_limit = 512
  )
  found <- check_token_limits(trials, by = "test")
  expect_equal(found$condition, c("compatible", "incompatible"))
  expect_equal(found$n_truncated, c(0, 2))
  expect_equal(found$n_ended_known, c(3, 4))
  expect_equal(found$n_at_limit, c(0, 2))
  expect_equal(found[2, c("smallest", "n_at_smallest", "largest", "n_at_largest")], data.frame(
    smallest = 0, n_at_smallest = 1, largest = 512, n_at_largest = 2, row.names = 2L
  ))
  expect_equal(found$step, c(64, 64))
})

test_that("what is not told stays unknown", {
  found <- check_token_limits(data.frame(condition = "compatible", tokens = c(63, 64)))
  expect_equal(c(found$token_limit, found$n_at_limit), c(NA_real_, NA))
  expect_equal(c(found$n_ended_known, found$n_truncated, found$step), c(0, 0, 1))
})
