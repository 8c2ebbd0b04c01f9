test_that("points that nobody gave, both ends and respondents who always say the same are counted", {
  rows <- data.frame(
    respondent = rep(c("a", "b", "c"), each = 4), rating = c(4, 4, 4, 4, 1, 2, 7, 7, 7, 4, 2, 1)
  )
  found <- check_scale_use(rows, limits = c(1, 7), respondent = "respondent")
  expect_equal(found$never_used, "3, 5, 6")
  expect_equal(c(found$n_used, found$n_respondents, found$n_same), c(4, 3, 1))
  expect_equal(c(found$share_lowest, found$share_highest), c(2, 3) / 12)
  expect_equal(c(found$commonest, found$share_commonest), c(4, 5 / 12))
})

test_that("each group is looked at alone, and an answer beyond the scale fails its group", {
  rows <- data.frame(model = c("m", "m", "n", "n"), rating = c(1, 5, 3, 9))
  found <- check_scale_use(rows, by = "model", limits = c(1, 5))
  expect_equal(found$status, c("ok", "failed"))
  expect_match(found$messages[[2]], "1 answer outside of `limits`")
})
