# Ratings of 12 items by the model and by people, of one distribution but for `shift`, `scale` and `turned`.
both_sides <- function(seed = 1, n_model = 40, n_people = 120, shift = 0, scale = 1, turned = FALSE) {
  withr::with_seed(seed, {
    means <- stats::rnorm(12, 4, .8)
    side <- function(n, people, means) {
      rows <- expand.grid(unit = seq_len(n), item = sprintf("q%02d", 1:12), stringsAsFactors = FALSE)
      own <- stats::rnorm(n, 0, .5)[rows$unit] + stats::rnorm(nrow(rows))
      change <- if (people) 0 else shift
      rows$rating <- means[match(rows$item, unique(rows$item))] + change + own * if (people) 1 else scale
      rows$level <- ifelse(rows$item %in% c("q01", "q02", "q03"), "b", "a")
      cbind(rows, is_people = people)
    }
    rbind(side(n_model, FALSE, if (turned) 8 - means else means), side(n_people, TRUE, means))
  })
}
alike_of <- function(..., n_draws = 99) alike(both_sides(...), "rating", n_draws = n_draws)

test_that("differences are Welch's, and two one-sided tests those of the bound", {
  rows <- both_sides()
  found <- alike(rows, "rating", bound = .5, n_draws = 19)$differences
  first <- found[found$kind == "item", ][1, ]
  sides <- split(rows$rating[rows$item == "q01"], rows$is_people[rows$item == "q01"])
  welch <- stats::t.test(sides[["FALSE"]], sides[["TRUE"]])
  expect_equal(first$p_value, welch$p.value)
  expect_equal(c(first$conf_low, first$conf_high), as.vector(welch$conf.int))
  limit <- .5 * stats::sd(sides[["TRUE"]])
  one_sided <- c(
    stats::t.test(sides[["FALSE"]], sides[["TRUE"]], mu = -limit, alternative = "greater")$p.value,
    stats::t.test(sides[["FALSE"]], sides[["TRUE"]], mu = limit, alternative = "less")$p.value
  )
  expect_equal(first$p_equivalence, max(one_sided))
  items <- found[found$kind == "item", ]
  expect_equal(items$p_adjusted, stats::p.adjust(items$p_value, "holm"))
})

test_that("an answer that is missing is left out, with a message, as if its row were not there", {
  rows <- both_sides()
  expect_message(found <- alike(replace(rows, "rating", replace(rows$rating, 3, NA)), "rating", n_draws = 9), "1 row ")
  expect_equal(found, alike(rows[-3, ], "rating", n_draws = 9))
})

test_that("a model that varies half as much is found so, by every test of spread", {
  found <- alike_of(scale = .5)
  all <- found$spread[is.na(found$spread$item), ]
  expect_lt(all$ratio_high, 1)
  expect_equal(all$variance_ratio, .25, tolerance = .2)
  expect_lt(max(all$p_ratio, all$p_wasserstein), .02)
  expect_gt(found$range$share_outside[[1]], found$range$expected[[1]])
  expect_lt(found$range$p_value[[1]], .02)
})

test_that("people who answered a few of the items each are compared, and have no central 95 % of an item", {
  rows <- both_sides()
  few <- withr::with_seed(2, rows$is_people & stats::runif(nrow(rows)) < .97)
  expect_no_warning(found <- alike(rows[!few, ], "rating", n_draws = 19))
  expect_true(all(is.na(found$range$model_outside)))
  expect_true(all(is.finite(found$range$share_outside), is.finite(found$spread$wasserstein)))
})

test_that("an order of items that is turned round has a correlation of -1, whatever the means", {
  found <- alike_of(turned = TRUE)$order
  expect_equal(found$correlation, -1, tolerance = .1)
  expect_lte(found$corrected, found$correlation)
  expect_lt(found$conf_high, -.8)
})

test_that("the distance between two samples is that of their quantiles", {
  counts <- function(x, values) as.matrix(tabulate(match(x, values), length(values)))
  distance <- function(x, y) {
    values <- sort(unique(c(x, y)))
    wasserstein(counts(x, values), counts(y, values), values)
  }
  expect_equal(distance(c(1, 2, 3), c(2, 3, 4)), 1)
  expect_equal(distance(c(0, 0), c(0, 0, 3)), 1)
  x <- c(5, 1, 4, 4, 2, 9)
  values <- sort(unique(x))
  expect_equal(quantile_of(counts(x, values), values, .025), stats::quantile(x, .025, names = FALSE))
  expect_equal(quantile_of(counts(x, values), values, .975), stats::quantile(x, .975, names = FALSE))
})

