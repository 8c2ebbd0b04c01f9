made_checks <- function() {
  cells <- forced_choice_parameters()[c("model", "test", "condition")]
  cells$observed <- c(.8, rep(.97, 11))
  rows <- transform(cells, outcome = "is_consistent", predicted = .96, conf_low = .9, conf_high = 1)
  rows$source <- "simulated"
  overall <- transform(rows[1, ], model = NA, test = NA, condition = NA)
  rbind(overall, rows)
}

test_figure("each cell is drawn with where it should lie, and cells that don't lie there are named", {
  plot <- plot_predictive_checks(made_checks())
  expect_equal(as.vector(table(plot$data$place)), c(11, 1))
  outside <- "outside, in per cent: claude-sonnet-4, gender_career, congruent 80.0 against [90.0, 100.0]"
  said <- paste("Of 12 cells, 11 lie within the predicted 95 %;", outside)
  expect_match(attr(plot, "alt_text"), said, fixed = TRUE)
  expect_match(plot$labels$title, "Consistent answers, among the valid")
})

test_figure("statistics of all data alone are nothing to draw", {
  expect_error(plot_predictive_checks(made_checks()[1, ]), "no row with an estimate")
})

test_looks("predictive checks", plot_predictive_checks(made_checks()))
