made_prevalence <- function() {
  scopes <- data.frame(
    scope = c("model", "model", "condition", "condition", "test", "model x condition"),
    model = c("gpt-oss-20b", "claude-3.7-sonnet", NA, NA, NA, "gpt-oss-20b"),
    condition = c(NA, NA, conditions, NA, "compatible"), test = c(NA, NA, NA, NA, "age_valence", NA),
    model_no = c(4, 3, NA, NA, NA, 4), estimate = c(.1, .8, .4, .5, .45, .1)
  )
  rows <- rbind(
    transform(scopes, topic = 1, words = "bias, stereotyp, implicit"),
    transform(scopes, topic = 2, words = "think, sure, mix", estimate = 1 - estimate)
  )
  transform(rows, conf_low = estimate - .02, conf_high = estimate + .02, source = "imported")
}

test_figure("models stand in the order of the study, and each topic has its words", {
  plot <- plot_topic_prevalence(made_prevalence())
  expect_equal(rev(levels(plot$data$value))[1:2], c("claude-3.7-sonnet", "gpt-oss-20b"))
  expect_equal(levels(plot$data$topic_shown)[[1]], "Topic 1\nbias, stereotyp,\nimplicit")
  expect_equal(nrow(plot$data), 10) # a share by model and condition is no row of the figure
})

test_figure("the words for the figure name every model's shares and the source", {
  said <- attr(plot_topic_prevalence(made_prevalence()), "alt_text")
  expect_match(said, "Topic 1 bias, stereotyp, implicit: claude-3.7-sonnet 80.0 %, gpt-oss-20b 10.0 %", fixed = TRUE)
  expect_match(said, "Imported answers")
})

test_figure("two fits in one figure, or none, are refused", {
  expect_error(plot_topic_prevalence(rbind(made_prevalence(), made_prevalence())), "rows of one fit")
  expect_error(plot_topic_prevalence(made_prevalence()[0, ]), "no share by model")
})

test_figure("the figure is drawn as it was, and as SVG and PNG", {
  for (ending in c(".svg", ".png")) {
    file <- withr::local_tempfile(fileext = ending)
    expect_silent(plot_topic_prevalence(made_prevalence(), file))
    expect_gt(file.size(file), 5000)
  }
  expect_same_figure("topic prevalence", plot_topic_prevalence(made_prevalence()))
})
