made_curves <- function(formats = "direct") {
  rows <- expand.grid(round = 1:20, answer_format = formats, model = c("greedy", "random"), stringsAsFactors = FALSE)
  is_greedy <- rows$model == "greedy"
  transform(
    rows,
    source = "simulated", variant = "main", n_games = 30, n_with_past = pmin(round - 1, 30), n_groups = 4,
    success_rate = .9, new_group_rate = pmax(1 - round / 10, 0),
    repeat_rate = ifelse(round == 1, NA, ifelse(is_greedy, pmin(.4 + round / 20, 1), .25))
  )
}

test_that("lines are running means over five rounds, weighted by games", {
  expect_equal(running_mean(1:4, c(0, 10, 20, 30), c(1, 1, 1, 3)), c(10, 20, 20, 24))
  expect_equal(running_mean(c(1, 9), c(0, 10), c(1, 1)), c(0, 10))
})

test_figure("each model has a panel with three measures, and rounds without a past have no rate of repeats", {
  plot <- plot_learning_curves(made_curves())
  expect_equal(levels(plot$data$panel_shown), c("greedy", "random"))
  expect_equal(as.vector(table(plot$data$measure)), c(40, 38, 40))
  expect_equal(unique(layers_of(plot, "GeomHline")[[1]]$data$n_groups), 4)
})

test_figure("formats differ in their lines, and rows of two sources are refused", {
  plot <- plot_learning_curves(made_curves(c("direct", "cot")))
  expect_equal(levels(plot$data$format_shown), c("Direct", "Chain of thought"))
  expect_match(attr(plot, "alt_text"), "greedy: success (Direct) 90, success (Chain of thought) 90", fixed = TRUE)
  expect_error(plot_learning_curves(rbind(made_curves(), made_curves())), "more than one row of a round")
})

test_looks("learning curves", plot_learning_curves(made_curves()))
