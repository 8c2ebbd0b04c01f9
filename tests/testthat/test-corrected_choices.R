# People who truly choose the large one with this probability, and flip each choice with the probability tau.
made_choices <- function(n = 300, tasks = 4, tau = .15, seed = 1, large = .7) {
  withr::local_seed(seed)
  n_tasks <- n * tasks
  first_is_large <- runif(n_tasks) < .5
  wants_large <- runif(n_tasks) < rep(rbeta(n, 20 * large, 20 * (1 - large)), each = tasks)
  true_first <- first_is_large == wants_large
  flipped <- function() xor(true_first, runif(n_tasks) < tau)
  now <- flipped()
  again <- ifelse(rep(seq_len(tasks), n) == 1, flipped(), NA)
  interleaved <- function(one) as.vector(rbind(one, 1 - one))
  data.frame(
    respondent = rep(seq_len(n), each = 2 * tasks), size = ifelse(interleaved(first_is_large) == 1, "large", "small"),
    chosen = interleaved(now), again = interleaved(again)
  )
}

choices_of <- function(...) corrected_choices(...)$tables$choices

value_of <- function(found, statistic, level = "", column = "estimate") {
  found[[column]][found$statistic == statistic & found$level == level]
}

test_that("the share of equal choices gives tau, and tau corrects means and effects", {
  data <- made_choices()
  found <- choices_of(data, attributes = "size", draws = 200)
  irr <- mean(data$chosen == data$again, na.rm = TRUE)
  tau <- (1 - sqrt(2 * irr - 1)) / 2
  x <- mean(data$chosen[data$size == "large"])
  expect_equal(value_of(found, "irr"), irr)
  expect_equal(value_of(found, "tau"), tau)
  expect_equal(value_of(found, "marginal_mean", "large"), x)
  expect_equal(value_of(found, "marginal_mean", "large", "corrected"), (x - tau) / (1 - 2 * tau))
  effect <- mean(data$chosen[data$size == "small"]) - x
  expect_equal(value_of(found, "amce", "small", "corrected"), effect / (1 - 2 * tau))
  expect_equal(value_of(found, "irr", column = "n"), 300)
})

test_that("models get irr and tau only, and half of the choices equal is said", {
  data <- made_choices(40)
  expect_equal(choices_of(data, attributes = "size", of = "models", draws = 50)$statistic, c("irr", "tau"))
  data$again <- 1 - data$chosen
  fit <- corrected_choices(data, attributes = "size", draws = 50)
  expect_match(fit$fits$messages, "there is no \u03c4")
  found <- fit$tables$choices
  expect_true(all(is.na(found$corrected)))
  expect_false(anyNA(found$estimate[found$statistic == "marginal_mean"]))
  expect_match(corrected_choices(transform(data, again = NA), draws = 50)$fits$error, "No choice was shown twice")
})

test_in_full("corrected values hold the truth in 95 of 100 samples", {
  truth <- c(tau = .15, marginal_mean = .7, amce = -.4)
  held <- rowMeans(vapply(1:400, function(seed) {
    found <- choices_of(made_choices(seed = seed), attributes = "size", draws = 400, seed = seed)
    mean <- found[found$statistic == "marginal_mean" & found$level == "large", ]
    effect <- found[found$statistic == "amce", ]
    tau <- found[found$statistic == "tau", ]
    c(
      tau = tau$conf_low <= .15 && .15 <= tau$conf_high,
      marginal_mean = mean$corrected_low <= .7 && .7 <= mean$corrected_high,
      amce = effect$corrected_low <= -.4 && -.4 <= effect$corrected_high
    )
  }, c(tau = NA, marginal_mean = NA, amce = NA)))
  expect_true(all(held >= .93 & held <= .97), info = paste(names(held), held))
})
