# Studies of which the truth is known, and how often what is fitted to them is right; also for bench/simulations.R.

# Trials of a study whose words and wordings are drawn anew: what planning and the models' coverage are tried with.
#
# Each word is asked in each wording and condition, `n_repetitions` times, and the effect of the condition differs by
# word and by wording. `variances` has wording, word (those of the effects of the condition), residual, and
# wording_intercept, word_intercept (0 where left out). Outcomes are normal. Half of the words are of either group.
simulate_crossed_trials <- function(n_words, n_wordings, n_repetitions = 1, effect = 0, variances, seed = 1) {
  sd <- function(name) sqrt(if (is.null(variances[[name]])) 0 else variances[[name]])
  with_seed(seed, {
    trials <- expand.grid(
      item = seq_len(n_words), wording = seq_len(n_wordings), repetition = seq_len(n_repetitions),
      condition = c("compatible", "incompatible"), stringsAsFactors = FALSE
    )
    code <- ifelse(trials$condition == "incompatible", .5, -.5)
    of <- function(n, name) stats::rnorm(n, sd = sd(name))
    slope <- effect + of(n_words, "word")[trials$item] + of(n_wordings, "wording")[trials$wording]
    shift <- of(n_words, "word_intercept")[trials$item] + of(n_wordings, "wording_intercept")[trials$wording]
    trials$tokens <- 200 + shift + code * slope + of(nrow(trials), "residual")
    trials$group <- ifelse(trials$item <= n_words / 2, "a", "b")
    trials
  })
}

# How often the 95 % intervals of both models hold the true effect, over `n_data_sets` such studies: one row a model
# ("crossed", and "wordings", the paper's) with the `coverage` and its Monte Carlo standard error, the `power`, the
# `std_error` that the model states (the root of its mean square) and the standard deviation of the estimates.
crossed_coverage <- function(n_data_sets, n_words, n_wordings, n_repetitions = 1, effect = 0, variances, seed = 1) {
  sides <- c("compatible", "incompatible")
  fits <- lapply(seq_len(n_data_sets), function(number) {
    trials <- simulate_crossed_trials(n_words, n_wordings, n_repetitions, effect, variances, seed + number - 1)
    plain <- fit_lme4(trials, "tokens ~ condition + (1 | wording)", levels = list(condition = sides))$estimates[2, ]
    rows <- list(crossed = fit_crossed(trials, levels = sides)$tables$effects, wordings = plain)
    numbers <- c("estimate", "std_error", "p_value", "conf_low", "conf_high")
    cbind(model = names(rows), do.call(rbind, lapply(rows, function(row) row[numbers])))
  })
  fits <- do.call(rbind, fits)
  do.call(rbind, lapply(split(fits, factor(fits$model, unique(fits$model))), function(rows) {
    coverage <- mean(rows$conf_low <= effect & effect <= rows$conf_high)
    data.frame(
      model = rows$model[[1]], coverage, monte_carlo_error = sqrt(coverage * (1 - coverage) / nrow(rows)),
      power = mean(rows$p_value < .05), std_error = sqrt(mean(rows$std_error^2)),
      sd_of_estimates = stats::sd(rows$estimate), row.names = NULL
    )
  }))
}

