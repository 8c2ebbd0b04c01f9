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
  found <- marginal_means(rows, "hired", "group", "person", "weight")$estimates[1, ]
  is_a <- rows$group == "a"
  mean <- stats::weighted.mean(rows$hired[is_a], rows$weight[is_a])
  changes <- is_a * rows$weight * (rows$hired - mean) / sum(rows$weight[is_a])
  expect_equal(found$estimate, mean)
  expect_equal(found$std_error, sqrt(sum(rowsum(changes, rows$person)^2) * 50 / 49))
  expect_equal(found$conf_high, mean + stats::qt(.975, 49) * found$std_error)
})

test_that("groups of rows have means of their own, and n by level", {
  fit <- marginal_means(transform(answers(), model = rep(c("x", "y"), 100)), "hired", "group", by = "model")
  expect_equal(fit$estimates$model, rep(c("x", "y"), each = 3))
  expect_equal(sum(fit$tables$levels$n), 200)
})

test_that("an impact ratio is below four fifths only if its whole interval is", {
  ratios <- impact_ratio(answers(), "hired", "group", "person")$tables$ratios
  top <- ratios$rate == max(ratios$rate)
  expect_equal(ratios$ratio, ratios$rate / max(ratios$rate))
  expect_equal(is.na(ratios$conf_high), top)
  expect_equal(ratios$is_below_four_fifths[!top], ratios$conf_high[!top] < .8)
  expect_true(ratios$is_below_four_fifths[ratios$level == "c"])
})

test_that("independent rows give the ratio's error of the delta method, and a rate of 0 has no ratio", {
  hired <- rep(c(1, 0, 1, 0, 0), c(50, 50, 20, 60, 20))
  rows <- data.frame(group = rep(c("a", "b", "c"), c(100, 80, 20)), hired = hired)
  ratios <- impact_ratio(rows, "hired", "group")$tables$ratios
  expect_equal(ratios$ratio, c(1, .5, NA))
  by_hand <- sqrt((1 / 50 - 1 / 100 + 1 / 20 - 1 / 80) * 200 / 199)
  expect_equal(log(ratios$conf_high[[2]] / .5) / stats::qnorm(.975), by_hand)
  expect_match(impact_ratio(transform(rows, hired = 2 * hired), "hired", "group")$fits$error, "must be 0 or 1")
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
  expect_match(nested$fits$messages, "All rows of a level of \"item\" are in one cluster")
  expect_equal(nested$fits$status, "warned")
})
