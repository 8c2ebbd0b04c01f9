test_figure("each index has a panel, and the words give both ends", {
  plot <- plot_controlled_indices(controlled_indices(p = c(0, .5, 1), n_games = 5, n_draws = 20))
  expect_equal(nlevels(plot$data$column_shown), 3)
  expect_match(attr(plot, "alt_text"), "SI goes from [0-9.]+ at p = 0 to 2.00 at p = 1")
  expect_match(plot$labels$caption, "^Simulated games: nobody was asked. 5 games a cell.")
})

test_figure("the figure looks as it did", {
  made <- data.frame(index = rep(c("si", "bgd", "gasi"), each = 3), p = c(0, .5, 1), n_games = 30)
  made$estimate <- c(.8, 1, 2, .3, .5, .8, .6, .5, 0)
  made <- transform(made, conf_low = ifelse(index == "gasi", NA, estimate - .1), conf_high = estimate + .1)
  made <- transform(made, boot_low = estimate - .1, boot_high = estimate + .1)
  expect_same_figure("controlled indices", plot_controlled_indices(made))
})
