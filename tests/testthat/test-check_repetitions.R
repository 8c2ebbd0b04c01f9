trials_of <- function(n_repetitions, residual) {
  simulate_crossed_trials(6, 5, n_repetitions, variances = list(word = 400, residual = residual), seed = 3)
}

test_that("repetitions that are the same are counted, by temperature, next to chance", {
  varied <- transform(trials_of(3, 400), temperature = 1)
  same <- transform(trials_of(1, 400), temperature = 0)
  found <- check_repetitions(rbind(varied, do.call(rbind, rep(list(same), 5))))
  expect_equal(found$temperature, c(0, 1))
  expect_equal(found$n_repeated, c(60, 60))
  expect_equal(found$share_identical, c(1, 0))
  expect_equal(found$n_effective, c(60, 180))
  expect_lt(found$share_by_chance[[1]], .01)
})

test_that("counts in large steps agree by chance, and nothing is said without repetitions", {
  coarse <- transform(trials_of(2, 400), tokens = 500 * round(tokens / 500))
  found <- check_repetitions(coarse)
  expect_equal(found$share_identical, 1)
  expect_equal(found$share_by_chance, 1)
  once <- check_repetitions(trials_of(1, 400))
  expect_equal(c(once$n_repeated, once$n), c(0, 60))
  expect_true(is.na(once$share_identical))
})

test_that("a fit that counts the same answer five times says so, and one over words and wordings counts it once", {
  five <- do.call(rbind, rep(list(trials_of(1, 400)), 5))
  sides <- list(condition = c("compatible", "incompatible"))
  paper <- fit_lme4(five, "tokens ~ condition + (1 | wording)", levels = sides)
  expect_match(paper$messages$text, "60 got the same answer every time: 300 rows hold 60 answers", all = FALSE)
  expect_equal(paper$fits$status, "warned")
  expect_false(any(grepl("same answer every time", fit_crossed(five, levels = sides)$messages$text)))
  own <- fit_lme4(trials_of(5, 400), "tokens ~ condition + (1 | wording)", levels = sides)
  expect_false(any(grepl("same answer", own$messages$text)))
})
