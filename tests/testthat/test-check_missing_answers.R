answers_missing <- function(n_usual, n_crossed, n = 100) {
  outcome <- function(n_missing) rep(c("refused", "answered"), c(n_missing, n - n_missing))
  answers <- data.frame(
    condition = rep(c("usual", "crossed"), each = n), outcome = c(outcome(n_usual), outcome(n_crossed)),
    is_consistent = rep(c(TRUE, FALSE, TRUE, FALSE), c(80, 20, 60, 40))
  )
  answers$is_consistent[answers$outcome != "answered"] <- NA
  answers
}

test_that("answers that are missing in one condition are seen, the same number in both is not", {
  found <- check_missing_answers(answers_missing(2, 25), levels = c("usual", "crossed"))
  expect_equal(found$n_refused, c(2, 25))
  expect_equal(found$p_value[[1]], fisher.test(rbind(c(2, 25), c(98, 75)))$p.value)
  expect_lt(found$p_holm[[1]], .001)
  expect_equal(check_missing_answers(answers_missing(5, 5), levels = c("usual", "crossed"))$p_holm, c(1, 1))
})

test_that("none missing, and one condition only, have a row each", {
  expect_equal(check_missing_answers(answers_missing(0, 0), levels = c("usual", "crossed"))$p_value, c(1, 1))
  one <- answers_missing(3, 0)[1:100, ]
  found <- check_missing_answers(one, levels = c("usual", "crossed"))
  expect_equal(found$n_missing, 3)
  expect_true(is.na(found$p_value))
})

test_that("groups are corrected together, each once", {
  answers <- rbind(transform(answers_missing(2, 12), model = "a"), transform(answers_missing(5, 5), model = "b"))
  found <- check_missing_answers(answers, by = "model", levels = c("usual", "crossed"))
  expect_equal(found$p_holm[[1]], 2 * found$p_value[[1]])
  expect_equal(found$p_holm[1:2], rep(found$p_holm[[1]], 2))
})

test_that("a prompt that is refused however often is one refusal", {
  prompts <- data.frame(item = sprintf("i%d", 1:40), condition = rep(c("a", "b"), each = 20))
  prompts$outcome <- ifelse(prompts$item %in% sprintf("i%d", c(1:4, 21)), "refused", "answered")
  copies <- prompts[rep(seq_len(40), 20), ]
  found <- lapply(list(prompts, copies), check_missing_answers, levels = c("a", "b"))
  expect_equal(found[[2]]$p_value, found[[1]]$p_value)
  expect_equal(found[[2]]$n_missing, 20L * found[[1]]$n_missing)
})