# Stopping on precision (`collect --until-width`), tried on studies of which the truth is known: does a 95 % interval
# hold the effect as often as it says where the study ended because the interval was narrow, and what does it save?
#
# Each data set is a study that is asked a repetition at a time. At each of `looks` (numbers of repetitions; the last is
# the most there are) the model over words and wordings is fitted to the repetitions so far, and the study ends where
# half of its interval is `until_width` or less. One row: how often the interval at the end holds the effect
# (`coverage`) with its Monte Carlo standard error, that of all repetitions (`coverage_whole`), the mean of the
# `repetitions` that were asked and its error, the share of them that were `saved`, the share of studies that were
# `narrow` enough in the end, and the mean `half_width` there.
stopped_coverage <- function(n_data_sets, n_words, n_wordings, until_width, looks, effect = 0, variances, seed = 1) {
  most <- max(looks)
  ends <- lapply(seq_len(n_data_sets), function(number) {
    trials <- simulate_crossed_trials(n_words, n_wordings, most, effect, variances, seed + number - 1)
    at <- lapply(looks, function(n) NULL)
    for (i in seq_along(looks)) {
      at[[i]] <- interval_at(trials[trials$repetition <= looks[[i]], ], effect)
      if (at[[i]]$half_width <= until_width) break
    }
    whole <- if (i == length(looks)) at[[i]] else interval_at(trials, effect)
    cbind(at[[i]], repetitions = looks[[i]], holds_whole = whole$holds)
  })
  ends <- do.call(rbind, ends)
  coverage <- mean(ends$holds)
  frame_of(
    coverage = coverage, monte_carlo_error = sqrt(coverage * (1 - coverage) / n_data_sets),
    coverage_whole = mean(ends$holds_whole), repetitions = mean(ends$repetitions),
    repetitions_error = stats::sd(ends$repetitions) / sqrt(n_data_sets), saved = 1 - mean(ends$repetitions) / most,
    narrow = mean(ends$half_width <= until_width), half_width = mean(ends$half_width)
  )
}

interval_at <- function(trials, effect) {
  fit <- fit_crossed(trials, levels = c("compatible", "incompatible"))$tables$effects
  frame_of(
    half_width = (fit$conf_high - fit$conf_low) / 2, holds = fit$conf_low <= effect & effect <= fit$conf_high
  )
}

# How often the two tests of compare_games() give p of .05 or less, which they should in 5 %, where two conditions have
# the same `index` (a mean over games: "si", "bgd"; the same to the precision of `n_calibration` games): one is played
# in games that are very unlike each other (each at random or leaning), the other in games that are alike. `n_games`: of
# the varied condition, and of the other. One row: the shares `studentised` and `unstudentised` of `n_data_sets` pairs,
# with their Monte Carlo errors.
unequal_games_p <- function(n_data_sets, n_games = c(10, 30), index = "si", n_draws = 199, seed = 1,
                            n_calibration = 4000) {
  varied <- c(0, .95)
  index_of <- function(leaning) {
    games <- with_seed(seed, measured_games(leaning_counts(rep_len(leaning, n_calibration)), 4))
    weighted_indices(games, equal_weights(n_calibration))[, index]
  }
  target <- index_of(varied)
  alike <- stats::uniroot(function(leaning) index_of(leaning) - target, varied, tol = .001)$root
  p <- with_seed(seed, vapply(seq_len(n_data_sets), function(number) {
    leaning <- c(sample(varied, n_games[[1]], TRUE), rep(alike, n_games[[2]]))
    measured <- measured_games(leaning_counts(leaning), 4)
    tested <- tested_difference(measured, rep(c(TRUE, FALSE), n_games), index, n_draws, seed + number)
    c(tested$p_value, tested$p_unstudentised)
  }, numeric(2)))
  shares <- rowMeans(p < .05 + 1e-9)
  errors <- sqrt(shares * (1 - shares) / n_data_sets)
  data.frame(
    studentised = shares[[1]], studentised_error = errors[[1]], unstudentised = shares[[2]],
    unstudentised_error = errors[[2]]
  )
}

# Counts by game, group and class of games of four groups and classes: in a round, with the probability of
# `leaning` (one for each game), a class goes to its own group, else to any.
leaning_counts <- function(leaning, n_rounds = 40) {
  n <- length(leaning)
  at_random <- function() matrix(sample.int(4, n * n_rounds, TRUE), n)
  class <- at_random()
  group <- ifelse(matrix(stats::runif(n * n_rounds), n) < leaning, class, at_random())
  array(tabulate(row(class) + n * (group - 1) + 4 * n * (class - 1), 16 * n), c(n, 4, 4))
}
