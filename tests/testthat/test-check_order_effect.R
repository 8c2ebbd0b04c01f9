ordered_answers <- function(p) {
  withr::local_seed(2)
  answers <- expand.grid(i = 1:150, first = c(FALSE, TRUE), condition = c("usual", "crossed"), stringsAsFactors = FALSE)
  cell <- paste(answers$condition, answers$first)
  transform(answers, is_consistent = runif(nrow(answers)) < p[cell])
}

test_that("the numbers are those of glm() and its likelihood ratios", {
  answers <- ordered_answers(c("usual FALSE" = .8, "usual TRUE" = .9, "crossed FALSE" = .6, "crossed TRUE" = .7))
  found <- check_order_effect(answers, "first", levels = c("usual", "crossed"))
  answers$other <- answers$condition == "crossed"
  alone <- glm(is_consistent ~ other, binomial, answers)
  both <- glm(is_consistent ~ other + first, binomial, answers)
  crossed <- glm(is_consistent ~ other * first, binomial, answers)
  expect_equal(found$estimate, -unname(coef(alone)[[2]]), tolerance = 1e-6)
  expect_equal(found$estimate_ordered, -unname(coef(both)[[2]]), tolerance = 1e-6)
  expect_equal(found$p_order, anova(alone, both, test = "Chisq")[2, 5], tolerance = 1e-6)
  expect_equal(found$p_interaction, anova(both, crossed, test = "Chisq")[2, 5], tolerance = 1e-6)
})

test_that("an effect that is there in one order only is seen, one that is the same in both is not", {
  only_first <- ordered_answers(c("usual FALSE" = .9, "usual TRUE" = .9, "crossed FALSE" = .9, "crossed TRUE" = .5))
  expect_lt(check_order_effect(only_first, "first", levels = c("usual", "crossed"))$p_holm, .001)
  same <- ordered_answers(c("usual FALSE" = .9, "usual TRUE" = .9, "crossed FALSE" = .6, "crossed TRUE" = .6))
  found <- check_order_effect(same, "first", levels = c("usual", "crossed"))
  expect_gt(found$p_holm, .05)
  expect_false(found$changes_conclusion)
})

test_that("an order that tells the condition is confounded, and cells that are alike have no finite estimate", {
  answers <- ordered_answers(c("usual FALSE" = 1, "usual TRUE" = 1, "crossed FALSE" = .6, "crossed TRUE" = .6))
  found <- check_order_effect(answers, "first", levels = c("usual", "crossed"))
  expect_true(is.na(found$estimate))
  expect_lt(found$p_value, 1e-6)
  answers$first <- answers$condition == "usual"
  expect_true(check_order_effect(answers, "first", levels = c("usual", "crossed"))$is_confounded)
})

test_that("each further condition is compared with the first, and one alone with nothing", {
  answers <- ordered_answers(c("usual FALSE" = .9, "usual TRUE" = .9, "crossed FALSE" = .6, "crossed TRUE" = .6))
  third <- transform(answers[answers$condition == "usual", ], condition = "third")
  found <- check_order_effect(rbind(answers, third), "first", levels = c("usual", "crossed", "third"))
  expect_equal(found$condition, c("crossed", "third"))
  expect_gt(found$p_value[[2]], .9)
  expect_match(check_order_effect(third, "first", levels = c("usual", "third"))$messages, "nothing to compare")
})
