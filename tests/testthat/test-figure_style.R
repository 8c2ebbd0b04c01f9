grey_of <- function(colours) as.vector(c(.2126, .7152, .0722) %*% (grDevices::col2rgb(colours) / 255))

test_figure("the two conditions differ in grey and in shape", {
  scales <- condition_scales()
  fills <- scales[[1]]$palette(2)
  expect_gt(abs(diff(grey_of(fills))), .15)
  expect_equal(anyDuplicated(scales[[2]]$palette(2)), 0)
})

test_that("models that share a grey have another shape, and no two of many models look alike", {
  expect_equal(anyDuplicated(model_shapes()), 0)
  expect_equal(anyDuplicated(data.frame(recycled_colours(64), recycled_shapes(64))), 0)
})

# Machado, Oliveira and Fernandes (2009): what people with no red, no green or no blue cones see, as linear light.
blindness <- list(
  protanopia = c(.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882, -.048116, 1.051998),
  deuteranopia = c(.367322, .860646, -.227968, .280085, .672501, .047413, -.011820, .042940, .968881),
  tritanopia = c(1.255528, -.076749, -.178779, -.078411, .930809, .147602, .004733, .691367, .303900)
)

seen_as <- function(colours, matrix) {
  light <- (grDevices::col2rgb(colours) / 255)^2.2
  seen <- pmin(pmax(matrix(matrix, 3, byrow = TRUE) %*% light, 0), 1)
  grDevices::convertColor(t(seen^(1 / 2.2)), "sRGB", "Lab")
}

test_figure("five models and two conditions are told apart with any common colour blindness", {
  for (matrix in blindness) {
    expect_gt(min(stats::dist(seen_as(recycled_colours(5), matrix))), 10)
    expect_gt(min(stats::dist(seen_as(condition_scales()[[1]]$palette(2), matrix))), 25)
  }
})

test_figure("an SVG file tells screen readers what it shows, whatever characters are in it", {
  svg <- withr::local_tempfile(fileext = ".svg")
  refusals <- data.frame(model = "a <b> & \u00e9", test = "t", condition = "compatible", n_trials = 9, n_refusals = 1)
  plot_refusals(refusals, svg)
  text <- paste(readLines(svg, encoding = "UTF-8"), collapse = "\n")
  begins <- "<svg role=\"img\" [^>]+>\n<title>Refusals by condition</title>\n<desc>Share of refused trials for 1 test"
  expect_match(text, begins)
  expect_match(text, "a &lt;b> &amp; \u00e9 11.1", fixed = TRUE)
})

test_figure("a figure is the same file whatever was drawn before it", {
  files <- c(withr::local_tempfile(fileext = ".svg"), withr::local_tempfile(fileext = ".svg"))
  refusals <- data.frame(model = "a", test = "t", condition = "compatible", n_trials = 9, n_refusals = 1)
  for (file in files) plot_refusals(refusals, file)
  expect_length(unique(tools::md5sum(files)), 1)
})
