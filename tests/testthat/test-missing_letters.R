test_figure("letters that no font has are named with the package that has one, common ones never", {
  expect_null(missing_letters_note(ggplot2::ggplot() + ggplot2::labs(title = "D\u0394, \u2212.5 \u2264 \u00e9")))
  skip_if(!nzchar(Sys.which("fc-list")))
  rare <- 0xE000 + 0:20 # a private area: hardly a font has all of these
  rare <- rare[!vapply(rare, has_font, NA)]
  skip_if(length(rare) == 0)
  plot <- ggplot2::ggplot() + ggplot2::labs(title = paste("Tea", intToUtf8(rare[[1]])))
  expect_match(missing_letters_note(plot), intToUtf8(rare[[1]]), fixed = TRUE)
  expect_match(missing_letters_note(plot), "apt-get install fonts-noto-core", fixed = TRUE)
})

test_that("each script has its package", {
  points <- utf8ToInt("\u8336\u30b3\uac00\U1F600\u0627")
  expect_identical(font_packages(points), c(rep("fonts-noto-cjk", 3), "fonts-noto-color-emoji", "fonts-noto-core"))
})

test_figure("letters that are not drawn are not named", {
  rows <- data.frame(x = 1, y = 1, answer = intToUtf8(0xE000))
  expect_null(missing_letters_note(ggplot2::ggplot(rows, ggplot2::aes(x, y)) + ggplot2::geom_point()))
})
