test_figure("it draws each model, test and condition, and says which is farthest from chance", {
  places <- data.frame(
    source = "simulated", model = "small", test = "pets", condition = c("together", "apart"), n = 20L,
    rate_first = c(.5, .9), conf_low = c(.3, .7), conf_high = c(.7, .97), chance = .5
  )
  plot <- plot_first_options(places)
  expect_match(attr(plot, "alt_text"), "Farthest from chance: small, pets, apart, with 90.0 per cent")
  expect_equal(nrow(plot$data), 2)
  expect_takes_theme(plot)
  expect_error(plot_first_options(transform(places, rate_first = NA)), "no row with a share")
})
