labelled <- function() {
  trials <- made_trials()
  trials$model <- rep(c("a", "b"), length.out = nrow(trials))
  trials$model_label <- c(a = "Model A", b = "Model B")[trials$model]
  trials$model_no <- c(a = 2, b = 1)[trials$model]
  trials$condition_label <- c(compatible = "usual", incompatible = "crossed")[trials$condition]
  transform(trials, source = "simulated", token_source = ifelse(model == "a", "usage", "output"))
}

test_figure("what a study calls things goes with the results, and into the figure", {
  fit <- effect_size(labelled(), by = "model")
  found <- fit$estimates
  expect_equal(found$model_label, c("Model A", "Model B"))
  expect_equal(found$token_source, c("usage", "output"))
  expect_equal(unique(found[c("reference", "compared")]), data.frame(reference = "usual", compared = "crossed"))
  plot <- plot_effect_sizes(fit)
  expect_equal(levels(plot$data$model_shown), c("Model B", "Model A"))
  expect_match(plot$labels$subtitle, "more tokens in the crossed condition; left: more in the usual one", fixed = TRUE)
  expect_match(plot$labels$caption, "^Simulated answers")
})

test_that("every engine's estimates have the labels of the rows, and the same numbers as without", {
  trials <- labelled()
  bare <- trials[setdiff(names(trials), c("model_label", "model_no", "condition_label", "source", "token_source"))]
  for (fit in list(fit_made, effect_size, median_difference, trimmed_difference)) {
    found <- fit(trials, by = "model")$estimates
    plain <- fit(bare, by = "model")$estimates
    expect_equal(unique(found$model_label), c("Model A", "Model B"))
    expect_identical(found[names(plain)], plain)
  }
})

test_that("a name with two labels goes without one", {
  trials <- labelled()
  trials$model_label[[1]] <- "Another A"
  expect_null(effect_size(trials, by = "model")$estimates$model_label)
})
