# Texts of two conditions in which a coder gives false alarms unequally often; people have coded those that were drawn.
checked_texts <- function(n = 4000) {
  set.seed(4)
  texts <- data.frame(condition = rep(c("plain", "polite"), n / 2), truth = rbinom(n, 1, .4), name = rep(1:40, n / 40))
  false <- ifelse(texts$condition == "polite", .3, .05)
  texts$coder <- ifelse(texts$truth == 1, rbinom(n, 1, .9), rbinom(n, 1, false))
  texts$drawn <- ifelse(texts$coder == 1, .5, .1)
  texts$people <- ifelse(runif(n) < texts$drawn, texts$truth, NA)
  texts
}

test_that("rates are those of all texts though more of some were drawn, and their difference has its interval", {
  texts <- checked_texts()
  found <- coder_errors(texts, attributes = "condition", probability = "drawn")
  false <- subset(found, measure == "false_positives")
  expect_equal(false$level, c(NA, "plain", "polite", "polite"))
  expect_equal(false$reference, c(NA, NA, NA, "plain"))
  true <- with(subset(texts, truth == 0), tapply(coder, condition, mean))
  expect_equal(false$estimate[2:3], as.vector(true[c("plain", "polite")]), tolerance = .15)
  expect_true(false$conf_low[[4]] > 0 && false$conf_low[[4]] < .25 && false$conf_high[[4]] > .25)
  unweighted <- subset(coder_errors(texts), measure == "false_positives")
  expect_gt(unweighted$estimate[[1]], 2 * mean(texts$coder[texts$truth == 0]))
})

test_that("with equal probabilities rates and intervals are Wilson's and Newcombe's", {
  # Newcombe (1998), example (a): 56 of 70 against 48 of 80, method 10: .0524 to .3339
  rows <- data.frame(
    condition = rep(c("b", "a"), c(80, 70)), people = 1, coder = c(rep(1:0, c(48, 32)), rep(1:0, c(56, 14)))
  )
  found <- coder_errors(rows, attributes = "condition", levels = list(condition = c("b", "a")))
  difference <- found[found$measure == "sensitivity" & !is.na(found$reference), ]
  expect_equal(round(c(difference$estimate, difference$conf_low, difference$conf_high), 4), c(.2, .0524, .3339))
  none <- found[found$measure == "false_positives", ]
  expect_true(all(is.na(none$estimate)) && all(none$n == 0))
})

test_that("texts that share a name are fewer than they seem, and groups are measured apart", {
  texts <- cbind(checked_texts(), run = c("x", "y"))
  width <- function(...) with(subset(coder_errors(texts, ...), measure == "sensitivity"), conf_high - conf_low)
  texts$coder <- ifelse(texts$name %% 2 == 0, texts$coder, 1)
  expect_gt(width(cluster = "name")[[1]], width()[[1]])
  expect_equal(unique(coder_errors(texts, by = "run")$run), c("x", "y"))
})

test_figure("codes of people and of a model are counted in tiles", {
  codes <- data.frame(
    source = "simulated", model = "m", by_people = c("a", "a", "b"), by_model = c("a", "b", "b"), n = c(3, 1, 4)
  )
  expect_equal(confusion_tiles(codes)$text, c("3 (.75)", "1 (.25)", "0 (0)", "4 (1)"))
  expect_match(attr(plot_confusion(codes), "alt_text"), "m: 7 of 8")
})
