effects_of <- function(trials, ...) effect_size(trials, by = c("model", "test"), ...)

size_of <- function(file) {
  lines <- readLines(file, n = 3, encoding = "UTF-8")
  numbers <- regmatches(lines, regexec("width=\"([0-9.]+)(?:pt)?\" height=\"([0-9.]+)", lines))
  as.numeric(Filter(length, numbers)[[1]][2:3]) / 72
}

test_figure("a figure is as wide and high as it is asked to be", {
  file <- withr::local_tempfile(fileext = ".svg")
  plot_effect_sizes(effects_of(simulate_trials(n_wordings = 2)), file, width = 3.5, height = 5)
  expect_equal(size_of(file), c(3.5, 5))
})

test_figure("words wrap to the width, and the height follows them", {
  narrow <- withr::local_tempfile(fileext = ".svg")
  own <- withr::local_tempfile(fileext = ".svg")
  effects <- effects_of(simulate_trials(n_wordings = 2))
  lines <- strsplit(plot_effect_sizes(effects, width = 3.5)$labels$subtitle, "\n", fixed = TRUE)[[1]]
  expect_gt(length(lines), 1)
  expect_lt(max(nchar(lines)), 60)
  plot_effect_sizes(effects, narrow, width = 3.5)
  plot_effect_sizes(effects, own)
  expect_equal(size_of(narrow)[[1]], 3.5)
  expect_gt(size_of(narrow)[[2]], size_of(own)[[2]])
})

test_figure("panels for which a narrow figure has no room stand below each other", {
  columns <- function(...) {
    built <- ggplot2::ggplot_build(plot_tokens(simulate_trials(n_wordings = 2), ...))
    max(built$layout$layout$COL)
  }
  expect_equal(columns(), 2)
  expect_equal(columns(width = 3.5), 1)
})

test_figure("what is no size of a figure is said in a sentence", {
  effects <- effects_of(simulate_trials(n_wordings = 2))
  for (width in list(0, "abc", 4000, NA, c(1, 2))) {
    expect_error(plot_effect_sizes(effects, width = width), "`width` must be a number of inches from 1 to 50")
  }
})

test_figure("any figure takes a title, an order and what to highlight, and says what it does not show", {
  rows <- expand.grid(level = c("noon", "ten", "one"), attribute = c("hour", "job_title"), stringsAsFactors = FALSE)
  rows$term <- paste0(rows$attribute, ": ", rows$level)
  rows[c("estimate", "conf_low", "conf_high")] <- list(c(.2, .3, .1), 0, .5)
  asked <- function(...) plot_marginal_means(rows, ...)
  shown <- function(plot) levels(plot$data$level_shown)
  expect_identical(shown(asked()), c("noon", "ten", "one"))
  expect_identical(shown(asked(order = "one")), c("one", "noon", "ten"))
  expect_identical(shown(asked(order = "value")), c("ten", "noon", "one"))
  expect_identical(levels(asked()$data$attribute_shown), c("hour", "job title"))
  plot <- asked(highlight = "ten", title = "Hours") + ggplot2::theme(legend.position = "none")
  points <- ggplot2::ggplot_build(plot)$data[[2]]
  expect_identical(sort(unique(points$alpha)), c(.25, 1))
  expect_identical(plot$labels$title, "Hours")
  expect_error(asked(highlight = "eleven"), 'This figure does not show "eleven"', fixed = TRUE)
  expect_null(getOption("slant.figure"))
})

test_figure("no figure has a minus before zero, nor colour where nothing was found", {
  expect_identical(
    no_minus_zero("-0.00 to -0.04; -.00, -0, 1-0, -0.001: -0.0."), "0.00 to -0.04; .00, 0, 1-0, -0.001: 0.0."
  )
  rows <- data.frame(
    term = paste0("a: ", c("p", "q", "p", "q"), " x b: ", c("u", "u", "v", "v")), estimate = c(-1e-4, 1e-4, 2, -2),
    conf_low = c(-1, -1, 1, -3), conf_high = c(1, 1, 3, -1), model = rep(c("m1", "m2"), each = 2)
  )
  tiles <- interaction_tiles(rows)
  expect_identical(tiles$text, c("0.0", "0.0", "2.0*", "-2.0*"))
  expect_identical(levels(tiles$panel), c("a and b, m1", "a and b, m2"))
  fills <- ggplot2::ggplot_build(plot_interactions(rows))$data[[1]]$fill
  expect_length(unique(fills), 3)
})
