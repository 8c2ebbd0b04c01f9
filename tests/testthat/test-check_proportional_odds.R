rated_rows <- function(seed) {
  withr::with_seed(seed, {
    rows <- expand.grid(number = 1:100, group = c("a", "b"), place = c("x", "y"), stringsAsFactors = FALSE)
    rows$rating <- 1L + findInterval(stats::rlogis(400) + .4 * (rows$group == "b"), c(-2, -.5, .5, 2))
    rows
  })
}

skip_if_not_installed("ordinal")

test_that("an effect for each threshold is tested as ordinal does", {
  rows <- rated_rows(2)
  found <- check_proportional_odds(rows, c("group", "place"))
  rated <- transform(rows, rating = factor(rating, ordered = TRUE))
  free <- suppressWarnings(ordinal::clm(rating ~ place, nominal = ~group, data = rated))
  theirs <- stats::anova(free, ordinal::clm(rating ~ group + place, data = rated))
  expect_equal(c(found$chi_squared[[1]], found$df[[1]]), c(theirs$LR.stat[[2]], theirs$df[[2]]), tolerance = 1e-5)
})

test_that("few ratings at a point are merged, and too few are not tested", {
  groups <- factor(rep(c("a", "b"), c(30, 30)))
  rated <- factor(c(rep(1:5, each = 6), rep(2:5, c(9, 9, 9, 3))), ordered = TRUE)
  expect_equal(levels(merged_points(rated, groups)), c("1 to 2", "3", "4 to 5"))
  few <- data.frame(group = rep(c("a", "b"), each = 6), rating = rep(1:3, 4))
  found <- check_proportional_odds(few, "group")
  expect_true(is.na(found$p_value))
  expect_match(found$messages, "Not tested for \"group\"")
})

test_that("copies of the same ratings change no p over clusters", {
  rows <- transform(rated_rows(4), prompt = seq_len(400))
  p_of <- function(rows) check_proportional_odds(rows, "group", cluster = "prompt")$p_value
  expect_gt(p_of(rows[rep(1:400, 5), ]), .8 * p_of(rows))
})

test_that("a level that only widens ratings leaves a gap at a point", {
  rows <- withr::with_seed(8, {
    group <- rep(c("a", "b"), each = 400)
    data.frame(group, rating = 1L + findInterval(stats::rlogis(800) * ifelse(group == "b", 3, 1), c(-2, -.5, .5, 2)))
  })
  found <- check_proportional_odds(rows, "group")
  expect_lt(found$p_value, 1e-6)
  expect_gt(found$largest_gap, .1)
})

test_in_full("the published ratings come to the tests that were kept", {
  profiles <- immigration()$profiles
  found <- check_proportional_odds(profiles, c("gender", "language", "plans", "trips"))
  expect_equal(round(found$chi_squared, 2), c(3.05, 22.99, 16.70, 19.19))
  expect_equal(found$df, c(5, 15, 15, 20))
})
