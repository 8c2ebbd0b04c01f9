made_refusals <- function() {
  data.frame(
    model = rep(c("o3-mini", "claude-3.7-sonnet"), each = 4), test = rep(c("young", "flowers"), each = 2, times = 2),
    test_label = rep(c("Young/Old + Good/Bad", "Flowers/Insects + Good/Bad"), each = 2, times = 2),
    test_no = rep(c(10, 1), each = 2, times = 2), condition = c("compatible", "incompatible"), n_trials = 640,
    n_refusals = c(2, 5, 0, 1, 40, 210, 12, 30), source = "simulated"
  )
}

test_figure("each cell shows its share of refusals with Wilson's interval", {
  shown <- plot_refusals(made_refusals())$data
  expect_equal(shown$rate, made_refusals()$n_refusals / 640)
  wilson <- vapply(c(5, 210), function(n) stats::prop.test(n, 640, correct = FALSE)$conf.int, double(2))
  expect_equal(rbind(shown$rate_low, shown$rate_high)[, c(2, 6)], wilson)
  expect_true(all(shown$rate_low >= 0 & shown$rate_low <= shown$rate & shown$rate <= shown$rate_high))
})

test_figure("the figure says its source, its order and what it shows", {
  plot <- plot_refusals(made_refusals())
  expect_match(plot$labels$caption, "^Simulated answers.* 5,120 trials, 300 of them refused")
  expect_equal(levels(plot$data$test_shown), c("Flowers/Insects\n+ Good/Bad", "Young/Old\n+ Good/Bad"))
  said <- "o3-mini 0.2 and 0.5; claude-3.7-sonnet 4.1 and 18.8. The highest share is 32.8 per cent: claude-3.7-sonnet"
  expect_match(attr(plot, "alt_text"), said, fixed = TRUE)
})

test_figure("the view of the database is drawn as it is, without labels", {
  view <- made_refusals()[c("source", "model", "test", "condition", "n_trials", "n_refusals")]
  svg <- withr::local_tempfile(fileext = ".svg")
  expect_silent(plot_refusals(view, svg))
  expect_match(readLines(svg, n = 2)[[2]], "<svg")
  expect_silent(plot_refusals(view[1, ], withr::local_tempfile(fileext = ".png")))
})

test_figure("what can't be drawn is one sentence", {
  refusals <- made_refusals()
  expect_error(plot_refusals(rbind(refusals, refusals)), "more than one row for a test and condition")
  expect_error(plot_refusals(transform(refusals, n_trials = 0)), "no row with trials")
  expect_error(plot_refusals(refusals["model"]), "no column \"test\"")
})

test_looks("refusals by condition", plot_refusals(made_refusals()))
