answers_with_side <- function(p_first, p_second, n = 200) {
  withr::local_seed(1)
  conditions <- c("usual", "crossed")
  answers <- expand.grid(i = seq_len(n), right = c("A", "B"), condition = conditions, stringsAsFactors = FALSE)
  is_right <- runif(nrow(answers)) < ifelse(answers$right == "A", p_first, p_second)
  transform(answers, first = "A", chosen = ifelse(is_right, right, ifelse(right == "A", "B", "A")))
}

test_that("a preference for the first option is seen, and without one nothing is", {
  check <- function(answers) {
    check_first_option(
      answers, chosen = "chosen", first = "first", expected = "right", levels = c("usual", "crossed")
    )
  }
  expect_true(all(check(answers_with_side(.97, .85))$p_holm < .01))
  expect_true(all(check(answers_with_side(.9, .9))$p_holm > .05))
})

test_that("its p value is that of Fisher's test of right answers by place", {
  answers <- answers_with_side(.9, .8)
  usual <- answers[answers$condition == "usual", ]
  found <- check_first_option(answers, chosen = "chosen", first = "first", expected = "right",
                              levels = c("usual", "crossed"))
  counts <- table(usual$chosen == usual$right, usual$right == "A")
  expect_equal(found$p_value[[1]], fisher.test(counts)$p.value)
  expect_equal(found$rate_first[[1]], mean(usual$chosen == "A"))
})

test_that("of single rounds the randomisation test is the binomial test", {
  rounds <- data.frame(choice = rep(c("x", "y"), 5), condition = "high")
  rounds$first_option <- c(rounds$choice[1:8], "x", "y")
  rounds$first_option[9:10] <- rev(rounds$choice[9:10])
  found <- check_first_option(rounds, levels = "high")
  expect_equal(found$p_value, binom.test(8, 10)$p.value)
})

test_that("a game in which one group is chosen throughout is one draw of the order, not as many as it has rounds", {
  rounds <- data.frame(condition = "high", game = rep(1:3, each = 20))
  rounds$choice <- rounds$first_option <- c("x", "y", "x")[rounds$game]
  expect_equal(check_first_option(rounds, levels = "high", cluster = "game")$p_value, 2 * .5^3)
  expect_lt(check_first_option(rounds, levels = "high")$p_value, 1e-6)
})

test_that("one order only, and an order that nobody knows, are told", {
  answers <- answers_with_side(.9, .9)
  one <- answers[answers$right == "A", ]
  check <- function(rows) {
    check_first_option(rows, chosen = "chosen", first = "first", expected = "right", levels = c("usual", "crossed"))
  }
  expect_true(all(is.na(check(one)$p_value)))
  expect_match(check(transform(answers, first = NA))$messages, "not known which option was shown first")
})

test_that("groups that are always shown in the same order tell nothing of their place", {
  rounds <- data.frame(choice = rep(c("x", "y"), c(8, 2)), first_option = "x", condition = "high")
  expect_true(is.na(check_first_option(rounds, levels = "high")$p_value))
})

test_that("letters next to options are no share of 0 that goes unsaid", {
  rows <- data.frame(condition = "all", choice = rep(c("A", "B"), 10), first_option = rep(c("tea", "milk"), 10))
  checked <- check_first_option(rows)
  expect_equal(checked$status, "warned")
  expect_match(checked$messages, "Nothing in the column \"choice\" is among the options in \"first_option\"")
})
