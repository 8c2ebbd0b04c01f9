answers_by_level <- function(n_man, n_north = 5, n = 100) {
  profiles <- expand.grid(number = seq_len(n), gender = c("woman", "man"), origin = c("north", "south"))
  profiles$outcome <- "answered"
  profiles$outcome[profiles$gender == "man" & profiles$number <= n_man] <- "filtered"
  profiles$outcome[profiles$origin == "north" & profiles$number > n - n_north] <- "refused"
  profiles
}

test_that("the level whose answers are missing comes first, with the rate of all others", {
  found <- check_missing_levels(answers_by_level(25, 0), c("gender", "origin"))
  expect_equal(found$level, c("man", "woman", "north", "south"))
  expect_equal(found$n_filtered, c(50, 0, 25, 25))
  expect_equal(found$rate_others, c(0, .25, .125, .125))
  expect_equal(found$p_value[[1]], fisher.test(rbind(c(50, 0), c(150, 200)))$p.value)
  expect_equal(found$p_holm, c(2, 2, 1, 1) * c(found$p_value[1:2], 1, 1))
})

test_that("groups are corrected together, and one level has no test", {
  both <- rbind(transform(answers_by_level(20), model = "a"), transform(answers_by_level(5), model = "b"))
  found <- check_missing_levels(both, "gender", by = "model")
  expect_equal(found$p_holm[[1]], 2 * found$p_value[[1]])
  one <- check_missing_levels(answers_by_level(20)[1:100, ], "gender")
  expect_equal(one$n_missing, 5)
  expect_true(all(is.na(one[c("rate_others", "p_value", "p_holm")])))
})

test_that("nothing asked gives no rows, with the same columns", {
  answers <- answers_by_level(1)
  expect_named(check_missing_levels(answers[0, ], "gender"), names(check_missing_levels(answers, "gender")))
})

test_that("an answer about several profiles counts once for each level that they show", {
  tasks <- data.frame(trial_id = rep(1:100, each = 2), gender = c("woman", "man", "woman", "woman"))
  tasks$outcome <- ifelse(tasks$trial_id <= 10, "refused", "answered")
  found <- check_missing_levels(tasks, "gender", once = "trial_id")
  expect_equal(found$n[match(c("woman", "man"), found$level)], c(100, 50))
  expect_equal(found$n_missing[match(c("woman", "man"), found$level)], c(10, 5))
  expect_equal(sum(check_missing_levels(tasks, "gender")$n), 200)
})
