answers <- function() {
  withr::local_seed(3)
  data.frame(model = rep(c("a", "b"), each = 20), d = c(rnorm(40, .3)))
}

test_that("t, df, p and the interval are those of R's t.test", {
  data <- answers()
  found <- t_test(data, "d", by = "model", mu = .1)$estimates
  direct <- t.test(data$d[data$model == "b"], mu = .1)
  expect_equal(found$model, c("a", "b"))
  expect_identical(found$statistic[[2]], unname(direct$statistic))
  expect_identical(found$p_value[[2]], direct$p.value)
  expect_identical(c(found$conf_low[[2]], found$conf_high[[2]]), as.numeric(direct$conf.int))
  expect_equal(found$df, c(19, 19))
})

test_that("missing values are left out and counted, never zeros", {
  data <- answers()
  data$d[1:5] <- NA
  found <- t_test(data, "d")
  expect_equal(c(found$fits$n, found$fits$n_missing), c(35, 5))
  expect_equal(found$estimates$estimate, mean(data$d, na.rm = TRUE))
})

test_that("an outcome that does not vary has a mean, and neither t nor p", {
  found <- t_test(data.frame(d = c(1, 1, 1)), "d")
  expect_equal(found$estimates$estimate, 1)
  expect_true(all(is.na(found$estimates[c("statistic", "p_value", "conf_low", "conf_high")])))
  expect_equal(found$fits$status, "warned")
  expect_match(found$fits$messages, "is 1 in all rows: t and p are not defined")
})

test_that("a single answer has no test, and says so", {
  found <- t_test(data.frame(d = c(.5, NA)), "d")
  expect_equal(nrow(found$estimates), 0)
  expect_match(found$fits$messages, "needs two rows: there is one")
})

test_that("wrong arguments are one sentence", {
  expect_error(t_test(answers(), "bias"), "no column \"bias\"")
  expect_error(t_test(answers(), "d", mu = NA), "`mu` must be one number")
})
