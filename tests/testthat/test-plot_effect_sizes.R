made_effects <- function() {
  data.frame(
    model = rep(c("o3-mini", "claude-3.7-sonnet"), each = 2), test = rep(c("young", "flowers"), 2),
    test_label = rep(c("Young/Old + Good/Bad", "Flowers/Insects + Good/Bad"), 2), test_no = c(10, 1, 10, 1),
    estimate = c(.5, 1, -.6, .1), conf_low = c(.3, .9, -.8, -.1), conf_high = c(.7, 1.1, -.4, .3),
    outcome = "tokens", source = "simulated"
  )
}

test_figure("the figure says its source, its order and what it shows", {
  plot <- plot_effect_sizes(made_effects())
  expect_s3_class(plot, "ggplot")
  expect_match(plot$labels$caption, "^Simulated answers")
  expect_equal(levels(plot$data$test_shown), c("Flowers/Insects\n+ Good/Bad", "Young/Old\n+ Good/Bad"))
  expect_match(attr(plot, "alt_text"), "Of 4 effects, 2 lie above 0 .*, 1 below 0, and 1 with intervals that include 0")
})

test_figure("the figure says what the tokens of each model are", {
  effects <- transform(made_effects(), token_source = ifelse(model == "o3-mini", "usage", "output"))
  said <- "Tokens are, for o3-mini: reasoning tokens (usage); claude-3.7-sonnet: all output tokens."
  expect_match(gsub("\n", " ", plot_effect_sizes(effects)$labels$caption), said, fixed = TRUE)
  expect_match(attr(plot_effect_sizes(effects), "alt_text"), said, fixed = TRUE)
})

test_figure("one is not many, and more models than colours are drawn", {
  expect_match(attr(plot_effect_sizes(made_effects()[1, ]), "alt_text"), "for 1 test and 1 model. Of 1 effect, 1 lie")
  many <- made_effects()[rep(1, 20), ]
  many$model <- sprintf("model %02d", 1:20)
  png <- withr::local_tempfile(fileext = ".png")
  expect_silent(plot_effect_sizes(many, png))
})

test_figure("each model keeps its height within a test, even where another one is missing", {
  whole <- plot_effect_sizes(made_effects())$data
  part <- plot_effect_sizes(made_effects()[-1, ])$data
  expect_equal(part$height, whole$height[-1])
})

test_figure("SVG, PNG and PDF are written by the ending", {
  svg <- withr::local_tempfile(fileext = ".svg")
  png <- withr::local_tempfile(fileext = ".png")
  expect_equal(plot_effect_sizes(made_effects(), svg)$path, svg)
  expect_match(plot_effect_sizes(made_effects(), png)$alt_text, "Cohen's d")
  expect_match(readLines(svg, n = 2)[[2]], "<svg")
  pdf <- withr::local_tempfile(fileext = ".pdf")
  plot_effect_sizes(made_effects(), pdf)
  expect_equal(rawToChar(readBin(pdf, "raw", 5)), "%PDF-")
  expect_equal(readBin(png, "raw", 4), as.raw(c(0x89, 0x50, 0x4e, 0x47)))
})

test_figure("what can't be drawn is one sentence", {
  effects <- made_effects()
  expect_error(plot_effect_sizes(effects, "figure.tiff"), "must end in .svg, .png or .pdf")
  expect_error(plot_effect_sizes(effects, "nowhere/figure.svg"), "there is no such folder.*dir.create\\(\"nowhere\"")
  expect_error(plot_effect_sizes(rbind(effects, effects)), "more than one row for a test")
  expect_error(plot_effect_sizes(effects[0, ]), "no row with an estimate")
  expect_error(plot_effect_sizes(effects[c("model", "test")]), "no column \"estimate\"")
})

test_looks("effect sizes", plot_effect_sizes(made_effects()))

test_figure("words follow the outcome: no tokens where a rating was given", {
  words <- function(effects) {
    plot <- plot_effect_sizes(effects)
    gsub("\n", " ", paste(c(plot$labels$title, plot$labels$subtitle, plot$labels$caption, attr(plot, "alt_text"))))
  }
  ratings <- transform(made_effects(), outcome = "mean_rating", compared = "high", token_source = "usage")
  expect_no_match(words(ratings), "token|think", ignore.case = TRUE)
  expect_match(words(ratings), "higher mean rating in the high condition", fixed = TRUE, all = FALSE)
  unknown <- made_effects()[setdiff(names(made_effects()), "outcome")]
  expect_no_match(words(unknown), "token|think", ignore.case = TRUE)
  trials <- transform(simulate_trials(n_wordings = 2), rating = tokens)
  expect_match(words(effect_size(trials, "rating", by = c("model", "test"))), "higher rating", all = FALSE)
})

test_figure("intervals of a mixed model are called so", {
  effects <- transform(made_effects(), interval = c(rep("mixed_model", 3), "independent_trials"))
  caption <- gsub("\n", " ", plot_effect_sizes(effects)$labels$caption)
  expect_match(caption, "those of the mixed model over words and wordings")
  expect_match(caption, "Of 1 cell it could not be fitted")
})
