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

test_that("a contrast of crossed factors is within their cells, as the effect is, and in one table with its p", {
  rows <- expand.grid(job = sprintf("j%d", 1:8), group = c("a", "b", "c"), stringsAsFactors = FALSE)
  rows$rating <- 3 + 2 * match(rows$job, unique(rows$job)) + withr::with_seed(1, stats::rnorm(24, 0, .1))
  rows$item <- paste(rows$job, rows$group)
  fit <- mean_contrasts(rows, "rating", c("job", "group"), "item")
  effects <- amce(rows, "rating", c("job", "group"), "item")$estimates
  of_group <- fit$tables$contrasts[fit$tables$contrasts$attribute == "group", ]
  additive <- summary(stats::lm(rating ~ group + job, rows))$coefficients
  expect_equal(of_group$std_error[[1]], additive["groupb", "Std. Error"])
  expect_lt(of_group$std_error[[1]], 2 * effects$std_error[effects$term == "group: b"])
  expect_true(all(c("estimate", "conf_low", "conf_high", "p_value", "p_adjusted") %in% names(of_group)))
})

test_that("few missing answers leave the error of items nearly as it is without them", {
  rows <- expand.grid(job = 1:5, age = c("25", "45"), group = c("a", "b"), template = c("p", "l"), n = 1:4)
  rows$item <- paste(rows$job, rows$age, rows$group)
  rows$rating <- withr::with_seed(1, .3 * stats::rnorm(20)[factor(rows$item)] + stats::rnorm(160))
  contrasts <- function(rows) {
    declared <- list(cells = c("job", "age", "group", "template"))
    mean_contrasts(rows, "rating", c("job", "group"), "item", declared = declared)$estimates[1:10, ]
  }
  by_item <- stats::aggregate(rating ~ item + job + age + group, rows, mean)
  of_items <- summary(stats::lm(rating ~ factor(job) + age * group, by_item))
  expect_equal(contrasts(rows)$std_error, rep(of_items$coefficients["factor(job)2", "Std. Error"], 10))
  expect_equal(contrasts(rows)$df, rep(of_items$df[[2]], 10))
  lacking <- contrasts(rows[-c(5, 25, 50), ])
  expect_equal(lacking$std_error, contrasts(rows)$std_error, tolerance = .05)
  expect_equal(lacking$df, rep(12, 10), tolerance = .01)
})

test_that("pairs of a property come before pairs of what has it, over the clusters that it is a property of", {
  rows <- expand.grid(job = 1:3, name = sprintf("n%d", 1:8), stringsAsFactors = FALSE)
  rows$gender <- ifelse(rows$name < "n5", "w", "m")
  rows$y <- withr::with_seed(1, stats::rnorm(24))
  declared <- list(properties = list(gender = "name"), cells = c("name", "job"))
  fit <- mean_contrasts(transform(rows, item = paste(name, job)), "y", c("name", "gender"), "item", declared = declared)
  expect_equal(fit$tables$contrasts$clusters[c(1, 2)], c("name", "item"))
  expect_equal(fit$tables$contrasts$term[[1]], "gender: w - m")
  by_name <- stats::aggregate(y ~ name + gender, rows, mean)
  expect_equal(fit$estimates$p_value[[1]], stats::t.test(y ~ gender, by_name, var.equal = TRUE)$p.value)
  expect_match(fit$fits$optimiser, "gender by name (gender is a property of name)", fixed = TRUE)
})

test_that("three clusters without the rare answer have the error of independent answers, not 0", {
  rows <- data.frame(name = rep(sprintf("n%02d", 1:24), each = 6), group = rep(c("few", "many"), c(18, 126)))
  rows$yes <- as.integer(rows$group == "many" & seq_len(nrow(rows)) %% 8 == 0)
  share <- mean(rows$yes)
  fit <- mean_contrasts(rows, "yes", "group", declared = list(properties = list(group = "name")))
  expect_equal(fit$estimates$std_error[[1]], sqrt(share * (1 - share) * (1 / 18 + 1 / 126)))
  within <- transform(rows, job = rep(c("clerk", "nurse"), 72))
  error <- mean_contrasts(within, "yes", "group", declared = list(
    properties = list(group = "name"), cells = c("name", "job")
  ))$estimates$std_error[[1]]
  model <- stats::lm(yes ~ group + job, within)
  clustered <- clubSandwich::coef_test(model, "CR2", cluster = within$name)
  expect_gt(error, 2 * clustered["groupmany", "SE"])
})
