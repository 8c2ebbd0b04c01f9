made_bias <- function() {
  rows <- expand.grid(test = c("tea", "sun"), model = c("a", "b"), stringsAsFactors = FALSE)
  transform(
    rows,
    source = "simulated", mean_d = c(.6, -.2, 1, .1), sd_d = c(.5, .4, 0, NA), n_d = c(40, 39, 40, 1), n_trials = 40
  )
}

test_that("intervals are of t over answers, of no width where D does not vary, and none of one answer", {
  rows <- bias_to_draw(made_bias())
  is_first <- rows$model == "a" & rows$test == "tea"
  expect_equal(rows$high[is_first], .6 + stats::qt(.975, 39) * .5 / sqrt(40))
  expect_equal(rows$low[rows$model == "b" & rows$test == "tea"], 1)
  expect_true(is.na(rows$low[rows$n_d == 1]))
})

test_figure("the words count what lies above and below 0, and answers without a D", {
  words <- attr(plot_bias(made_bias()), "alt_text")
  expect_match(words, "Of 4 means, 2 lie above 0 with their interval, 1 below 0")
  expect_match(words, "40 of 160 answers have no D")
  expect_error(plot_bias(rbind(made_bias(), made_bias())), "more than one row for a test")
})

test_looks("bias", plot_bias(made_bias()))
