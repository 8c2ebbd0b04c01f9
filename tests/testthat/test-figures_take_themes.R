test_that("each figure has a test that adds a theme to it", {
  root <- root_folder()
  figures <- ls(environment(draw_figure), pattern = "^plot_")
  expect_gt(length(figures), 20)
  for (figure in figures) {
    test <- file.path(root, "tests", "testthat", sprintf("test-%s.R", figure))
    skip_if_not(file.exists(test), "not in a checkout")
    text <- paste(readLines(test, encoding = "UTF-8"), collapse = "\n")
    expect_match(text, "expect_(same_figure|takes_theme)\\(", info = figure)
  }
})
