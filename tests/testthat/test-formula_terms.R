test_that("a formula is taken apart without a word, whatever version of lme4 is here", {
  formula <- y ~ a * b + (1 | item) + (0 + a | wording / item)
  expect_silent(random <- random_terms(formula))
  expect_equal(vapply(random, deparse1, ""), c("1 | item", "0 + a | item:wording", "0 + a | wording"))
  expect_silent(fixed <- without_random_terms(formula))
  expect_equal(deparse1(fixed), "y ~ a * b")
  expect_null(random_terms(y ~ a))
  expect_equal(deparse1(without_random_terms(y ~ (1 | item))), "y ~ 1")
})
