made_exploration <- function() {
  data.frame(
    source = "simulated", model = c("random", "greedy"), variant = "main", n_groups = 4, n_rounds = 1200,
    choice_entropy_bits = c(1.95, .3), stay_after_success = c(.25, .9), stay_after_failure = c(.24, NA),
    lock_in = c(.26, .95)
  )
}

test_figure("four measures stand next to the level of chance, shares in per cent; an unknown rate is counted only", {
  plot <- plot_exploration(made_exploration())
  expect_equal(levels(plot$data$column_shown), unname(exploration_labels()))
  lines <- layers_of(plot, "GeomVline")[[1]]$data
  expect_equal(sort(unique(lines$at)), c(2, 25))
  expect_equal(plot$data$estimate[plot$data$index == "lock_in"], c(26, 95))
  expect_equal(nrow(plot$data), 7)
  caption <- gsub("\n", " ", plot$labels$caption)
  expect_match(caption, "not known: 1 value. 1200 rounds a cell. No intervals", fixed = TRUE)
})

test_looks("exploration", plot_exploration(made_exploration()))
