test_that("counts that are just as planned have a chi squared of 0, and pairs no residual", {
  rows <- expand.grid(group = c("a", "b"), job = c("clerk", "cook", "nurse"), k = 1:10)
  found <- check_balance(rows, c("group", "job"))
  levels <- found[found$kind == "level", ]
  expect_equal(levels$expected, c(.5, .5, 1 / 3, 1 / 3, 1 / 3))
  expect_equal(levels$chi_squared, rep(0, 5))
  expect_equal(unlist(found[found$kind == "pair", c("n", "n_empty", "df")]), c(n = 10, n_empty = 0, df = 2))
})

test_that("too many of one level are R's own chi squared test", {
  rows <- data.frame(group = rep(c("a", "b"), c(70, 30)), job = rep(c("x", "y"), 50))
  found <- check_balance(rows, c("group", "job"))
  expect_equal(found$p_value[[1]], stats::chisq.test(c(70, 30))$p.value)
  pair <- found[found$kind == "pair", ]
  expect_equal(pair$chi_squared, unname(stats::chisq.test(table(rows), correct = FALSE)$statistic))
})

test_that("with forbidden combinations, shares are those of the design, and cells that were never shown are counted", {
  rows <- rbind(
    data.frame(school = "none", job = rep(c("clerk", "cook"), each = 30)),
    data.frame(school = "much", job = rep(c("clerk", "cook", "doctor"), each = 20))
  )
  found <- check_balance(rows, c("school", "job"), linked = list(c("school", "job")))
  job <- found[found$attribute == "job", ]
  expect_equal(stats::setNames(job$expected, job$level), c(clerk = 5 / 12, cook = 5 / 12, doctor = 1 / 6))
  expect_equal(job$chi_squared, rep(0, 3))
  expect_equal(found$n_empty[found$kind == "pair"], 1)
})

test_that("the published profiles come to the chi squared that was kept", {
  profiles <- immigration()$profiles
  wanted <- c(
    gender = 6.31, education = 1.69, language = 3.41, origin = 6.83, job = 14.46, experience = 4.42, plans = 5.98,
    trips = 2.37, reason = 1.94
  )
  found <- check_balance(profiles, names(wanted), linked = list(c("education", "job"), c("origin", "reason")))
  levels <- found[found$kind == "level", ]
  expect_equal(round(levels$chi_squared[match(names(wanted), levels$attribute)], 2), unname(wanted))
  pairs <- found[found$kind == "pair", ]
  expect_equal(pairs$n_empty[match(c("education x job", "origin x reason"), pairs$attribute)], c(16, 6))
  expect_equal(levels$expected[levels$level == "doctor"], 3 / 77)
})

test_that("where each allowed combination is as likely, shares are those of cells; a profile shown again counts once", {
  rows <- data.frame(school = c("none", "much", "much"), job = c("clerk", "clerk", "doctor"), item = 1:3)
  shown <- rows[rep(1:3, 20), ]
  shown$item <- seq_len(60)
  again <- shown[rep(1:60, 4), ]
  found <- check_balance(again, c("school", "job"), linked = "school:job", draws = "cells", once = "item")
  levels <- found[found$kind == "level", ]
  expected <- c(much = 2 / 3, none = 1 / 3, clerk = 2 / 3, doctor = 1 / 3)
  expect_equal(stats::setNames(levels$expected, levels$level), expected)
  expect_equal(levels$chi_squared, rep(0, 4))
  expect_equal(sum(levels$n), 120)
})
