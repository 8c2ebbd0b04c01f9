# Whether a likelihood of yes and no has a maximum: known designs, each by the coefficients without finite estimate.
of_design <- function(formula, data, y) {
  found <- separated_coefficients(stats::model.matrix(formula, data), y)
  if (length(found$rows) == 0) "none" else if (length(found$rows) == length(y)) "all" else toString(found$names)
}

cells <- expand.grid(a = c("x", "y", "z"), b = c("p", "q", "r"), i = 1:6, stringsAsFactors = TRUE)
mixed <- cells$i %% 2

test_that("separation is found in the model's own design matrix, and nowhere else", {
  in_cell <- ifelse(cells$a == "y" & cells$b == "q", 1, mixed)
  at_level <- ifelse(cells$a == "y", 1, mixed)
  number <- seq_along(mixed)
  expected <- list(
    "a cell of two factors is no separation of an additive model" = list(~ a + b, in_cell, "none"),
    "it is one with the interaction" = list(~ a * b, in_cell, "ay:bq"),
    "one level" = list(~ a + b, at_level, "ay"),
    "the reference level" = list(~ a + b, ifelse(cells$a == "x", 0, mixed), "(Intercept), ay, az"),
    "a number" = list(~ number, as.integer(number > 20), "all"),
    "a number, but for one row" = list(~ number, replace(as.integer(number > 20), 40, 0), "none"),
    "a number, but for a tie" = list(~ ceiling(number / 20), replace(as.integer(number > 20), 30, 0),
                                     "(Intercept), ceiling(number/20)"),
    "a sum of two" = list(~ number + cos(number), as.integer(number + 9 * cos(number) > 20), "all"),
    "everything the same" = list(~ a, rep(1, length(mixed)), "all"),
    "an aliased column" = list(~ a + I(a == "y"), at_level, "ay")
  )
  found <- lapply(expected, function(one) of_design(one[[1]], cbind(cells, number), one[[2]]))
  wrong <- names(expected)[!mapply(function(one, is) identical(one[[3]], is), expected, found)]
  expect_equal(found[wrong], lapply(expected, `[[`, 3)[wrong])
})

test_that("without separation no direction improves the likelihood of all rows, with it one does", {
  with_seed(1, for (data_set in 1:100) {
    x <- cbind(1, matrix(sample(-1:1, 40, TRUE), 20))
    y <- sample(0:1, 20, TRUE)
    gains <- (2 * y - 1) * x
    direction <- unbalanced_direction(gains)
    if (is.null(direction)) {
      expect_lt(max(abs(colSums(gains * (1 + non_negative_weights(t(gains), -colSums(gains)))))), 1e-6)
    } else {
      expect_gte(min(gains %*% direction), -1e-9)
    }
  })
})

test_that("sparse cells of an additive model bring no warning", {
  rows <- with_seed(3, data.frame(
    job = sample(letters[1:8], 400, TRUE), city = sample(letters[1:6], 400, TRUE), hired = rbinom(400, 1, .85)
  ))
  found <- fit_logistic(rows, "hired ~ job + city", levels = list(job = letters[1:8], city = letters[1:6]))
  expect_equal(found$fits$status, "ok")
  expect_lt(min(tapply(rows$hired, rows[1:2], function(y) length(unique(y)))), 2) # there are cells of one answer
})
