made_retest <- function() {
  rows <- expand.grid(test = c(NA, "t1"), occasion = 2:3, model = c("a", "b"), stringsAsFactors = FALSE)
  transform(
    rows,
    source = "simulated", measure = "tokens", kappa = c(.9, .8, .7, .6, .95, NA, .5, .4), kappa_low = .3,
    kappa_high = .97, icc = .5, icc_low = .3, icc_high = .7, shift_d = .2, shift_low = -5, shift_high = 25,
    sd_first = 50
  )
}

test_figure("all tests together are drawn, a panel for each of the three", {
  rows <- retest_to_draw(made_retest())
  expect_equal(nrow(rows), 12)
  expect_equal(levels(rows$panel), c("Kappa of answers", "Intraclass correlation of tokens", "Shift of tokens, in SD"))
  expect_equal(unique(rows$low[rows$panel == levels(rows$panel)[[3]]]), -.1)
})

test_figure("the words give the range of each panel", {
  words <- attr(plot_retest(made_retest()), "alt_text")
  expect_match(words, "2 models and 2 occasions")
  expect_match(words, "Kappa of answers: from 0.50 to 0.95")
  expect_error(plot_retest(rbind(made_retest(), made_retest())), "more than one row for an occasion")
})

test_that("two measures are told apart", {
  rows <- rbind(made_retest(), transform(made_retest(), measure = "is_yes"))
  expect_equal(nlevels(retest_to_draw(rows)$panel), 6)
  expect_true("Kappa of answers (is yes)" %in% levels(retest_to_draw(rows)$panel))
})

test_looks("retest", plot_retest(made_retest()))
