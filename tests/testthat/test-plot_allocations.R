made_allocations <- function() {
  games <- simulate_structured_games(p = c(.1, 1), experiments = "bgd", n_games = 10, reassigned = 0)
  games <- transform(games, model = sprintf("p = %s", p), variant = "structured", n = 1)
  stats::aggregate(n ~ source + model + variant + game + class + choice, games, sum)
}

test_figure("a game with a class for each group has a full diagonal, chance has a pale one", {
  means <- plot_allocations(made_allocations())$data
  on_diagonal <- function(panel) means$share[means$panel_shown == panel & means$row == means$column]
  expect_equal(on_diagonal("p = 1"), rep(1, 4))
  chance <- on_diagonal("Chance alone,\nsimulated")
  expect_true(mean(chance) > .3 && mean(chance) < .4)
  expect_equal(levels(means$panel_shown)[[3]], "Chance alone,\nsimulated")
})

test_in_full("the last panel is that of random choices as ordered by the same rule", {
  ranked <- random_matrices(labelled_games(transform(made_allocations(), group = choice)), "model_shown", 1)
  expect_equal(sum(ranked$n) / length(unique(ranked$game)), 40)
  expect_equal(ranked, random_matrices(
    labelled_games(transform(made_allocations(), group = choice)), "model_shown", 1
  ))
})

test_figure("rows of the database's view are taken, with group and answer format", {
  rows <- made_allocations()
  names(rows)[names(rows) == "choice"] <- "group"
  rows$answer_format <- ifelse(rows$model == "p = 1", "cot", "direct")
  expect_equal(levels(plot_allocations(rows)$data$panel_shown)[1:2], c("p = 0.1\nDirect", "p = 1\nChain of thought"))
  expect_error(plot_allocations(rbind(rows, rows)), "more than one row for a class and group")
  expect_error(plot_allocations(transform(rows, n = 0)), "no game has a round with a choice")
})

test_figure("the words give the mean of each diagonal, and the caption the rule", {
  plot <- plot_allocations(made_allocations())
  expect_match(attr(plot, "alt_text"), "on the diagonal: p = 0.1 0.[0-9]+; p = 1 1.00; Chance alone, simulated 0.3")
  expect_match(plot$labels$caption, "^Simulated answers: no model was asked. 10 games a panel.")
})

test_looks("allocations", plot_allocations(made_allocations()))
