test_that("an effect for each threshold is tested as ordinal does", {
  skip_if_not_installed("ordinal")
  wine <- get(utils::data(list = "wine", package = "ordinal", envir = environment()))
  rows <- data.frame(lapply(wine[c("temp", "contact")], as.character), rating = as.integer(wine$rating))
  found <- check_proportional_odds(rows, c("temp", "contact"))
  free <- suppressWarnings(ordinal::clm(rating ~ contact, nominal = ~temp, data = ordinal::wine))
  theirs <- stats::anova(free, ordinal::clm(rating ~ temp + contact, data = ordinal::wine))
  expect_equal(c(found$chi_squared[[1]], found$df[[1]]), c(theirs$LR.stat[[2]], theirs$df[[2]]), tolerance = 1e-5)
  expect_true(all(found$largest_gap > 0 & found$largest_gap < .1))
})

test_that("a level that only widens ratings leaves a gap at a point", {
  skip_if_not_installed("ordinal")
  rows <- withr::with_seed(8, {
    group <- rep(c("a", "b"), each = 400)
    data.frame(group, rating = 1L + findInterval(stats::rlogis(800) * ifelse(group == "b", 3, 1), c(-2, -.5, .5, 2)))
  })
  found <- check_proportional_odds(rows, "group")
  expect_lt(found$p_value, 1e-6)
  expect_gt(found$largest_gap, .1)
})

test_that("the published ratings come to the tests that were kept", {
  skip_but_in_full()
  skip_if_not_installed("ordinal")
  profiles <- utils::read.csv(file.path(shared_data("conjoint_immigration"), "profiles.csv"))
  found <- check_proportional_odds(profiles, c("gender", "language", "plans", "trips"))
  expect_equal(round(found$chi_squared, 2), c(3.05, 22.99, 16.70, 19.19))
  expect_equal(found$df, c(5, 15, 15, 20))
})
