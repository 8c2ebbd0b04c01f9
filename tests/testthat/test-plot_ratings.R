counted_ratings <- function() {
  rows <- drawn_profiles()
  counts <- as.data.frame(
    table(level = rows$job, category = rows$rating, model = rows$model),
    responseName = "n", stringsAsFactors = FALSE
  )
  transform(counts, category = as.integer(category), attribute = "job", source = "simulated")
}

test_that("bars have all ratings, and the middle point lies half on each side", {
  rows <- data.frame(attribute = "a", level = "b", category = 1:3, n = c(1, 2, 5))
  pieces <- rating_pieces(attribute_figure_rows(rows))
  expect_equal(pieces$from, c(-.25, -.125, .125))
  expect_equal(pieces$to, c(-.125, .125, .75))
  even <- rating_pieces(attribute_figure_rows(data.frame(attribute = "a", level = "b", category = 1:4, n = 1)))
  expect_equal(even$to[[2]], 0)
})

test_figure("the figure looks as it did", {
  plot <- plot_ratings(counted_ratings())
  expect_same_figure("ratings", plot)
  expect_match(attr(plot, "alt_text"), "Mean rating: job, clerk, one")
})

test_figure("of many bars the alternative text has the lowest and the highest mean alone", {
  rows <- data.frame(attribute = "a", level = rep(paste0("l", 1:30), each = 3), category = 1:3, n = c(1:89, 500))
  text <- attr(plot_ratings(rows), "alt_text")
  expect_match(text, "the lowest and the highest: a, l29, All models 2.01; a, l30, All models 2.61", fixed = TRUE)
})

test_figure("more models than have room next to each other, and long names of levels, leave the bars their room", {
  rows <- data.frame(attribute = "a", level = c(strrep("long name ", 9), "l2"), category = rep(1:3, each = 2), n = 2)
  rows <- merge(rows, data.frame(model = sprintf("model-%02d", 1:40)))
  beside <- grid::convertWidth(measured(plot_ratings(rows))$widths, "in", valueOnly = TRUE)
  expect_lt(sum(beside), 5)
})