test_that("what a level changes is compared with errors over units, on both sides", {
  rows <- both_sides(shift = 1)
  rows$rating <- rows$rating + ifelse(rows$level == "b" & !rows$is_people, 1, 0)
  found <- alike(rows, "rating", effects = "level", levels = list(level = c("a", "b")), n_draws = 19)$differences
  effect <- found[found$kind == "effect", ]
  expect_equal(effect$name, "level: b")
  expect_true(effect$conf_low < 1 && 1 < effect$conf_high)
  expect_equal(effect$finding, "differs by more than the bound")
})

# Three groups of 60 people, who differ in every item; the model as each of them draws them `slope` times as far apart.
with_personas <- function(times = 1, mixed = FALSE) {
  withr::with_seed(3, {
    of_group <- matrix(stats::rnorm(36), 3)
    side <- function(n, people, times, groups) {
      rows <- expand.grid(unit = seq_len(n), group = 1:3, item = 1:12)
      own <- of_group[cbind(groups[rows$group], rows$item)]
      rows$rating <- 4 + times * own + stats::rnorm(nrow(rows), 0, .7)
      rows$unit <- paste(rows$group, rows$unit)
      cbind(rows, is_people = people)
    }
    plain <- expand.grid(unit = sprintf("0 %d", 1:20), group = NA, item = 1:12)
    plain <- cbind(plain, rating = 4 + stats::rnorm(240, 0, .7), is_people = FALSE)
    rbind(side(20, FALSE, times, if (mixed) c(2, 3, 1) else 1:3), plain, side(60, TRUE, 1, 1:3))
  })
}

test_in_full("personas that follow their groups correlate, and a slope says how far they are drawn", {
  found <- alike(with_personas(2), "rating", group = "group", n_draws = 99)$personas
  expect_gt(found$conf_low, .9)
  expect_true(found$slope_low < .5 && .5 < found$slope_high)
  true <- alike(with_personas(), "rating", group = "group", n_draws = 19)$personas
  expect_lt(true$rmse_persona, true$rmse_plain / 3)
  expect_lt(alike(with_personas(mixed = TRUE), "rating", group = "group", n_draws = 19)$personas$correlation, .5)
})

test_that("few answers, and items that only one side has, are told", {
  rows <- both_sides(n_model = 2)
  found <- alike(rows, "rating", n_draws = 19)$differences
  expect_equal(found$status, "failed")
  expect_match(found$messages, "The model answered 2 times and people 120 times: too few for errors.", fixed = TRUE)
  lacking <- subset(both_sides(), is_people | item != "q12")
  expect_match(alike(lacking, "rating", n_draws = 19)$order$messages, "Left out: 1 item that only one side answered")
  expect_error(alike(rows, "rating", bound = 0), "`bound` must be a number above 0")
})

test_that("an item that is refused mostly weighs as much as the others", {
  rows <- both_sides(n_model = 60)
  means <- function(rows) tapply(rows$rating, rows[c("is_people", "item")], mean)
  refused <- !rows$is_people & rows$item == "q01" & rows$unit > 12
  rows$rating[!rows$is_people & rows$item == "q01"] <- 1 + sin(1:60)
  all <- alike(rows[!refused, ], "rating", n_draws = 9)$differences[1, ]
  expect_equal(all$difference, mean(diff(means(rows[!refused, ]))) * -1)
})

test_that("identical answers count as one, and no interval is NaN", {
  rows <- both_sides()
  rows$rating[!rows$is_people] <- 4
  found <- alike(rows, "rating", n_draws = 9)
  expect_equal(unique(found$differences$status), "failed")
  expect_match(found$spread$messages[[1]], "the same answers all 40 times: they count as one")
  one <- both_sides()
  one$rating[!one$is_people & one$item == "q02"] <- 4
  spread <- alike(one, "rating", n_draws = 9)$spread
  expect_false(any(vapply(spread, function(column) any(is.nan(column)), NA)))
})
