# The family of ratings in Bayesian fits: what it computes itself, here; what Stan makes of it, in make test-full.

family_of_ratings <- function() bayes_family("cumulative")
thresholds <- c(-1, .5, 2)

test_that("its likelihood is that of ordinal, also far out", {
  log_lik <- vapply(1:4, function(y) family_of_ratings()$log_lik(y, .7, thresholds), 1)
  by_hand <- diff(c(0, plogis(thresholds - .7), 1))
  expect_equal(exp(log_lik), by_hand)
  expect_equal(family_of_ratings()$log_lik(1, 800, thresholds), -801)
  expect_equal(family_of_ratings()$log_lik(4, -800, thresholds), -802)
  draws <- rbind(thresholds, thresholds + 1)
  expect_equal(unname(exp(family_of_ratings()$log_lik(2, c(.7, 1.7), draws))), rep(by_hand[[2]], 2))
})

test_that("its draws have the probabilities of the likelihood", {
  drawn <- withr::with_seed(1, family_of_ratings()$draw(rep(.7, 2e5), thresholds))
  expect_equal(as.vector(table(drawn)) / 2e5, diff(c(0, plogis(thresholds - .7), 1)), tolerance = .01)
})

test_that("mean ratings are those of the points' probabilities", {
  shares <- diff(c(0, plogis(thresholds - .7), 1))
  expect_equal(mean_ratings(matrix(.7), matrix(thresholds, 1), c(1, 2, 3, 7))[[1]], sum(shares * c(1, 2, 3, 7)))
  expect_equal(rating_values(c("bad", "fair", "good")), 1:3)
})

test_that("a step is of counts, not of ratings", {
  expect_error(bayes_family("cumulative", step = 64), "is for a rating")
})

two_kinds <- function() {
  data <- data.frame(rating = 1:4, model = factor(c("large", "small", "large", "small"), c("small", "large")))
  list(data = data, points = 1:4, kind_columns = list(thresholds = "model", disc = "model"), dropped = list())
}

draws_of_two <- function() {
  drawn <- cbind(-1, 0, 1, -2, .5, 3, .8, log(2))
  colnames(drawn) <- c(sprintf("b_Intercept[small,%d]", 1:3), sprintf("b_Intercept[large,%d]", 1:3), "b_groupb",
                       "b_disc_modellarge")
  rbind(drawn, drawn + .1)
}

test_that("rows have the thresholds and the discrimination of their model", {
  rows <- row_thresholds(draws_of_two(), two_kinds())
  expect_equal(unname(parameters_at(rows, row = 2)), rbind(c(-1, 0, 1), c(-.9, .1, 1.1)))
  expect_equal(unname(parameters_at(rows, row = 1)[1, ]), 2 * c(-2, .5, 3))
  used <- discriminated(matrix(1, 2, 4), rows)
  expect_equal(used[1, ], c(2, 1, 2, 1))
  by_hand <- plogis(2 * (.5 - 1)) - plogis(2 * (-2 - 1))
  expect_equal(exp(family_of_ratings()$log_lik(2, used[1, 1], parameters_at(rows, row = 1)[1, ])), by_hand)
  drawn <- withr::with_seed(1, replicate(2e4, family_of_ratings()$draw(used[1, ], parameters_at(rows, draw = 1))[[1]]))
  expect_equal(mean(drawn == 2), by_hand, tolerance = .05)
})

test_that("thresholds and discriminations have names, and predictions are by model", {
  parts <- two_kinds()
  expect_equal(threshold_names(parts$points, levels_of_thresholds(parts))[c(1, 4)], c("small: 1|2", "large: 1|2"))
  expect_equal(names_of_disc(parts), "disc: modellarge")
  expect_equal(as.character(rating_kinds(parts)$rows$model), c("small", "large"))
  parts$formula <- rating ~ 1
  predicted <- rating_effects(draws_of_two()[, -7], parts)$predictions
  expect_equal(predicted$model, c("small", "large"))
})

test_that("what thresholds and discriminations can't be is said", {
  rows <- data.frame(rating = 1:4, model = "a", group = c("x", "y"), template = "t")
  expect_error(kind_columns(rows, rating ~ group, "bernoulli", "model", NULL), "is for ratings")
  expect_error(kind_columns(rows, rating ~ group + model, "cumulative", "model", NULL), "take the place of its effect")
  expect_error(kind_columns(rows, rating ~ group, "cumulative", NULL, "person"), "person")
  expect_equal(kind_columns(rows, rating ~ group * model, "cumulative", NULL, "model"), list(disc = "model"))
  columns <- list(disc = "model")
  expect_message(one <- with_kind_columns(rows, rows, columns, list(), list()), "All rows are of one model")
  expect_length(one$columns, 0)
})

made_ratings <- function(n = 2000) {
  withr::with_seed(1, {
    rows <- data.frame(group = sample(c("a", "b", "c"), n, TRUE), template = sample(sprintf("t%02d", 1:20), n, TRUE))
    effect <- stats::setNames(stats::rnorm(20, 0, .5), sprintf("t%02d", 1:20))[rows$template]
    at <- .8 * (rows$group == "b") + effect + stats::rlogis(n)
    rows$rating <- 1L + findInterval(at, c(-2, -1, -.3, .5, 1.5, 2.7))
    rows
  })
}

test_in_full("brms's model of ratings is clmm, within the error of its draws", {
  skip_without_stan()
  skip_if_not_installed("ordinal")
  levels <- list(group = c("a", "b", "c"))
  priors <- list(b = "normal(0, 100)", Intercept = "normal(0, 100)", sd = "exponential(1)")
  fit <- fit_brms(
    made_ratings(), "rating ~ group + (1 | template)",
    levels = levels, priors = priors, family = "cumulative", iterations = 2000, warmup = 1000
  )
  same <- fit_clmm(made_ratings(), "rating ~ group + (1 | template)", levels = levels)$estimates
  found <- fit$estimates[match(same$term, fit$estimates$term), ]
  expect_lt(max(abs(found$estimate - same$estimate) / same$std_error), .15)
  expect_lt(max(abs(found$std_error / same$std_error - 1)), .15)
  expect_true(fit$tables$model$is_converged)
})

test_in_full("the mode of its Stan program is ordinal's estimate of the wine ratings", {
  skip_without_stan()
  # a prior that leaves judges no room, and others that say nothing
  priors <- list(b = "normal(0, 1000)", Intercept = "normal(0, 1000)", sd = "exponential(100000)")
  parts <- brms_parts(wine(), "rating ~ temp + contact + (1 | judge)", wine_levels, priors, family = "cumulative")
  mode <- rstan::optimizing(
    compiled_model(parts$code, function(...) NULL), parts$standata,
    init = list(b = c(0, 0), Intercept = c(-2, 0, 2, 4), sd_1 = array(1e-5), z_1 = matrix(0, 1, 9)), as_vector = FALSE
  )$par
  direct <- fit_clm(wine(), "rating ~ temp + contact", levels = wine_levels)$estimates$estimate
  expect_equal(c(mode$b_Intercept, mode$b), direct, tolerance = 1e-3)
})

test_that("ratings of people who each answer once need no random effect", {
  skip_if_not_installed("brms")
  data <- data.frame(rating = rep(1:4, 3), group = rep(c("a", "b", "c"), each = 4))
  parts <- brms_parts(data, "rating ~ group", list(group = c("a", "b", "c")), family = "cumulative")
  expect_identical(grep("sd_1", parts$code), integer(0))
  expect_match(parts$code, "ordered\\[nthres\\] Intercept")
})
