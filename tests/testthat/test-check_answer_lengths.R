test_that("answers that shrink along the rounds are seen, constant ones have no trend", {
  rounds <- data.frame(round = rep(1:20, 3), condition = rep(c("high", "low"), 30), output_tokens = 100 - rep(1:20, 3))
  found <- check_answer_lengths(rounds, levels = c("high", "low"))
  expect_equal(found$trend, c(-1, -1))
  expect_gt(found$first_quarter[[1]], found$last_quarter[[1]])
  expect_true(all(is.na(check_answer_lengths(transform(rounds, output_tokens = 5), levels = c("high", "low"))$trend)))
})

test_that("lengths that nobody counted are left out, and none at all is told", {
  rounds <- data.frame(round = 1:4, condition = "high", output_tokens = c(1, 2, NA, 4))
  expect_equal(check_answer_lengths(rounds, levels = "high")$n, 3)
  expect_equal(check_answer_lengths(transform(rounds, output_tokens = NA_real_), levels = "high")$status, "failed")
})
