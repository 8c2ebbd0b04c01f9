test_that("a place that is preferred is found, over clusters", {
  rows <- expand.grid(position = 1:2, person = 1:100, group = c("a", "b"))
  rows$chosen <- as.integer(withr::with_seed(1, stats::runif(400)) < ifelse(rows$position == 1, .7, .3))
  found <- check_position_effects(rows, places = "position", attributes = "group", cluster = "person")
  means <- marginal_means(rows, "chosen", "position", "person")$estimates
  expect_equal(found$estimate[1:2], means$estimate)
  expect_lt(found$p_value[[1]], 1e-6)
  expect_equal(found$kind, c("place", "place", "attribute"))
  expect_gt(found$p_value[[3]], .01)
})

test_that("an attribute that matters at one place only is found", {
  rows <- expand.grid(task = 1:3, person = 1:100, group = c("a", "b"))
  rows$rating <- 4 + 1.5 * (rows$group == "b" & rows$task == 3) + withr::with_seed(2, stats::rnorm(600))
  found <- check_position_effects(rows, outcome = "rating", places = "task", attributes = "group", cluster = "person")
  expect_equal(found$df[found$kind == "attribute"], 2)
  expect_lt(found$p_value[found$kind == "attribute"], 1e-6)
  lacking <- rows[!(rows$task == 3 & rows$group == "b"), ]
  found <- check_position_effects(lacking, NULL, "rating", "task", "group", "person")
  expect_match(found$messages[[1]], "Not every level of \"group\" was shown at every task")
})

test_that("of forced choices, the published second profile is chosen in .4928", {
  profiles <- immigration()$profiles
  found <- check_position_effects(profiles, cluster = "person")
  expect_equal(round(found$estimate[[2]], 4), .4928)
})
