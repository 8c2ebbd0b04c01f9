tokens_to_show <- function() transform(made_trials(), model = "o3-mini", test = "flowers_insects", source = "imported")

test_figure("the figure shows each cell's median and quartiles, and says its source", {
  trials <- tokens_to_show()
  plot <- plot_tokens(trials)
  compatible <- trials$tokens[trials$condition == "compatible"]
  shown <- plot$data[plot$data$condition == "compatible", ]
  expect_equal(c(shown$low, shown$at, shown$high), quantile(compatible, c(.25, .5, .75), names = FALSE))
  expect_match(plot$labels$caption, "^Imported answers.* 240 answered trials")
  expect_match(attr(plot, "alt_text"), "Medians over all tests, compatible and incompatible: o3-mini")
})

test_figure("refusals and trials without a count are left out", {
  trials <- transform(tokens_to_show(), is_refusal = item == 1)
  trials$tokens[trials$item == 2] <- NA
  expect_match(plot_tokens(trials)$labels$caption, "200 answered trials")
})

test_figure("several sources in one cell are a warning, and the caption names them and the measure", {
  trials <- transform(tokens_to_show(), source = ifelse(item == 1, "simulated", "imported"), token_source = "usage")
  expect_warning(plot <- plot_tokens(trials), "more than one source are put together: imported, simulated")
  said <- "Simulated answers.*Tokens are, for o3-mini: reasoning tokens \\(usage"
  expect_match(gsub("\n", " ", plot$labels$caption), said)
  expect_silent(plot_tokens(transform(trials, model = source)))
  expect_match(attr(plot_tokens(tokens_to_show()), "alt_text"), "for 1 test and 1 model by condition")
})

test_figure("more models than fit in a row are drawn in several", {
  many <- do.call(rbind, lapply(1:9, function(n) transform(tokens_to_show(), model = sprintf("model %d", n))))
  expect_silent(plot_tokens(many, withr::local_tempfile(fileext = ".png")))
})

test_figure("one condition, one row or one value alone is drawn without a complaint", {
  trials <- tokens_to_show()
  png <- withr::local_tempfile(fileext = ".png")
  expect_silent(plot_tokens(subset(trials, condition == "incompatible"), png))
  expect_silent(plot_tokens(transform(trials, tokens = 64), png))
  expect_silent(plot_tokens(trials[1, ], png))
})

test_figure("nothing to draw is one sentence", {
  expect_error(plot_tokens(transform(tokens_to_show(), tokens = NA)), "no answered trial with a token count")
  expect_error(plot_tokens(data.frame(model = 1)), "no column")
})

test_figure("numbers of the axis have thousands marks, and room between them", {
  built <- ggplot2::ggplot_build(plot_tokens(transform(tokens_to_show(), tokens = 9 * tokens)))
  expect_true(" 1,000 " %in% built$layout$panel_params[[1]]$x$get_labels())
})

test_looks("tokens by condition", plot_tokens(tokens_to_show()))
