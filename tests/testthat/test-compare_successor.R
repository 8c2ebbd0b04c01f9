prompts_of_two <- function(shift = 0, effect = 0, n = 60) {
  withr::local_seed(4)
  rows <- expand.grid(group = c("a", "b"), item = seq_len(n), stringsAsFactors = FALSE)
  rows$old <- rnorm(nrow(rows), 4)
  rows$new <- rows$old + shift + effect * (rows$group == "b") + rnorm(nrow(rows), 0, .3)
  rows$measure <- "rating"
  rows
}

test_that("two models with equal effects are equivalent, and one that is shifted differs", {
  verdicts <- function(...) {
    prompts <- prompts_of_two(...)
    compare_successor(prompts, "group", "item", levels = list(group = c("a", "b")), bound = .25)$verdict_holm
  }
  expect_equal(verdicts(), rep("equivalent within the bound", 2))
  expect_equal(verdicts(shift = .5), c("differs by more than the bound", "equivalent within the bound"))
  expect_equal(verdicts(effect = .6)[[2]], "differs by more than the bound")
})

test_that("a difference is what amce() gives of the differences", {
  rows <- prompts_of_two(effect = .2)
  rows$change <- rows$new - rows$old
  found <- compare_successor(rows, "group", "item")
  own <- amce(rows, "change", "group", "item")$estimates
  expect_equal(found$difference[[2]], own$estimate)
  expect_equal(found$std_error[[2]], own$std_error)
  expect_equal(found$new - found$old, found$difference)
  expect_true(all(is.na(found$verdict)))
})

test_that("rates are means alone, and none refused is no proof that none would be", {
  rows <- prompts_of_two()
  refused <- transform(rows, measure = "refused", old = 0, new = 0)
  found <- compare_successor(
    rbind(rows, refused), "group", "item", by = "measure", rates = "refused", bound = c(rating = .25, refused = .1)
  )
  expect_equal(found$term, c("mean", "group: b", "mean"))
  expect_equal(found$conf_high[[3]], 3 / 60)
  expect_equal(found$bound, c(.25, .25, .1))
  refused$new[1:6] <- 1 # a change of 0 or 1 is no share: its interval may go below 0
  few <- compare_successor(refused, cluster = "item", bound = .1)
  expect_equal((few$conf_low + few$conf_high) / 2, few$difference)
  all <- compare_successor(transform(refused, new = 1), cluster = "item", bound = .1)
  expect_equal(c(all$conf_low, all$conf_high, all$difference), c(1 - 3 / 60, 1, 1))
  expect_equal(all$verdict, "differs by more than the bound")
})

test_that("levels of answers that are all the same on one side make no difference there", {
  found <- compare_successor(transform(prompts_of_two(effect = .6), old = 4), "group", "item")
  expect_equal(found$old, c(4, 0))
  expect_equal(found$difference, found$new - found$old)
})

test_that("versions of a material are compared with the baseline of each model", {
  rows <- prompts_of_two(effect = .5)
  found <- compare_successor(rows, "group", material = "item", levels = list(group = c("a", "b")))
  of_item <- tapply(rows$new - rows$old, rows[c("item", "group")], mean)
  expect_equal(found$difference[[2]], mean(of_item[, "b"] - of_item[, "a"]))
})

test_that("effects are linked to the old unit from 20 prompts on, and not where a level differs", {
  withr::local_seed(5)
  rows <- prompts_of_two(effect = .4)
  rows$old <- rows$old + .4 * (rows$group == "b")
  rows$new <- 2 + .5 * (rows$old + rnorm(nrow(rows), 0, .3))
  linked <- function(rows) compare_successor(rows, "group", "item")[2, ]
  found <- linked(rows)
  ratio <- sd(rows$old) / sd(rows$new)
  expect_equal(found$linked, ratio * found$new)
  expect_gt(found$linked_error, 0)
  expect_true(found$is_linkable)
  expect_equal(found$difference, found$new - found$old) # never linked
  expect_true(is.na(compare_successor(rows, "group", "item")$linked[[1]]))
  expect_false(linked(transform(rows, new = new + (group == "b")))$is_linkable)
  expect_true(is.na(linked(rows[c(1:9, 61:69), ])$linked))
})

test_that("linking rests on items: not where they differ between the models beyond their error", {
  withr::local_seed(6)
  rows <- prompts_of_two(effect = 0)
  linked <- function(rows, ...) compare_successor(rows, "group", "item", ...)[2, ]
  same <- linked(rows)
  expect_gt(same$p_items, .05)
  expect_equal(same$item_correlation, cor(rows$old, rows$new))
  of_item <- transform(rows, new = new + rnorm(60, 0, .5)[item])
  expect_lt(linked(of_item)$p_items, .001)
  expect_false(linked(of_item)$is_linkable)
  once <- rows[rows$group == "a", ]
  alone <- function(rows) compare_successor(transform(rows, group = c("a", "b")), "group", "item")[2, ]
  expect_true(is.na(alone(once)$is_linkable)) # an item that was shown once has no error
  expect_true(alone(transform(once, old_error = .2, new_error = .22))$is_linkable)
  expect_false(alone(transform(once, old_error = .1, new_error = .1))$is_linkable)
  expect_false(is.null(compare_successor(rows, "group")$p_items))
})

test_that("a successor that answers each prompt the same is no error", {
  rows <- transform(prompts_of_two(), new = old)
  found <- compare_successor(rows, "group", "item", bound = .25)
  expect_equal(found$status, c("ok", "ok"))
  expect_equal(found$difference, c(0, 0))
  expect_equal(found$verdict, rep("not decided", 2))
})

test_that("a bound of 0 and missing columns end in a sentence", {
  expect_error(compare_successor(prompts_of_two(), bound = 0), "above 0")
  expect_error(compare_successor(data.frame(old = 1)), "new")
})
