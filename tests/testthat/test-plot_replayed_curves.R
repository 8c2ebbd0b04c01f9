made_replays <- function() {
  rows <- expand.grid(
    round = 1:20, measure = c("success", "repeated", "new_group"), policy = c("greedy", "hierarchical learner"),
    stringsAsFactors = FALSE
  )
  rows$observed <- c(success = .9, repeated = .7, new_group = .1)[rows$measure]
  off <- ifelse(rows$policy == "greedy", .2, 0)
  transform(
    rows,
    source = "simulated", model = "ucb", model_label = "UCB", n_games = 30, n_groups = 4, passes = policy != "greedy",
    conf_low = pmin(observed + off, 1) - .05, conf_high = pmin(observed + off + .05, 1)
  )
}

test_figure("each policy has a panel that says whether it passes, the learner of all games last", {
  plot <- plot_replayed_curves(made_replays())
  expect_equal(levels(plot$data$panel_shown), c("greedy: fails", "hierarchical learner:\npasses"))
  expect_equal(plot$labels$title, "UCB: do replays settle as the games did?")
  expect_match(attr(plot, "alt_text"), "greedy: fails: 0; hierarchical learner: passes: 100", fixed = TRUE)
})

test_figure("rows of a fit's table need no policy, and two fits of a model are refused", {
  own <- made_replays()[61:120, c("measure", "round", "observed", "conf_low", "conf_high")]
  expect_equal(levels(plot_replayed_curves(own)$data$policy_shown), "hierarchical learner")
  expect_error(plot_replayed_curves(rbind(own, own)), "more than one row of a round")
})

test_looks("replayed curves", plot_replayed_curves(made_replays()))
