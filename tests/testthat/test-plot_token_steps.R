stepped_trials <- function() {
  withr::local_seed(1)
  data.frame(
    model = rep(c("o3-mini", "deepseek-r1"), each = 400), tokens = c(64 * rpois(400, 4), rpois(400, 300)),
    source = "imported", token_source = rep(c("usage", "output"), each = 400)
  )
}

test_figure("a step of 64 is found, and its bars have gaps", {
  bars <- plot_token_steps(stepped_trials())$data
  o3 <- bars[bars$model_shown == "o3-mini", ]
  expect_equal(unique(bars$step), c(64, 1))
  expect_true(all(o3$from <= 64 * ceiling(o3$from / 64) & o3$to > 64 * ceiling(o3$from / 64)))
  expect_true(all(o3$to - o3$from <= 16))
  expect_lt(max(o3$n), 400)
})

test_figure("each trial is in one bar, but for the highest hundredth, which the caption counts", {
  trials <- stepped_trials()
  plot <- plot_token_steps(trials)
  is_shown <- trials$tokens <= ave(trials$tokens, trials$model, FUN = function(x) quantile(x, .99, type = 1))
  expect_equal(sum(plot$data$n), sum(is_shown))
  expect_match(gsub("\n", " ", plot$labels$caption), sprintf("outside \\(%d trials\\)", sum(!is_shown)))
  expect_match(attr(plot, "alt_text"), "Steps in tokens: o3-mini 64; deepseek-r1 1. Imported answers")
})

test_figure("counts that are all alike have no step, and zero is no count of a step", {
  expect_equal(token_step(c(0, 0, 64)), NA_real_)
  expect_equal(token_step(c(0, 128, 192, 64)), 64)
  expect_equal(token_step(c(0, 12, 8)), 4)
  png <- withr::local_tempfile(fileext = ".png")
  expect_silent(plot_token_steps(data.frame(model = "m", tokens = c(64, 64)), png))
  expect_match(attr(plot_token_steps(data.frame(model = "m", tokens = 7)), "alt_text"), "m unknown")
})

test_figure("several sources in one model are a warning, and nothing to draw is one sentence", {
  trials <- stepped_trials()
  mixed <- transform(trials, source = rep(c("simulated", "imported"), 400))
  expect_warning(plot_token_steps(mixed), "more than one source")
  expect_error(plot_token_steps(transform(trials, tokens = NA)), "no trial with a token count")
})

test_looks("token steps", plot_token_steps(stepped_trials()))
