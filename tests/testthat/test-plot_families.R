made_families <- function() {
  families <- data.frame(
    model = c("gpt-4o", "gpt-3.5", "qwen-72b", "qwen-7b"), family = c("GPT", "GPT", "Qwen", "Qwen"),
    order = c(2, 1, 2, 1)
  )
  rows <- merge(families, data.frame(answer_format = c("direct", "cot")))
  rows <- merge(rows, data.frame(index = c("si", "bgd")))
  transform(
    rows,
    source = "simulated", variant = "main", estimate = .3 * order + .1 * (index == "si"), n_games = 30,
    conf_low = .3 * order, conf_high = .3 * order + .2, random_level = .275, human = ifelse(index == "si", .84, .56)
  )
}

test_figure("within a family newer and larger models stand to the right, whatever the order of rows", {
  cells <- plot_families(made_families())$data
  expect_equal(levels(cells$model_shown), c("gpt-3.5", "gpt-4o", "qwen-7b", "qwen-72b"))
  expect_true(all(round(cells$x) == as.integer(cells$model_shown)))
  expect_equal(levels(cells$family_shown), c("GPT", "Qwen"))
})

test_figure("models of no family are left out, and conditions are not mixed", {
  rows <- made_families()
  rows$family[rows$model == "gpt-3.5"] <- NA
  expect_false("gpt-3.5" %in% plot_families(rows)$data$model)
  rows$variant[rows$model == "qwen-7b"] <- "success_0_1"
  expect_error(plot_families(rows), "rows of more than one condition")
})

test_looks("families", plot_families(made_families()))
