test_that("each pair of levels is compared as mean_contrasts() does, without a correction", {
  rows <- expand.grid(group = c("a", "b", "c"), job = c("x", "y"), item = 1:50, stringsAsFactors = FALSE)
  rows$measured <- withr::with_seed(1, stats::rnorm(300)) + (rows$group == "c")
  rows$measured[[7]] <- NA
  found <- check_level_contrasts(rows, c("group", "job"), cluster = "item")
  same <- mean_contrasts(rows, "measured", c("group", "job"), cluster = "item", correction = "none")$estimates
  expect_equal(found[c("estimate", "std_error", "p_value")], same[c("estimate", "std_error", "p_value")])
  expect_equal(unique(found$n), 299L)
  expect_equal(found$second, c("b", "c", "c", "y"))
})

test_that("where levels say nothing, p is below .05 about as often as it should", {
  rows <- expand.grid(deal = 1:300, group = c("a", "b"), item = 1:40, stringsAsFactors = FALSE)
  item <- withr::with_seed(2, matrix(stats::rnorm(300 * 80), 300))
  rows$item <- paste(rows$item, rows$group) # a cell has one level, and is asked twice
  rows <- rbind(rows, rows)
  of_item <- item[cbind(rows$deal, match(rows$item, unique(rows$item)))]
  rows$measured <- of_item + withr::with_seed(3, stats::rnorm(nrow(rows)))
  found <- check_level_contrasts(rows, "group", by = "deal", cluster = "item")
  expect_gt(mean(found$p_value < .05), .02)
  expect_lt(mean(found$p_value < .05), .09)
})
