test_figure("levels have their means next to each other, models apart, and the words name both ends", {
  fit <- marginal_means(drawn_profiles(), "rating", c("group", "job"), "person", by = "model")
  plot <- plot_marginal_means(transform(fit$estimates, overall = 4.4, outcome = "rating", source = "simulated"))
  expect_same_figure("marginal means", plot)
  expect_match(attr(plot, "alt_text"), "5 levels of 2 attributes. The lowest and the highest: group: men")
})

test_figure("rows without an interval's end, and none at all, are sentences", {
  expect_error(plot_marginal_means(data.frame(term = "a: b", estimate = 1)), "Can't draw: the data have no column")
  none <- data.frame(term = character(), estimate = double(), conf_low = double(), conf_high = double())
  expect_error(plot_marginal_means(none), "there are no rows")
})
