formula <- "is_consistent ~ condition * model * test + (1 | item)"
valid_trials <- function() subset(few_trials(), is_valid)

test_that("a factor with one level is dropped, wherever it stands in the formula", {
  rows <- valid_trials()
  one <- subset(rows, model == "gpt-5" & test == "gender_career")
  expect_message(found <- without_single_levels(checked_formula(formula, names(one)), one, NULL), "All rows are of one")
  expect_equal(deparse1(found$formula), "is_consistent ~ condition + (1 | item)")
  expect_equal(found$dropped, list(model = "gpt-5", test = "gender_career"))
  with_slope <- checked_formula("is_consistent ~ condition * model + model:test + (1 + model | item)", names(one))
  expect_message(found <- without_single_levels(with_slope, one, NULL))
  expect_equal(deparse1(found$formula), "is_consistent ~ condition + (1 | item)")
  alone <- checked_formula("is_consistent ~ model + (1 | item)", names(one))
  expect_message(none <- without_single_levels(alone, one, NULL))
  expect_equal(deparse1(none$formula), "is_consistent ~ (1 | item)")
})

skip_without_brms()

test_in_full("the Stan code is the same for both stages and for other numbers in the priors", {
  parts <- brms_parts(valid_trials(), formula)
  stage_a <- brms_parts(few_trials(), "is_valid ~ condition * model * test + (1 | item)")
  wide <- brms_parts(valid_trials(), formula, priors = list(b = "normal(0, 2)", sd = "exponential(0.5)"))
  expect_identical(parts$code, stage_a$code)
  expect_identical(parts$code, wide$code)
  expect_equal(c(parts$standata$prior_b_2, wide$standata$prior_b_2, wide$standata$prior_sd_1), c(1, 2, .5))
})

test_in_full("coding depends neither on R's options, nor on the order of rows, nor on the locale", {
  rows <- valid_trials()
  plain <- brms_parts(rows, formula)
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  withr::local_collate("C")
  other <- brms_parts(rows, formula)
  expect_identical(other$standata, plain$standata)
  turned <- brms_parts(rows[rev(seq_len(nrow(rows))), ], formula)
  expect_identical(colnames(turned$standata$X), colnames(plain$standata$X))
  expect_identical(levels(turned$data$model), c("claude-sonnet-4", "gemini-2.5-pro", "gpt-5"))
})

test_in_full("models come in the order of model_no, and the first that is there is the reference", {
  rows <- valid_trials()
  rows$model_no <- match(rows$model, c("gpt-5", "gemini-2.5-pro", "claude-sonnet-4"))
  expect_equal(levels(brms_parts(rows, formula)$data$model)[[1]], "gpt-5")
  listed <- list(model = c("nobody", "gemini-2.5-pro", "gpt-5", "claude-sonnet-4"))
  expect_equal(levels(brms_parts(rows, formula, levels = listed)$data$model)[[1]], "gemini-2.5-pro")
  expect_error(brms_parts(rows, formula, levels = list(model = "gpt-5")), "not among its levels")
})

test_that("an outcome that isn't yes or no is refused", {
  rows <- valid_trials()
  expect_error(brms_parts(rows, "position ~ condition + (1 | item)"), "must be TRUE or FALSE, or 1 or 0")
})

test_that("code in a formula is refused before brms sees it", {
  expect_error(brms_parts(valid_trials(), "is_consistent ~ system('ls') + (1 | item)"), "not allowed")
})

lists_of_words <- function() {
  rows <- expand.grid(pair = letters[1:8], draw = 1:6, model = c("one", "two"), stringsAsFactors = FALSE)
  rows$d <- sin(seq_len(nrow(rows))) / 2 + .3
  rows
}

test_in_full("a number is gaussian, with brms's own priors as data of the Stan program", {
  formula <- "d ~ model + (1 | pair)"
  parts <- brms_parts(lists_of_words(), formula, family = "gaussian")
  own <- brms::get_prior(d ~ model + (1 | pair), parts$data)
  expect_equal(parts$priors$Intercept, own$prior[own$class == "Intercept"])
  expect_equal(parts$priors$sigma, own$prior[own$class == "sigma"])
  named <- brms_parts(lists_of_words(), formula, priors = list(sigma = "exponential(2)"), family = "gaussian")
  expect_equal(named$priors[c("sigma", "sd")], list(sigma = "exponential(2)", sd = parts$priors$sd)[c("sigma", "sd")])
  shifted <- transform(lists_of_words(), d = d + 10)
  expect_equal(brms_parts(shifted, formula, family = "gaussian")$code, parts$code)
})

test_that("each family takes its own outcomes, and sigma is a prior of numbers only", {
  formula <- "d ~ model + (1 | pair)"
  expect_error(brms_parts(lists_of_words(), formula), "must be TRUE or FALSE, or 1 or 0")
  endless <- transform(lists_of_words(), d = replace(d, 3, Inf))
  expect_error(brms_parts(endless, formula, family = "gaussian"), "must be a finite number in every row")
  expect_error(brms_parts(lists_of_words(), formula, family = "poisson"), "\"bernoulli\".*\"gaussian\"")
  priors <- list(sigma = "normal(0, 1)")
  expect_error(brms_parts(few_trials(), "is_valid ~ condition + (1 | item)", priors = priors), "a prior for \"sigma\"")
})
