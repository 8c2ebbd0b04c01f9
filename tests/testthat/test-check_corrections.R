holm_by_hand <- function(p) {
  order <- order(p)
  pmin(1, cummax(p[order] * rev(seq_along(p))))[order(order)]
}

test_that("p values are corrected within a model, by Holm and by Benjamini and Hochberg", {
  p <- c(.001, .04, .02, .3, .04, .03)
  found <- check_corrections(data.frame(model = rep(c("a", "b"), c(4, 2)), p_value = p), by = "model")
  expect_equal(found$p_holm, c(holm_by_hand(p[1:4]), holm_by_hand(p[5:6])))
  expect_equal(found$p_bh[1:4], c(.004, .04 * 4 / 3, .04, .3))
  expect_equal(found$n_tests, c(4, 4, 4, 4, 2, 2))
  expect_equal(found$is_significant_holm, c(TRUE, FALSE, FALSE, FALSE, FALSE, FALSE))
  expect_equal(found$is_significant, p < .05)
})

test_that("a missing p takes no part, and alpha must be one", {
  found <- check_corrections(data.frame(p_value = c(.03, NA, .01)))
  expect_equal(found$p_holm, c(.03, NA, .02))
  expect_equal(found$n_tests, c(2, 2, 2))
  expect_error(check_corrections(data.frame(p_value = .1), alpha = 5), "between 0 and 1")
})
