# One model that varies less than people do, in the order that they have.
compared_sides <- function() {
  answers <- expand.grid(unit = 1:60, item = letters[1:4])
  answers$people <- answers$unit > 20
  noise <- sin(seq_len(nrow(answers)) * 7.7) * ifelse(answers$people, 2, 1)
  answers$rating <- 4 + as.integer(answers$item) + noise
  found <- alike(answers, "rating", people = "people", n_draws = 49)
  lapply(found, function(part) cbind(model = rep("m", nrow(part)), part))
}

test_figure("each part of a comparison has a figure that says what is on its axis", {
  found <- compared_sides()
  spread <- plot_alike_spread(found)
  expect_equal(levels(spread$data$level_shown), c(letters[1:4], "all items"))
  expect_true(all(spread$data$at < 1))
  range <- plot_alike_range(found)
  expect_equal(range$data$at, 100 * range$data$share_outside)
  order <- plot_alike_order(found)
  expect_match(attr(order, "alt_text"), "Means of 4 items.*r = 1.00 [(]m, items[)]")
  for (plot in list(spread, range, order, plot_alike(found$differences))) expect_takes_theme(plot)
})

test_figure("personas are a correlation and a slope, and a comparison without them is a sentence", {
  rows <- data.frame(
    model = "m", test = "rating", correlation = .8, conf_low = .6, conf_high = .9, slope = .4, slope_low = .2,
    slope_high = .6
  )
  plot <- plot_alike_personas(rows)
  expect_equal(plot$data$at, c(.8, .4))
  expect_takes_theme(plot)
  expect_error(plot_alike_personas(rows[0, ]), "there are no rows")
})
