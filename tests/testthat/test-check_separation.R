test_that("cells in which all answers are alike are told, with the exact interval", {
  answers <- data.frame(
    condition = rep(c("usual", "crossed"), each = 20), is_consistent = c(rep(TRUE, 20), rep(c(TRUE, FALSE), 10))
  )
  found <- check_separation(answers, levels = c("usual", "crossed"))
  expect_equal(found$is_separated, c(TRUE, FALSE))
  expect_equal(found$conf_low[[1]], .025^(1 / 20))
  expect_equal(found$rate, c(1, .5))
})

test_that("missing answers take no part", {
  answers <- data.frame(condition = "usual", is_consistent = c(TRUE, NA, FALSE))
  expect_equal(check_separation(answers, levels = "usual")$n, 2)
})
