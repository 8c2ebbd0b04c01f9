answers_of_words <- function(p_of_one, p_of_others) {
  withr::local_seed(3)
  answers <- expand.grid(i = 1:20, item = letters[1:8], condition = c("usual", "crossed"), stringsAsFactors = FALSE)
  p <- ifelse(answers$condition == "usual", .95, ifelse(answers$item == "a", p_of_one, p_of_others))
  transform(answers, wording = 1, is_consistent = runif(nrow(answers)) < p)
}
left_out <- function(answers, ...) check_left_out(answers, levels = c("usual", "crossed"), ...)

test_that("one word that makes the effect is named, an effect of all words has none", {
  found <- left_out(answers_of_words(0, .95))
  expect_equal(found$left_out[found$carries_effect], "a")
  expect_false(any(left_out(answers_of_words(.6, .6))$carries_effect))
})

test_that("the difference without a word is that of the other rows, and a column of one value takes no part", {
  answers <- answers_of_words(.5, .8)
  found <- left_out(answers)
  others <- answers[answers$item != "c", ]
  means <- tapply(others$is_consistent, others$condition, mean)
  expect_equal(found$delta_p[found$left_out == "c"], means[["usual"]] - means[["crossed"]])
  expect_equal(unique(found$part), "item")
  expect_match(left_out(answers[answers$item == "a", ])$messages, "nothing to leave out")
})
