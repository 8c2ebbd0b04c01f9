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
