test_that("an engine's name runs its function and says the versions", {
  trials <- made_trials()
  arguments <- list(formula = "tokens ~ condition + (1 | wording)", levels = list(condition = as.list(conditions)))
  result <- run_fit("lme4", trials, arguments)
  own <- fit_made(trials)
  expect_identical(unclass(result), unclass(own)[names(own) != "models"])
  expect_equal(result$versions$package, c("R", "lme4", "lmerTest"))
  expect_true(all(vapply(result, is.data.frame, TRUE)))
  expect_s3_class(result, "slant_fit")
})

test_that("a list of columns is as good as a data frame, and NULL arguments are left out", {
  trials <- made_trials()
  result <- run_fit("effect_size", as.list(trials), list(outcome = "tokens", by = NULL))
  expect_identical(result$estimates, effect_size(trials)$estimates)
})

test_that("the table of engines names functions, and arguments that they have", {
  functions <- engines()
  for (row in split(engine_table$rows, engine_table$rows$engine)) {
    arguments <- sub("=.*", "", strsplit(row$arguments, " ")[[1]])
    expect_equal(setdiff(arguments, c("*", names(formals(functions[[row$engine]])))), character(), info = row$engine)
  }
})

test_that("unknown engines and arguments are refused by name", {
  expect_snapshot({
    write_error(run_fit("lme5", made_trials()))
    write_error(run_fit("lme4", made_trials(), list(formulas = "tokens ~ 1")))
  })
})
