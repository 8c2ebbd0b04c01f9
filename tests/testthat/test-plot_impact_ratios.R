test_figure("ratios stand next to four fifths, and a rate of 0 is a ratio of 0", {
  rows <- drawn_profiles()
  rows$hired[rows$job == "surgeon"] <- 0
  plot <- plot_impact_ratios(impact_ratio(rows, "hired", c("group", "job"), "person"))
  expect_same_figure("impact ratios", plot)
  expect_true(0 %in% plot$data$at || 0 %in% plot$data$ratio)
})

test_figure("the axis of ratios is logarithmic, with lines labelled .8 and 1, and 0 is an arrow at its edge", {
  rows <- data.frame(
    attribute = "job", level = c("nurse", "clerk", "cook"), ratio = c(0, .5, 2), conf_low = c(0, .3, 1.2),
    conf_high = c(.4, .9, 3), reference = "all others"
  )
  plot <- plot_impact_ratios(rows)
  built <- ggplot2::ggplot_build(plot)
  places <- lapply(built$data, function(layer) range(layer$x, layer$xmin, layer$xintercept, na.rm = TRUE))
  expect_true(all(is.finite(unlist(places))))
  axis <- built$layout$panel_params[[1]]
  expect_true(all(c(".8", "1") %in% axis$x.sec$get_labels()))
  expect_match(plot$labels$caption, "Arrow: a ratio of 0", fixed = TRUE)
})
