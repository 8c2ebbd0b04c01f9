made_ratings <- function() {
  withr::with_seed(2, {
    rows <- expand.grid(template = 1:50, group = c("a", "b", "c"), model = c("m", "n"), stringsAsFactors = FALSE)
    rows$rating <- 3 + .5 * (rows$group == "b") + stats::rnorm(50)[rows$template] + stats::rnorm(nrow(rows))
    rows
  })
}

test_that("all pairs of levels are differences of marginal means, corrected for all", {
  rows <- made_ratings()
  fit <- mean_contrasts(rows, "rating", "group", cluster = "template")
  means <- marginal_means(rows, "rating", "group", cluster = "template")$estimates$estimate
  expect_equal(fit$estimates$term, c("group: b - a", "group: c - a", "group: c - b"))
  expect_equal(fit$estimates$estimate, c(means[[2]] - means[[1]], means[[3]] - means[[1]], means[[3]] - means[[2]]))
  expect_equal(fit$tables$contrasts$p_adjusted, stats::p.adjust(fit$estimates$p_value, "holm"))
  effects <- amce(rows, "rating", "group", cluster = "template")$estimates
  expect_equal(fit$estimates$std_error[1:2] * sqrt(299 / 297), effects$std_error, tolerance = 1e-8)
})

test_that("models are compared at each level, within the templates that both were asked", {
  rows <- made_ratings()
  fit <- mean_contrasts(rows, "rating", "group", cluster = "template", between = "model")
  a <- rows[rows$group == "a", ]
  difference <- a$rating[a$model == "n"] - a$rating[a$model == "m"]
  first <- fit$estimates[1, ]
  expect_equal(first$term, "group: a: n - m")
  expect_equal(c(first$estimate, first$std_error), c(mean(difference), stats::sd(difference) / sqrt(50)))
  expect_equal(unique(fit$tables$contrasts$n_compared), 3)
})

test_that("a level that one side was never shown has no difference there", {
  rows <- made_ratings()
  fit <- mean_contrasts(rows[!(rows$group == "c" & rows$model == "n"), ], "rating", "group", "template",
                        between = "model", correction = "none")
  expect_equal(fit$tables$contrasts$level, c("a", "b"))
  expect_equal(fit$tables$contrasts$p_adjusted, fit$estimates$p_value)
  expect_error(mean_contrasts(rows, "rating", "group", between = "group"), "must be no attribute")
})
