few_wordings <- list(wording = 900, word = 1, residual = 100)
given <- list(wording = 30, word = 250, residual = 3200, sd = 60)
plan_quietly <- function(...) suppressMessages(plan_power(...))

test_that("the standard error is that of the formula, and of a fit of a balanced pilot", {
  plan <- plan_quietly(given, n_words = 50, n_wordings = 20)
  expect_equal(plan$std_error^2, 30 / 20 + 250 / 50 + 4 * 3200 / 2000)
  expect_equal(plan$n_calls, 2000)
  variances <- list(wording = 100, word = 400, residual = 900)
  trials <- simulate_crossed_trials(16, 12, variances = variances, seed = 3)
  pilot <- fit_crossed(trials, levels = c("compatible", "incompatible"))
  planned <- plan_quietly(pilot, n_words = 16, n_wordings = 12)
  expect_equal(planned$std_error, pilot$tables$effects$std_error)
  expect_equal(planned$df, pilot$tables$effects$df, tolerance = .01)
  expect_equal(planned$mde_d, pilot$tables$effects$mde_d, tolerance = .01)
})

test_that("endless repetitions leave what words and wordings have", {
  plan <- plan_quietly(given, n_words = 50, n_repetitions = c(1, 10, 1e5))
  expect_equal(unique(plan$std_error_endless), sqrt(30 / 20 + 250 / 50))
  expect_equal(plan$std_error[[3]], plan$std_error_endless[[3]], tolerance = 1e-4)
  expect_equal(plan$share_words + plan$share_wordings + plan$share_trials, c(1, 1, 1))
})

test_that("what to raise is the number whose doubling leaves the smallest effect to find", {
  expect_equal(plan_quietly(given, n_words = 16)$raise, "words")
  expect_equal(plan_quietly(few_wordings, n_words = 40, n_wordings = 5)$raise, "wordings")
  expect_message(plan_power(given, n_words = 16), "Repetitions can't replace words")
  expect_message(plan_power(list(word = 0, residual = 1), n_words = 16), "a small pilot may miss")
  one_of_two <- data.frame(model = c("a", "b"), word = c(0, 250), wording = c(0, 30), residual = 3200)
  expect_message(plan_power(one_of_two, n_words = 16), "variances of 1 of 2 rows .* promise too much")
  expect_message(plan_power(given, n_wordings = 1), "With fewer than three wordings, nothing is said of others")
})

test_that("a plan without repetitions in its pilot is a range over how alike they are", {
  plan <- plan_quietly(given, n_words = 16, n_repetitions = c(1, 5), effect = 10)
  expect_equal(plan$std_error_most[[1]], plan$std_error[[1]])
  expect_equal(plan$std_error_most[[2]], plan$std_error[[1]]) # the same answer five times is one
  expect_lt(plan$std_error[[2]], plan$std_error_most[[2]])
  expect_lt(plan$power_least[[2]], plan$power[[2]])
  expect_message(plan_power(given, n_words = 16, n_repetitions = 5), "nobody knows how alike they are")
})

test_that("a pilot with repetitions knows what they share", {
  trials <- simulate_crossed_trials(12, 8, 3, variances = list(word = 400, wording = 100, residual = 400), seed = 6)
  shared <- with_seed(1, stats::rnorm(192, sd = 40))
  trials$tokens <- trials$tokens + shared[as.integer(factor(paste(trials$item, trials$wording, trials$condition)))]
  pilot <- fit_crossed(trials, levels = c("compatible", "incompatible"))
  plan <- plan_quietly(pilot, n_words = 12, n_wordings = 8, n_repetitions = 3)
  expect_equal(plan$std_error, pilot$tables$effects$std_error, tolerance = 1e-6)
  expect_equal(plan$std_error_most, plan$std_error)
  expect_equal(plan$df, pilot$tables$effects$df, tolerance = .01)
})

test_that("power of the minimum detectable effect is 80 %", {
  plan <- plan_quietly(given, n_words = 50)
  expect_equal(plan_quietly(given, n_words = 50, effect = plan$mde)$power, .8, tolerance = 1e-6)
})

test_that("games are planned as power.t.test() does", {
  theirs <- stats::power.t.test(n = 30, sd = .2, power = .8, strict = TRUE)
  plan <- plan_quietly(list(game = .04), n_games = 30, n_rounds = 40)
  expect_equal(plan$mde, theirs$delta, tolerance = 1e-4)
  expect_equal(plan$n_calls, 2400)
})

test_that("what can't be planned is said", {
  expect_error(plan_power(list(word = -1, residual = 1)), "0 or more")
  expect_error(plan_power(list(word = 1)), "residual")
  expect_error(plan_power(given, n_words = 1), "`n_words` must be whole numbers, 2 or more")
  expect_error(plan_power(given, effect = "large"), "`effect` must be one number")
  expect_error(plan_power(fit_made(made_trials())), "it has no variances of effects")
})

