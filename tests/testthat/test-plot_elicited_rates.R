made_rates <- function() {
  jobs <- c("Lawyers", "Bankers", "Janitors", "Cashiers")
  rates <- expand.grid(job = jobs, model = c("a", "b"), stringsAsFactors = FALSE)
  transform(
    rates,
    source = "simulated", class = ifelse(job %in% c("Lawyers", "Bankers"), "high_competence", "low_competence"),
    mean_rate = c(.2, .3, .8, .7, .25, .35, .97, .6), sd_rate = .2, n = 30
  )
}

test_figure("jobs stand in the order of their mean within their class, the likeliest on top", {
  rows <- plot_elicited_rates(made_rates())$data
  in_order <- unique(rows[order(rows$job_height, decreasing = TRUE), c("class", "job")])
  expect_equal(in_order$job[in_order$class == "low_competence"], c("Janitors", "Cashiers"))
  expect_equal(in_order$job[in_order$class == "high_competence"], c("Bankers", "Lawyers"))
})

test_that("intervals are of t over conversations, never beyond 0 and 100 %, and none of one answer", {
  rows <- rates_to_draw(made_rates())
  expect_equal(rows$at[[1]] - rows$low[[1]], 100 * stats::qt(.975, 29) * .2 / sqrt(30))
  expect_equal(max(rows$high), 100)
  expect_true(all(is.na(rates_to_draw(transform(made_rates(), n = 1))$low)))
})

test_figure("rows of two variants are refused, and the words give means by class", {
  expect_error(plot_elicited_rates(rbind(made_rates(), made_rates())), "more than one row for a job")
  expect_match(attr(plot_elicited_rates(made_rates()), "alt_text"), "a: high competence 25, low competence 75")
})

test_looks("elicited rates", plot_elicited_rates(made_rates()))
