made_predictions <- function() {
  cells <- forced_choice_parameters()[c("model", "test", "condition", "p_valid")]
  rows <- rbind(
    data.frame(cells, kind = "population", observed = cells$p_valid - .03),
    data.frame(cells, kind = "item_averaged", observed = cells$p_valid - .03)
  )
  rows$estimate <- rows$p_valid - .02 * (rows$kind == "item_averaged")
  transform(rows, conf_low = estimate - .02, conf_high = estimate + .001, source = "simulated")
}

test_figure("compliance is drawn for each model, test, condition and kind, with what was observed next to it", {
  plot <- plot_compliance(made_predictions())
  expect_equal(nrow(plot$data), 24)
  expect_equal(levels(plot$data$model_shown), c("claude-sonnet-4", "gemini-2.5-pro", "gpt-5"))
  expect_match(attr(plot, "alt_text"), "gpt-5 98.4 to 98.4. The lowest is 98.4 \\[96.4, 98.5\\]: gpt-5, gender_career")
  expect_match(attr(plot, "alt_text"), "Observed rates go from 95.4 to 96.9. Simulated answers: no model was asked.")
})

test_figure("a figure of a fit that did not converge says so in its caption and in its words", {
  verdict <- "Doubtful: R-hat goes up to 1.300 (limit 1.01)."
  doubtful <- transform(made_predictions(), is_converged = FALSE, verdict = verdict)
  expect_match(plot_compliance(doubtful)$labels$caption, paste("This fit did not converge.", verdict), fixed = TRUE)
  expect_match(attr(plot_compliance(doubtful), "alt_text"), verdict, fixed = TRUE)
  fine <- transform(doubtful, is_converged = TRUE, verdict = "The 4 chains converged.")
  expect_no_match(plot_compliance(fine)$labels$caption, "converge")
})

test_figure("one model in one condition, without observed rates, is a figure too", {
  one <- made_predictions()[1, c("model", "test", "condition", "kind", "estimate", "conf_low", "conf_high")]
  png <- withr::local_tempfile(fileext = ".png")
  expect_silent(plot_compliance(one, png))
  expect_match(attr(plot_compliance(one), "alt_text"), "for 1 model and 1 test by condition, a median word.")
})

test_figure("what can't be drawn is one sentence", {
  rows <- made_predictions()
  expect_error(plot_compliance(rbind(rows, rows)), "a cell has more than one row")
  expect_error(plot_compliance(rows[0, ]), "no row with an estimate")
  expect_error(plot_compliance(rows[c("model", "test")]), "no column \"condition\"")
})

test_looks("compliance", plot_compliance(made_predictions()))
