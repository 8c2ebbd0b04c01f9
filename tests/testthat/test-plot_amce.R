test_figure("each attribute begins with its reference at 0", {
  fit <- amce(drawn_profiles(), "rating", c("group", "job"), "person", levels = list(group = c("men", "women")))
  plot <- plot_amce(fit)
  expect_same_figure("effects of levels", plot)
  marks <- ggplot2::layer_data(plot, 3)
  expect_equal(sum(marks$x == 0), 2)
  expect_match(attr(plot, "alt_text"), "Effects with 95 % intervals for 3 levels of 2 attributes")
})

test_figure("a legend of long names and the axis' title end where the figure does; one model is named below it", {
  rows <- merge(
    data.frame(attribute = "a", level = c(strrep("long name ", 9), "l2"), estimate = 0, conf_low = -1, conf_high = 1),
    data.frame(model = sprintf("a-long-name-of-a-model-%02d", 1:40))
  )
  rows$unit <- "points from 1 (not at all suitable for the job) to 7 (very suitable)"
  table <- measured(plot_amce(rows))
  legend <- table$grobs[[grep("guide-box", table$layout$name)[[1]]]]
  beside <- sum(grid::convertWidth(table$widths, "in", valueOnly = TRUE))
  expect_lt(sum(grid::convertWidth(legend$widths, "in", valueOnly = TRUE)) + beside, 8.3)
  expect_match(plot_amce(rows)$labels$x, "\n")
  expect_match(plot_amce(rows[1:2, ])$labels$caption, "Model: a-long-name-of-a-model-01.", fixed = TRUE)
})
