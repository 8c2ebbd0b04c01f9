made_parameters <- function() {
  rows <- expand.grid(
    term = c("rate", "sharpness", "lapse", "sd_rate"), model = c("greedy", "ucb", "people"), stringsAsFactors = FALSE
  )
  rows$estimate <- c(rate = .3, sharpness = 10, lapse = .1, sd_rate = 1)[rows$term]
  transform(
    rows,
    source = "simulated", variant = "main", n_games = 30, conf_low = estimate * .8, conf_high = estimate * 1.2,
    is_people = model == "people", is_converged = TRUE, passes = model != "ucb",
    is_identified = !(model == "greedy" & term == "rate")
  )
}

test_figure("colours say what a parameter is worth; people are a line, sharpness its logarithm, spread is not drawn", {
  plot <- plot_learned_parameters(made_parameters())
  greedy <- plot$data[plot$data$model == "greedy", ]
  expect_equal(as.character(greedy$series_shown[greedy$term == "rate"]), "not identified by these games")
  expect_equal(unique(as.character(plot$data$series_shown[plot$data$model == "ucb"])), parameter_worths[["failed"]])
  lines <- layers_of(plot, "GeomVline")[[1]]$data
  expect_equal(sort(unique(lines$at)), c(.1, .3, 1))
  expect_equal(unique(as.character(lines$kind)), "People")
  expect_equal(unique(plot$data$estimate[plot$data$term == "sharpness"]), 1)
  expect_false("sd_rate" %in% plot$data$term)
  expect_match(attr(plot, "alt_text"), "Answers of people, not of a model. Simulated answers", fixed = TRUE)
})

test_looks("learned parameters", plot_learned_parameters(made_parameters()))
