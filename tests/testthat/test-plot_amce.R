test_figure("each attribute begins with its reference at 0", {
  fit <- amce(drawn_profiles(), "rating", c("group", "job"), "person", levels = list(group = c("men", "women")))
  plot <- plot_amce(fit)
  expect_same_figure("effects of levels", plot)
  marks <- ggplot2::layer_data(plot, 3)
  expect_equal(sum(marks$x == 0), 2)
  expect_match(attr(plot, "alt_text"), "Effects with 95 % intervals for 3 levels of 2 attributes")
})
