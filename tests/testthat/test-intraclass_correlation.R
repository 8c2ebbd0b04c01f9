# Table 2 of Shrout and Fleiss (1979): six targets, four judges.
shrout_fleiss <- cbind(c(9, 6, 8, 7, 10, 6), c(2, 1, 4, 1, 5, 2), c(5, 3, 6, 2, 6, 4), c(8, 2, 8, 6, 9, 7))

test_that("the coefficients are those that Shrout and Fleiss print of their example", {
  found <- intraclass_correlation(shrout_fleiss)
  expect_equal(found$type, c("one_way", "agreement", "consistency"))
  expect_equal(round(found$estimate, 2), c(.17, .29, .71))
  expect_equal(c(found$n[[1]], found$k[[1]]), c(6, 4))
})

test_that("the mean squares are those of an analysis of variance", {
  long <- data.frame(
    rating = as.vector(shrout_fleiss), target = factor(rep(1:6, 4)), judge = factor(rep(1:4, each = 6))
  )
  table <- anova(stats::lm(rating ~ target + judge, long))
  squares <- mean_squares(shrout_fleiss)
  expect_equal(unlist(squares[c("between", "raters", "error")], use.names = FALSE), table[["Mean Sq"]])
  one_way <- anova(stats::lm(rating ~ target, long))
  expect_equal(intraclass_correlation(shrout_fleiss)$p_value[[1]], one_way[["Pr(>F)"]][[1]])
})

test_that("its intervals hold the true correlation as often as they say", {
  withr::local_seed(1)
  holds <- replicate(400, {
    true <- rnorm(30)
    found <- intraclass_correlation(cbind(true + rnorm(30), true + rnorm(30)))
    found$conf_low <= .5 & found$conf_high >= .5
  })
  # 95 % of 400, give or take three standard errors
  expect_true(all(abs(rowMeans(holds) - .95) < 3 * sqrt(.95 * .05 / 400)))
})

test_that("a rater who gives more throughout is consistent, and doesn't agree", {
  found <- intraclass_correlation(cbind(1:10, 1:10 + 5))
  expect_equal(found$estimate[[3]], 1)
  expect_lt(found$estimate[[2]], .5)
  expect_equal(intraclass_correlation(cbind(1:10, 1:10))$estimate, c(1, 1, 1))
  expect_equal(intraclass_correlation(cbind(1:10, 1:10))$conf_low, c(1, 1, 1))
})

test_that("what can't be correlated is said, and what doesn't vary is missing", {
  expect_error(intraclass_correlation(cbind(c("a", "b"), c("a", "b"))), "must be numbers, in two columns")
  expect_error(intraclass_correlation(cbind(c(1, NA), c(2, 3))), "at least two targets are needed, and there is 1")
  expect_true(all(is.na(intraclass_correlation(cbind(c(2, 2), c(2, 2)))$estimate)))
})
