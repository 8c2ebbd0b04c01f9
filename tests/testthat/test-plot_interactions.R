test_figure("a tile a combination, starred where p is small, corrected for the number of contrasts", {
  rows <- drawn_profiles()
  rows$rating <- rows$rating + (rows$group == "women") * (rows$job == "nurse")
  fit <- amie(rows, "rating", c("group", "job"), "person")
  tiles <- interaction_tiles(fit$estimates)
  expect_equal(nrow(tiles), 6)
  expect_equal(grepl("*", tiles$text, fixed = TRUE), tiles$is_apart)
  expect_same_figure("interactions", plot_interactions(fit))
})

test_figure("a figure of one model and question names both, in its title and for those who hear it", {
  rows <- drawn_profiles()
  estimates <- amie(rows, "rating", c("group", "job"), "person")$estimates
  plot <- plot_interactions(transform(estimates, model = "m1", outcome = "invite"))
  expect_identical(plot$labels$title, "What do combinations add? m1, invite")
  alt_text <- "Heat map of what 6 combinations of group and job add: m1, invite."
  expect_match(attr(plot, "alt_text"), alt_text, fixed = TRUE)
})

test_figure("pairs of attributes stand in panels of their own", {
  rows <- drawn_profiles()
  rows$wording <- rep_len(c("plain", "polite"), nrow(rows))
  pairs <- list(c("group", "job"), c("group", "wording"))
  estimates <- do.call(rbind, lapply(pairs, function(pair) amie(rows, "rating", pair, "person")$estimates))
  panels <- ggplot2::ggplot_build(plot_interactions(estimates))$layout$layout$panel
  expect_identical(as.character(panels), c("group and job", "group and wording"))
})
