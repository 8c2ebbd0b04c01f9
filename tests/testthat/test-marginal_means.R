answers <- function() {
  with_seed(3, {
    rows <- expand.grid(place = 1:4, person = 1:50)
    rows$group <- sample(c("a", "b", "c"), 200, TRUE)
    rows$weight <- stats::runif(200, .5, 2)
    rows$hired <- as.integer(stats::rnorm(200) + stats::rnorm(50)[rows$person] > c(a = 0, b = .2, c = 2)[rows$group])
    rows
  })
}

test_that("a marginal mean is the weighted mean of its rows, its error that of sums by cluster", {
  rows <- answers()
  found <- marginal_means(rows, "hired", "group", "person", "weight", correction = "cregg")$estimates[1, ]
  is_a <- rows$group == "a"
  mean <- stats::weighted.mean(rows$hired[is_a], rows$weight[is_a])
  changes <- is_a * rows$weight * (rows$hired - mean) / sum(rows$weight[is_a])
  expect_equal(found$estimate, mean)
  expect_equal(found$std_error, sqrt(sum(rowsum(changes, rows$person)^2) * 50 / 49))
  expect_equal(found$conf_high, mean + stats::qnorm(.975) * found$std_error)
})

test_that("groups of rows have means of their own, and n by level", {
  fit <- marginal_means(transform(answers(), model = rep(c("x", "y"), 100)), "hired", "group", by = "model")
  expect_equal(fit$estimates$model, rep(c("x", "y"), each = 3))
  expect_equal(sum(fit$tables$levels$n), 200)
})

test_that("levels that the rows have and the list lacks are a sentence", {
  fit <- marginal_means(answers(), "hired", "group", levels = list(group = c("a", "b")))
  expect_match(fit$fits$error, "lacks values that are in the rows: \"c\"")
})

test_that("a level within one cluster has no standard error of 0", {
  rows <- data.frame(item = rep(c("a", "b"), each = 50), y = withr::with_seed(1, rnorm(100)))
  nested <- marginal_means(rows, "y", "item", cluster = "item")
  alone <- marginal_means(rows, "y", "item")
  expect_equal(nested$estimates, alone$estimates)
  expect_false(any(alone$estimates$std_error < 1e-6))
  expect_match(nested$fits$messages, "All rows of a level of \"item\" are in one cluster")
  expect_equal(nested$fits$status, "warned")
})

test_that("intervals of shares stay within 0 and 1 and have a width, whatever the clusters", {
  y <- rep(c(1, 1, 0, 1), c(40, 38, 1, 1))
  rows <- data.frame(group = rep(c("a", "b"), each = 40), y = y, item = rep(1:16, each = 5))
  for (cluster in list(NULL, "item")) {
    found <- marginal_means(rows, "y", "group", cluster)$estimates
    expect_true(all(found$conf_low > 0 & found$conf_high <= 1))
    expect_true(all(found$conf_high - found$conf_low > .02))
    expect_true(is.na(found$std_error[[1]])) # 40 of 40: unknown, not 0
  }
})
