#' Is it the same tomorrow?
#'
#' Answers to the same trials on two occasions (`collect --again`): how often they agree, how much of the variance of
#' the dependent variable is of the trials, and how far its mean has moved.
#'
#' Agreement is of answers, outcomes among them: a trial that was refused and then answered has changed. Cohen's kappa
#' takes off what answers as frequent as these agree in by chance; its interval is by a jackknife of trials, since an
#' answer that pairs many words is one trial. The intraclass correlations and the shift are of the trials that have the
#' measure on both occasions. Trials of other tests and conditions have other means, which alone make `icc` large where
#' no trial is stable. `icc_residual` is of what trials of one test and condition differ by: is a trial that is high
#' within its cell high again? A low correlation with a shift of 0 is noise; a shift is a model, or its server, that has
#' changed. Both occasions are a model's own: nothing is said of other words and wordings.
#'
#' @param data a data frame with one row per answer: the view `retest_answers` ([open_trials()]). `trial_id`,
#'   `first_answer` and `later_answer` (text), `first_value` and `later_value` (numbers, or missing); used if present:
#'   `test` and `condition`.
#' @param by names of the columns that are compared apart.
#' @param alpha 1 minus the level of the intervals.
#' @return A data frame, one row per group: the columns `by`, then `n_answers` compared, `share_equal` of them, `kappa`
#'   with `kappa_low` and `kappa_high`; `n` trials with the measure on both occasions, `icc` (ICC(1,1)) with `icc_low`
#'   and `icc_high`, `icc_residual` with `icc_residual_low` and `icc_residual_high` (the same after the means of tests
#'   and conditions), `icc_agreement` (ICC(2,1)), `mean_first`, `sd_first`, `mean_later`, `shift` (later minus first,
#'   units of the measure) with `shift_low` and `shift_high` and the paired t test's `statistic`, `df` and `p_value`,
#'   `shift_d` (in standard deviations of the first occasion); `status`, `messages`. What answers that are all alike
#'   can't tell is `NA`.
#' @seealso [intraclass_correlation()]; `"plot_retest"` of [draw_figure()] draws it.
#' @export
#' @examples
#' trials <- simulate_trials(n_wordings = 3)
#' set.seed(1)
#' again <- data.frame(
#'   model = trials$model, trial_id = seq_len(nrow(trials)), first_answer = "Pleasant",
#'   later_answer = "Pleasant",
#'   first_value = trials$tokens, later_value = trials$tokens +
#'     64 * sample(-1:1, nrow(trials), replace = TRUE)
#' )
#' retest_reliability(again, by = "model")
retest_reliability <- function(data, by = NULL, alpha = .05) {
  check_arguments()
  empty <- columns_of(
    "n_answers:whole share_equal kappa kappa_low kappa_high n:whole icc icc_low icc_high icc_residual",
    "icc_residual_low icc_residual_high icc_agreement mean_first sd_first mean_later shift shift_low shift_high",
    "shift_d statistic df p_value"
  )
  check_columns(data, c("first_value", "later_value"), to = "compare occasions")
  check_each_group(data, by, c("trial_id", "first_answer", "later_answer"), empty, function(rows) {
    labels <- sort(unique(c(rows$first_answer, rows$later_answer)), method = "radix")
    codes <- cbind(match(rows$first_answer, labels), match(rows$later_answer, labels))
    counts <- cross_table(codes, length(labels))
    kappa <- kappa_of(counts)
    if (is.na(kappa)) message("All answers are the same on both occasions: kappa is undefined.")
    half_width <- stats::qnorm(1 - alpha / 2) * jackknife_error(codes, rows$trial_id, counts)
    answers <- data.frame(
      n_answers = nrow(rows), share_equal = sum(diag(counts)) / nrow(rows), kappa = kappa,
      kappa_low = max(kappa - half_width, -1), kappa_high = min(kappa + half_width, 1)
    )
    cbind(answers, values_compared(rows, alpha))
  })
}

cross_table <- function(codes, k) matrix(tabulate(codes[, 1] + k * (codes[, 2] - 1), k^2), k)

kappa_of <- function(counts) {
  n <- sum(counts)
  expected <- sum(rowSums(counts) * colSums(counts)) / n^2
  if (n == 0 || expected == 1) NA_real_ else (sum(diag(counts)) / n - expected) / (1 - expected)
}

# The standard error of kappa with one trial left out at a time; trials that answer alike are reckoned once.
jackknife_error <- function(codes, trial_id, counts) {
  trials <- split(seq_len(nrow(codes)), match(trial_id, unique(trial_id)))
  cells <- codes[, 1] + nrow(counts) * (codes[, 2] - 1)
  patterns <- vapply(trials, function(rows) paste(sort(cells[rows]), collapse = " "), "")
  without <- vapply(trials[!duplicated(patterns)], function(rows) {
    kappa_of(counts - cross_table(codes[rows, , drop = FALSE], nrow(counts)))
  }, 1)
  left_out <- without[match(patterns, patterns[!duplicated(patterns)])]
  n <- length(left_out)
  sqrt((n - 1) / n * sum((left_out - mean(left_out))^2))
}

values_compared <- function(rows, alpha) {
  rows <- rows[!is.na(rows$first_value) & !is.na(rows$later_value), , drop = FALSE]
  both <- rows[c("first_value", "later_value")]
  first <- as.double(both$first_value)
  later <- as.double(both$later_value)
  result <- data.frame(
    n = nrow(both), mean_first = mean(first), mean_later = mean(later), shift = mean(later - first)
  )
  if (nrow(both) < 3) {
    message(sprintf("Three trials with a measure on both occasions are needed, and there are %d.", nrow(both)))
    return(replace(result, is.na(result), NA)) # a mean of none is NaN
  }
  icc <- intraclass_correlation(both, alpha)
  if (is.na(icc$estimate[[1]])) message("The measure is the same in all trials: there is nothing to correlate.")
  result[c("icc", "icc_low", "icc_high")] <- icc[1, c("estimate", "conf_low", "conf_high")]
  cells <- group_codes(rows, intersect(c("test", "condition"), names(rows)))
  residual <- residual_icc(first, later, cells, alpha)
  result[c("icc_residual", "icc_residual_low", "icc_residual_high")] <- residual
  result$icc_agreement <- icc$estimate[[2]]
  result$sd_first <- stats::sd(first)
  if (result$sd_first > 0) result$shift_d <- result$shift / result$sd_first
  if (stats::var(later - first) > 0) {
    test <- stats::t.test(later, first, paired = TRUE, conf.level = 1 - alpha)
    result[c("shift_low", "shift_high")] <- test$conf.int[1:2]
    result[c("statistic", "df", "p_value")] <- c(test$statistic, test$parameter, test$p.value)
  }
  result
}

# ICC(1,1) of what trials of one cell differ by, with its interval: an analysis of variance of trials within cells.
residual_icc <- function(first, later, cells, alpha) {
  df <- length(first) - length(unique(cells))
  if (df < 2) {
    return(rep(NA_real_, 3))
  }
  mean <- (first + later) / 2
  between <- 2 * sum((mean - stats::ave(mean, cells))^2) / df
  within <- sum((later - first)^2) / 2 / length(first)
  if (between + within == 0) between <- NA_real_
  icc <- icc_by_f("one_way", within, length(first), list(between = between, n = df + 1, k = 2), alpha)
  unlist(icc[c("estimate", "conf_low", "conf_high")], use.names = FALSE)
}
