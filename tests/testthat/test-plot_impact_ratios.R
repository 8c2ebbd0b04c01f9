test_figure("ratios stand next to four fifths, and a rate of 0 is a ratio of 0", {
  rows <- drawn_profiles()
  rows$hired[rows$job == "surgeon"] <- 0
  plot <- plot_impact_ratios(impact_ratio(rows, "hired", c("group", "job"), "person"))
  expect_same_figure("impact ratios", plot)
  expect_true(0 %in% plot$data$at || 0 %in% plot$data$ratio)
})