test_figure("the figure shows words, wordings and repetitions", {
  plan <- plan_quietly(given, n_words = c(8, 32), n_wordings = c(5, 20), n_repetitions = c(1, 5))
  expect_same_figure("power", plot_power(plan))
  two <- data.frame(model = c("o3-mini", "deepseek-r1"), word = 250, residual = 3200)
  many <- plan_quietly(two, n_words = c(16, 32), n_wordings = c(5, 10, 20))
  layout <- ggplot2::ggplot_build(plot_power(many))$layout$layout
  expect_equal(c(nrow(layout), max(layout$COL)), c(6, 3))
  expect_equal(as.character(layout$panel[[1]]), "o3-mini\n5 wordings")
})

test_in_full("associations: standard errors and power are those of simulated studies", {
  variances <- list(wording = 100, word = 400, residual = 900)
  plan <- plan_quietly(variances, n_words = 24, n_wordings = 12, n_repetitions = 2, effect = 14)
  simulated <- crossed_coverage(300, 24, 12, 2, effect = 14, variances = variances, seed = 500)[1, ]
  expect_equal(simulated$sd_of_estimates, plan$std_error, tolerance = 3 / sqrt(2 * 300))
  expect_lt(abs(simulated$power - plan$power), 3 * sqrt(plan$power * (1 - plan$power) / 300))
})

test_in_full("forced choices: the standard error of delta P is that of simulated studies", {
  study <- function(n_words, repetitions, seed) {
    cells <- data.frame(
      model = "m", test = "gender_career", condition = c("congruent", "incongruent"), p_valid = 1,
      p_consistent = c(.85, .65), sd_item_valid = 0, sd_item_consistent = 1
    )
    simulate_forced_choice(cells, n_words = n_words, repetitions = repetitions, seed = seed)
  }
  formula <- "is_consistent ~ condition + (1 + condition || item)"
  sides <- c("congruent", "incongruent")
  pilot <- fit_crossed(study(500, 3, 1), formula, contrast = "condition", levels = sides)
  plan <- plan_quietly(pilot, n_words = 40, n_wordings = 1, n_repetitions = 3)
  differences <- vapply(1:400, function(seed) {
    trials <- study(10, 3, 1000 + seed)
    shares <- tapply(trials$is_consistent, trials$condition, mean)
    unname(shares[[sides[[2]]]] - shares[[sides[[1]]]])
  }, 1)
  expect_equal(stats::sd(differences), plan$std_error, tolerance = 3 / sqrt(2 * 400))
})

test_in_full("games: the standard error of a difference in SI is that of simulated conditions", {
  si_of <- function(p, n_games, seed) {
    games <- simulate_structured_games(p, experiments = "si", n_games = n_games, seed = seed)
    measured_games(game_counts(games), 4)$games$si
  }
  variance <- mean(c(stats::var(si_of(.4, 2000, 1)), stats::var(si_of(.6, 2000, 2))))
  plan <- plan_quietly(list(game = variance), n_games = 20, effect = .2)
  differences <- vapply(1:400, function(seed) {
    mean(si_of(.6, 20, 10000 + seed)) - mean(si_of(.4, 20, 20000 + seed))
  }, 1)
  expect_equal(stats::sd(differences), plan$std_error, tolerance = 3 / sqrt(2 * 400))
})

test_that("a table of variances is no plan, and the fit is asked for", {
  shares <- data.frame(group = "item", term = "condition", variance = 1)
  expect_error(plan_power(shares), "give the fit itself, as in plan_power(fit_crossed(...))", fixed = TRUE)
})

simulated_plan <- function() {
  plan <- expand.grid(
    second = c("man", "clerk"), n_repetitions = 1:2, test = c("rating", "hire"), stringsAsFactors = FALSE
  )
  plan$attribute <- ifelse(plan$second == "man", "gender", "job")
  plan$first <- ifelse(plan$second == "man", "woman", "nurse")
  plan$estimate <- -c(.3, .6)[match(plan$second, c("man", "clerk"))]
  plan$power <- pmin(.95, abs(plan$estimate) * plan$n_repetitions)
  plan$n_data_sets <- 100L
  plan
}

test_figure("of levels, the power is drawn by the size of the difference, and said", {
  expect_same_figure(NULL, plot_power(simulated_plan()))
  drawn <- plot_power(simulated_plan())
  expect_match(drawn$labels$alt, "rating, gender, once each: man - woman, a difference of 0.3, is found in 30 %")
  expect_error(plot_power(transform(simulated_plan(), power = NA_real_)), "no row has a power")
})
