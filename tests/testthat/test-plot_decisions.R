made_decisions <- function() {
  rows <- expand.grid(test = c("talks", "pages"), model = c("a", "b"), stringsAsFactors = FALSE)
  transform(
    rows,
    source = "simulated", share_expected = c(.8, .25, 1, .5), n_decided = c(40, 36, 40, 2), n_conversations = 40
  )
}

test_that("intervals are Wilson's, which prop.test gives without its correction", {
  rows <- decisions_to_draw(made_decisions())
  direct <- stats::prop.test(32, 40, correct = FALSE)$conf.int
  is_first <- rows$model == "a" & rows$test == "talks"
  expect_equal(c(rows$low[is_first], rows$high[is_first]), as.numeric(direct))
  expect_equal(max(rows$high), 1)
})

test_figure("the words count what lies above and below a half, and what has no decision", {
  words <- attr(plot_decisions(made_decisions()), "alt_text")
  expect_match(words, "Of 4 shares, 2 lie above .5 with their interval, 1 below")
  expect_match(words, "42 of 160 conversations have no decision")
  expect_error(plot_decisions(rbind(made_decisions(), made_decisions())), "more than one row for a test")
})

test_looks("decisions", plot_decisions(made_decisions()))
