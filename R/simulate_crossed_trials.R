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
