#' Do a few long answers make the effect?
#'
#' Token counts have a long right tail, which moves means. This sets Cohen's d next to d of the logarithm of the counts
#' (`log(1 + tokens)`, because a count may be 0) and next to a comparison of ranks, which no tail can move.
#'
#' @inheritParams effect_size
#' @param data a data frame with one row per trial; leave refusals out first, as the paper does.
#' @param alpha the level of significance.
#' @return A data frame with one row per group: `n`; `skewness` and `skewness_log` around the mean of each condition (0
#'   if symmetric); `d` with `conf_low` and `conf_high` (95 %, [effect_size()]); `d_log` with `conf_low_log` and
#'   `conf_high_log`; `superiority`, the chance that a trial of the second level has more tokens than one of the first
#'   (ties count half; .5 if alike); `p_difference`, `p_log` (pooled t tests) and `p_ranks` (Wilcoxon's test);
#'   `changes_sign` and `changes_conclusion`, on the logarithm against the counts; `status`, `messages`.
#' @noRd
check_skew <- function(data, by = NULL, outcome = "tokens", contrast = "condition", levels = NULL, alpha = .05) {
  check_alpha(alpha)
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- data.frame(
    n = integer(), skewness = double(), skewness_log = double(), d = double(), conf_low = double(),
    conf_high = double(), d_log = double(), conf_low_log = double(), conf_high_log = double(), superiority = double(),
    p_difference = double(), p_log = double(), p_ranks = double(), changes_sign = logical(),
    changes_conclusion = logical()
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    check_outcome(rows, outcome)
    if (any(rows[[outcome]] < 0)) {
      stop_with(sprintf("\"%s\" holds a number below 0, which has no logarithm.", outcome))
    }
    skew_in_numbers(sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast), outcome, alpha)
  })
}

skew_in_numbers <- function(values, outcome, alpha) {
  logged <- lapply(values, log1p)
  counts <- standardised_difference(values[[1]], values[[2]], outcome)$estimates
  logs <- standardised_difference(logged[[1]], logged[[2]], outcome)$estimates
  p_of <- function(effect) 2 * stats::pt(-abs(effect$estimate) / sqrt(sum(1 / lengths(values))), effect$df)
  ranks <- suppressWarnings(stats::wilcox.test(values[[2]], values[[1]], exact = FALSE))
  p <- c(p_of(counts), p_of(logs))
  data.frame(
    n = sum(lengths(values)), skewness = within_skewness(values), skewness_log = within_skewness(logged),
    d = counts$estimate, conf_low = counts$conf_low, conf_high = counts$conf_high,
    d_log = logs$estimate, conf_low_log = logs$conf_low, conf_high_log = logs$conf_high,
    superiority = unname(ranks$statistic) / prod(lengths(values)),
    p_difference = p[[1]], p_log = p[[2]], p_ranks = ranks$p.value,
    changes_sign = sign(logs$estimate) != sign(counts$estimate),
    changes_conclusion = conclusion(logs$estimate, p[[2]], alpha) != conclusion(counts$estimate, p[[1]], alpha)
  )
}

within_skewness <- function(values) skewness_of(unlist(lapply(values, function(side) side - mean(side))))
