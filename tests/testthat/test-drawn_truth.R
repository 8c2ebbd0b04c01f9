parts_of <- function(formula, family = "bernoulli", n = 40) {
  repetition <- seq_len(n / 8)
  data <- expand.grid(
    item = letters[1:4], condition = c("a", "b"), repetition = repetition, stringsAsFactors = FALSE
  )
  data$y <- if (family == "bernoulli") rep(0:1, n / 2) else seq_len(n) / n
  brms_parts(data, formula, list(condition = c("a", "b")), family = family)
}

test_that("standard deviations are above 0, whatever their prior, and correlations follow lkj", {
  expect_true(all(with_seed(1, drawn("student_t(3, 0, 2.5)", 500, is_above_0)) > 0))
  correlations <- with_seed(1, replicate(3000, tcrossprod(drawn_cholesky(3, 2))[upper.tri(diag(3))]))
  # Under lkj(2) of three, a correlation is 2 beta(2.5, 2.5) - 1: variance 1 / 6.
  expect_equal(apply(correlations, 1, var), rep(1 / 6, 3), tolerance = .1)
})

skip_without_brms()

test_in_full("the prior of the intercept holds at the means of the columns, as brms has it", {
  parts <- parts_of("y ~ condition + (1 | item)")
  centres <- with_seed(1, replicate(800, {
    b <- drawn_truth(parts, parts$priors)$b
    b[[1]] + b[[2]] / 2
  }))
  expect_lt(abs(mean(centres) - 3), .15)
  expect_lt(abs(sd(centres) - 1.5), .12)
})

test_that("a truth's predictor is made of its own parameters, and of effects that its standard deviations spread", {
  parts <- parts_of("y ~ condition + (1 + condition | item)")
  truth <- with_seed(3, drawn_truth(parts, parts$priors))
  expect_length(truth$deviations[[1]], 3) # two standard deviations and their correlation
  left <- truth$predictor - as.vector(fixed_columns(parts) %*% truth$b)
  of_item <- tapply(left, paste(parts$data$item, parts$data$condition), unique)
  expect_true(is.numeric(unlist(of_item)) && length(unlist(of_item)) == 8)
})
