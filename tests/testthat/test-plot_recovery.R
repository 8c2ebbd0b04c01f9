made_recovery <- function(n = 20, is_fixed = FALSE) {
  truths <- true_contrasts(forced_choice_parameters())
  truths <- truths[truths$scale == "delta_p", ]
  rows <- truths[rep(1:6, n), ]
  rows$data_set <- rep(seq_len(n), each = 6)
  if (!is_fixed) rows$truth <- rows$truth + .01 * rows$data_set
  rows$estimate <- rows$truth + .01 * sin(seq_along(rows$truth))
  transform(rows, conf_low = estimate - .0097, conf_high = estimate + .0097, source = "simulated")
}

test_figure("each panel counts the intervals that hold the truth, and the caption says of how many", {
  rows <- made_recovery()
  n_held <- sum(rows$conf_low <= rows$truth & rows$truth <= rows$conf_high)
  expect_lt(n_held, 120)
  plot <- plot_recovery(rows)
  held <- as.integer(sub(".*: (\\d+) of 20", "\\1", levels(plot$data$panel)))
  expect_equal(c(length(held), sum(held)), c(6, n_held))
  expect_match(gsub("\n", " ", plot$labels$caption), "20 data sets, one fit each; of 120 intervals")
})

test_figure("fixed truths are put in the order of their estimates, drawn ones against the truth", {
  skip_but_in_full()
  fixed <- plot_recovery(made_recovery(is_fixed = TRUE))
  expect_match(fixed$labels$title, "Fixed truths")
  expect_true(all(tapply(fixed$data$estimate, fixed$data$panel, function(one) !is.unsorted(one))))
  expect_match(plot_recovery(made_recovery())$labels$title, "drawn from the prior")
})

test_looks("recovery", plot_recovery(made_recovery()))

test_looks(NULL, plot_recovery(made_recovery(is_fixed = TRUE)), "the figure of fixed truths looks as it did")
