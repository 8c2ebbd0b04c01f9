made_values <- function() {
  rows <- expand.grid(
    number = 0:60, model = c("claude-sonnet-4", "gpt-5"), test = c("gender_career", "gender_science"),
    stringsAsFactors = FALSE
  )
  rows$delta_p <- sin(seq_len(nrow(rows))) / 50 + (rows$model == "claude-sonnet-4") / 100
  rows$delta_p[rows$number == 0] <- c(.09, .01, .03, .001)
  cbind(rows, source = "simulated")
}

test_figure("each cell has its panel, and the words say where the observed stands", {
  plot <- plot_permutations(made_values())
  expect_equal(nlevels(plot$data$cell_shown), 4)
  said <- attr(plot, "alt_text")
  expect_match(said, "of a median item) of 60 permutations", fixed = TRUE)
  expect_match(said, "claude-sonnet-4, gender_career: observed +0.090", fixed = TRUE)
  expect_match(said, sprintf("one-sided p %.3f", 1 / 61), fixed = TRUE)
})

test_figure("failed refits are left out, two tests in one are refused, nothing is told what to type", {
  rows <- made_values()
  rows$delta_p[rows$number == 7] <- NA
  expect_match(attr(plot_permutations(rows), "alt_text"), "59 permutations")
  expect_error(plot_permutations(rbind(rows, rows)), "rows of one test")
  expect_error(plot_permutations(rows[rows$number == 0, ]), "analyze permute")
})

test_looks("permutations", plot_permutations(made_values()), "the figure is drawn as it was")
