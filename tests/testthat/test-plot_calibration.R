made_ranks <- function(n = 60) {
  rows <- expand.grid(number = seq_len(n), quantity = c("intercept", "sd_item", "conditionincongruent:modelgpt-5"))
  rows$rank <- (37 * rows$number + 5 * as.integer(rows$quantity)) %% 100
  is_narrow <- rows$quantity == "sd_item"
  rows$rank[is_narrow] <- 30 + rows$rank[is_narrow] %/% 3
  transform(rows, n_draws = 99, status = ifelse(number == 1, "divergent", "ok"), quantity = as.character(quantity))
}

test_figure("a panel says how far its ranks leave the band, and the words say which do", {
  plot <- plot_calibration(made_ranks())
  expect_match(levels(plot$data$panel)[[2]], "sd_item\np < 0.0001")
  words <- attr(plot, "alt_text")
  expect_match(words, "sd_item: p < 0.0001, leaves its band")
  expect_match(words, "60 data sets drawn from the prior")
  expect_match(words, "Divergent or not converged, and shown: 1 fit", fixed = TRUE)
})

test_figure("a line that leaves the band is of another colour, and fits that failed are counted", {
  failed <- transform(made_ranks()[1, ], number = 99, quantity = NA, rank = NA, status = "failed")
  plot <- plot_calibration(rbind(made_ranks(), failed))
  expect_equal(as.character(tapply(as.character(plot$data$verdict), plot$data$panel, unique)),
               c("stays in the band", "leaves it", "stays in the band"))
  expect_match(attr(plot, "alt_text"), "Failed, and not shown: 1 fit", fixed = TRUE)
})

test_looks("calibration", plot_calibration(made_ranks()))
