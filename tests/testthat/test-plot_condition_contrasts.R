made_contrasts <- function() {
  truths <- true_contrasts(forced_choice_parameters())
  rows <- rbind(truths, transform(truths, kind = "item_averaged", truth = 1.5 * truth))
  transform(rows, estimate = truth, conf_low = truth - .01, conf_high = truth + .04, source = "simulated")
}

test_figure("both kinds of the difference are next to each other, log odds not at all, no difference a dashed line", {
  plot <- plot_condition_contrasts(made_contrasts())
  expect_equal(unique(plot$data$scale), "delta_p")
  expect_equal(as.vector(table(plot$data$kind_shown)), c(6, 6))
  expect_false(anyDuplicated(plot$data[c("test", "height")]) > 0)
  said <- "A median word (random effects of 0): claude-sonnet-4, gender_career 0.086 [0.076, 0.126]"
  expect_match(attr(plot, "alt_text"), said, fixed = TRUE)
  averaged <- "Averaged over the words asked: claude-sonnet-4, gender_career 0.129"
  expect_match(attr(plot, "alt_text"), averaged, fixed = TRUE)
  lines <- Filter(function(layer) inherits(layer$geom, "GeomVline"), plot$layers)
  expect_equal(lines[[1]]$data$xintercept, 0)
  expect_equal(lines[[1]]$aes_params$linetype, "dashed")
  expect_match(plot$labels$caption, "^Simulated answers")
})

test_figure("rows of two fits are not drawn as one, and no rows are one sentence", {
  rows <- made_contrasts()
  expect_error(plot_condition_contrasts(rbind(rows, rows)), "a cell has more than one row")
  expect_error(plot_condition_contrasts(rows[rows$scale == "s", ]), "no row with an estimate")
})

test_looks("interference", plot_condition_contrasts(made_contrasts()))

test_figure("intervals of lme4 are called Wald's, and those of a Bayesian fit credible", {
  of_lme4 <- plot_condition_contrasts(transform(made_contrasts(), std_error = .01, p_value = .5))
  expect_match(attr(of_lme4, "alt_text"), "95 % Wald's confidence intervals for", fixed = TRUE)
  expect_match(paste(deparse(of_lme4$labels$x), collapse = ""), "confidence")
  bayesian <- plot_condition_contrasts(transform(made_contrasts(), std_error = .01, is_converged = TRUE))
  expect_match(attr(bayesian, "alt_text"), "95 % credible intervals for", fixed = TRUE)
})
