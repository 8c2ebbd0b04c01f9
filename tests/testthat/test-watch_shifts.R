asked_again <- function(n_prompts, n_occasions, shift = 0, from = Inf) {
  rows <- expand.grid(prompt = seq_len(n_prompts), occasion = seq_len(n_occasions))
  rows$value <- rnorm(n_prompts)[rows$prompt] + rnorm(nrow(rows)) + shift * (rows$occasion >= from)
  rows
}

test_that("sixty looks without a change give few false alarms", {
  withr::local_seed(5)
  alarms <- replicate(40, any(watch_shifts(asked_again(50, 61))$is_alarm))
  expect_lte(mean(alarms), .1)
})

test_that("a shift of .2 SD after thirty quiet occasions is found within six", {
  withr::local_seed(6)
  waits <- replicate(7, {
    found <- watch_shifts(asked_again(200, 38, .2, 32))
    c(found$occasion[found$is_alarm], 99)[[1]] - 31
  })
  expect_lte(median(waits), 6)
})

test_that("a shift of one level alone is the difference of the sides, and its beginning is named", {
  withr::local_seed(7)
  rows <- asked_again(200, 12)
  rows$side <- ifelse(rows$prompt > 100, 1, -1)
  rows$value <- rows$value + (rows$side == 1 & rows$occasion >= 9)
  last <- tail(watch_shifts(rows), 1)
  expect_true(last$is_alarm)
  expect_equal(last$since, 9L)
  expect_lt(abs(last$shift - 1), .3)
})

test_that("profiles of one choice are one prompt: what one gains the other loses", {
  withr::local_seed(8)
  rows <- asked_again(100, 4)
  both <- rbind(transform(rows, side = 1), transform(rows, side = -1, value = -value, prompt = prompt + 100))
  both$cluster <- (both$prompt - 1) %% 100 + 1
  half <- function(rows) tail(transform(watch_shifts(rows), half = conf_high - shift)$half, 1)
  expect_gt(half(both), 1.3 * half(both[names(both) != "cluster"]))
  expect_equal(half(transform(rows, cluster = prompt)), half(rows))
})

test_that("one answer that changes after many that were alike is no alarm", {
  rows <- expand.grid(prompt = 1:100, occasion = 1:20)
  rows$value <- as.double(rows$occasion == 20 & rows$prompt == 1)
  expect_false(any(watch_shifts(rows)$is_alarm))
  expect_true(tail(watch_shifts(transform(rows, value = as.double(occasion == 20 & prompt < 30))), 1)$is_alarm)
})

test_that("figures of a successor and of a watch say how many there are", {
  skip_if_not_installed("ggplot2")
  watched <- watch_shifts(expand.grid(prompt = 1:9, occasion = 1:3) |> transform(value = sin(prompt * occasion)))
  file <- withr::local_tempfile(fileext = ".svg")
  draw_figure("plot_watch", watched, file)
  expect_match(paste(readLines(file), collapse = " "), "0 of 2 looks with an alarm")
  pairs <- data.frame(item = 1:20, old = sin(1:20), new = cos(1:20))
  draw_figure("plot_successor", compare_successor(pairs, cluster = "item", bound = 2), file)
  expect_match(paste(readLines(file), collapse = " "), "1 equivalent within the bound")
})

test_that("a figure of many panels draws the farthest, and says how many there are", {
  rows <- frame_of(term = sprintf("level %02d", 1:20), estimate = 1:20)
  drawn <- farthest_panels(rows, "term", rows$estimate)
  expect_setequal(as.character(drawn$panel), sprintf("level %02d", 9:20))
  expect_match(farthest_note(drawn), "^20 panels; the 12 farthest")
  expect_null(farthest_note(farthest_panels(rows[1:12, ], "term", 1:12)))
})
