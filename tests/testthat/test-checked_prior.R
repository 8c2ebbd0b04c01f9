test_that("a prior is read into its distribution and its numbers", {
  found <- list(text = "normal(-1, 2.5)", family = "normal", numbers = c(-1, 2.5))
  expect_equal(checked_prior("normal(-1,  2.5)"), found)
  expect_equal(checked_prior("exponential(1)")$numbers, 1)
})

test_that("what is no plain prior is refused, and never run", {
  place <- withr::local_tempfile()
  bad <- c(
    sprintf("normal(0, file.create('%s'))", place), "system('ls')", "normal(0, 1); target += 1", "normal(0)",
    "normal(0, -1)", "normal(0, 0)", "exponential(rate)", "normal(0, 1e999)", "normal", "", "normal(0, 1) T[0, ]",
    "normal(,)", "lkj(0)"
  )
  for (text in bad) expect_error(checked_prior(text), "Can't use", info = text)
  expect_false(file.exists(place))
  expect_error(checked_prior(c("normal(0, 1)", "normal(0, 1)")), "must be one string")
})

test_that("a misspelt distribution is named with its neighbour", {
  expect_error(checked_prior("nornal(0, 1)"), "Did you mean \"normal\"")
})

test_that("priors are set by class, and the paper's stay for the rest", {
  skip_without_brms()
  parts <- brms_parts(few_trials(), "is_valid ~ condition + (1 | item)", priors = list(b = "normal(0, 2)"))
  expect_equal(parts$priors[c("b", "sd")], list(b = "normal(0, 2)", sd = "exponential(1)"))
  expect_error(checked_priors(list(beta = "normal(0, 2)")), "Can't set a prior for \"beta\"")
  expect_error(checked_priors(list("normal(0, 2)")), "no name")
})
