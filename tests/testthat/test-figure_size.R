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
