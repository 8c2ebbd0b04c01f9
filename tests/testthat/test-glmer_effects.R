conditions_here <- c("congruent", "incongruent")

coded_trials <- function(n_words = 10, ...) {
  trials <- simulate_forced_choice(n_words = n_words, ...)
  for (name in c("condition", "model", "test")) trials[[name]] <- factor(trials[[name]], unique(trials[[name]]))
  trials
}

plain_cells <- function(probability = .8) {
  parameters <- forced_choice_parameters()
  parameters$p_consistent <- ifelse(parameters$condition == "congruent", .9, probability)
  parameters
}

test_that("probabilities at random effects of 0 are those that lme4 predicts", {
  trials <- coded_trials(parameters = plain_cells())
  model <- lme4::glmer(is_consistent ~ condition * model + (1 | item), trials, family = binomial(), nAGQ = 0)
  found <- glmer_effects(model)$predictions
  population <- found[found$kind == "population", ]
  expected <- predict(model, population[c("condition", "model")], re.form = NA, type = "response")
  expect_equal(population$estimate, unname(expected), tolerance = 1e-10)
  expect_equal(nrow(found), 12)
})

test_that("a contrast is the first condition minus the second, by the delta method, a mean over items an integral", {
  trials <- coded_trials(parameters = plain_cells())
  model <- lme4::glmer(is_consistent ~ condition + (1 | item), trials, family = binomial(), nAGQ = 0)
  found <- glmer_effects(model)
  delta_p <- subset(found$contrasts, kind == "population" & scale == "delta_p")
  p <- subset(found$predictions, kind == "population")$estimate
  expect_equal(delta_p$estimate, p[[1]] - p[[2]])
  gap <- p * (1 - p) * cbind(1, 0:1)
  gap <- gap[1, ] - gap[2, ]
  expect_equal(delta_p$std_error, sqrt(as.numeric(gap %*% as.matrix(vcov(model)) %*% gap)))
  expect_equal(subset(found$contrasts, scale == "s")$estimate, -unname(lme4::fixef(model)[[2]]))
  beyond <- stats::qnorm(.975) * delta_p$std_error # of a normal estimate at `mde`, 80 % lie there
  found_share <- stats::pnorm(beyond, delta_p$mde, delta_p$std_error, lower.tail = FALSE) +
    stats::pnorm(-beyond, delta_p$mde, delta_p$std_error)
  expect_equal(found_share, .8, tolerance = 1e-8)
  sd <- sqrt(unlist(lme4::VarCorr(model)))
  mean_of <- function(eta) integrate(function(z) plogis(eta + sd * z) * dnorm(z), -Inf, Inf)$value
  found <- subset(glmer_effects(model)$predictions, kind == "new_items")
  expected <- vapply(c(0, 1), function(x) mean_of(sum(lme4::fixef(model) * c(1, x))), 1)
  expect_equal(found$estimate, expected, tolerance = 1e-5)
})

test_that("the mean over items is exact however much they vary", {
  for (sd in c(.1, 5, 20, 60)) {
    rule <- normal_rule(sd)
    breaks <- sort(c(-40, -10, -1, 0, 1, 10, 40, -3 / sd)) # integrate() needs to be shown the step
    exact <- sum(mapply(function(from, to) {
      integrate(function(z) plogis(3 + sd * z) * dnorm(z), from, to, rel.tol = 1e-11)$value
    }, breaks[-length(breaks)], breaks[-1]))
    expect_equal(sum(plogis(3 + sd * rule$nodes) * rule$weights), exact, tolerance = 1e-9)
  }
})

test_that("random slopes add the variance that they have in each condition", {
  grid <- data.frame(condition = factor(c("a", "b")))
  trials <- coded_trials(parameters = plain_cells(.6), seed = 3)
  model <- suppressMessages(
    lme4::glmer(is_consistent ~ condition + (condition | item), trials, family = binomial(), nAGQ = 0)
  )
  sigma <- lme4::VarCorr(model)$item
  grid <- data.frame(condition = factor(levels(trials$condition), levels(trials$condition)))
  expect_equal(unname(random_variances(grid, model)), c(sigma[1, 1], sum(sigma)))
})

test_that("a linear model is refused in a sentence", {
  expect_error(glmer_effects(lm(dist ~ speed, cars)), "must be a logistic mixed model")
})

test_that("near separation a median item has no interval, and the fit is doubtful", {
  trials <- expand.grid(item = 1:20, wording = 1:10, condition = factor(c("congruent", "incongruent")))
  trials$is_consistent <- trials$item > 3
  trials$is_consistent[c(1, 205, 390)] <- !trials$is_consistent[c(1, 205, 390)]
  levels <- list(condition = conditions_here)
  fit <- fit_lme4(trials, "is_consistent ~ condition + (1 | item)", family = "binomial", levels = levels)
  expect_equal(fit$fits$status, "warned")
  expect_match(fit$fits$messages, "is more than few failures can show")
  predictions <- split(fit$tables$predictions, fit$tables$predictions$kind)
  expect_true(all(is.na(predictions$population$conf_low)) && all(is.finite(predictions$population$estimate)))
  expect_true(all(is.finite(predictions$new_items$conf_low)))
  expect_true(all(is.na(subset(fit$tables$contrasts, kind == "population")$p_value)))
})
