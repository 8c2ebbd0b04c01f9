residuals_to_see <- function() {
  transform(made_trials(), model = "o3-mini", test = "flowers_insects", source = "imported")
}

test_figure("each test has quantiles and spread, and words for those who don't see them", {
  trials <- rbind(residuals_to_see(), transform(residuals_to_see(), test = "age_valence"))
  plot <- plot_residuals(trials)
  expect_setequal(levels(plot$data$panel), c(
    "Quantiles: flowers_insects", "Quantiles: age_valence", "Spread: flowers_insects", "Spread: age_valence"
  ))
  expect_match(attr(plot, "alt_text"), "residuals of 2 mixed models, o3-mini.*skewness.*Imported answers")
  expect_match(plot$labels$caption, "Imported answers")
  expect_takes_theme(plot)
})

test_figure("the quantiles drawn are residuals of the fit against their normal quantiles", {
  shown <- plot_residuals(residuals_to_see())$data
  model <- lme4::lmer(tokens ~ condition + (1 | wording), data = residuals_to_see())
  residual <- sort(unname(resid(model) / sigma(model)))
  expect_lte(nrow(shown), 200)
  expect_equal(range(shown$y), range(residual), tolerance = 1e-5)
  expect_equal(min(shown$x), qnorm(ppoints(240))[[1]])
})

test_figure("refusals are left out, and nothing to draw is one sentence", {
  refused <- transform(residuals_to_see(), is_refusal = item <= 6)
  expect_equal(nrow(plot_residuals(refused)$data), 120)
  expect_error(plot_residuals(transform(refused, is_refusal = TRUE)), "no answered trial")
  file <- withr::local_tempfile(fileext = ".png")
  expect_silent(plot_residuals(refused, file))
  expect_gt(file.size(file), 10000)
})
