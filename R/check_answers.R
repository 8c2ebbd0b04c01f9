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
  check_arguments()
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- columns_of(
    "n:whole skewness skewness_log d conf_low conf_high d_log conf_low_log conf_high_log superiority p_difference",
    "p_log p_ranks changes_sign:flag changes_conclusion:flag"
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    check_outcome(rows, outcome)
    if (any(rows[[outcome]] < 0)) {
      stop_with(sprintf("\"%s\" holds a number below 0, which has no logarithm.", outcome))
    }
    values <- sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast)
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
  })
}

within_skewness <- function(values) skewness_of(unlist(lapply(values, function(side) side - mean(side))))

#' Are all answers of a condition alike?
#'
#' Where all or none of the answers of a cell are the same, a logistic model has no finite estimate by likelihood, and
#' one with priors gives what the priors say. What such a cell can be is bounded by its exact interval.
#'
#' @inheritParams check_missing_bounds
#' @return A data frame with one row per group and condition: `condition`; `n` valid answers; `n_true`; `rate` with
#'   `conf_low` and `conf_high` (the exact 95 % interval of Clopper and Pearson); `is_separated` (the rate is 0 or 1);
#'   `status`, `messages`.
#' @references Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case
#'   of the binomial. Biometrika, 26, 404-413. Albert, A. & Anderson, J. A. (1984). On the existence of maximum
#'   likelihood estimates in logistic regression models. Biometrika, 71, 1-10.
#' @noRd
check_separation <- function(data, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, outcome, to = "look for separated cells")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- columns_of("condition:text n:whole n_true:whole rate conf_low conf_high is_separated:flag")
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    by_condition(rows, contrast, levels, function(of_condition) {
      y <- zeros_and_ones(of_condition[[outcome]], outcome)
      limits <- stats::binom.test(sum(y), length(y))$conf.int
      data.frame(
        n = length(y), n_true = sum(y), rate = mean(y), conf_low = limits[[1]], conf_high = limits[[2]],
        is_separated = sum(y) %in% c(0, length(y))
      )
    })
  })
}

#' Do answers end at a limit?
#'
#' Where reasoning is cut off at a largest number of tokens, or has a floor, the difference between conditions is made
#' smaller. This counts the answers that were cut off, that reach a known limit, and that pile up at the smallest and
#' the largest count there is.
#'
#' @param data a data frame with one row per trial (refusals too: a cut-off answer counts as one): `tokens` and
#'   `condition`. Used if present: `outcome` and `finish_reason` (`"truncated"`; `"length"`, `"max_tokens"` and
#'   `"MAX_TOKENS"` mean cut off), `token_limit` (the largest count that was allowed).
#' @param by names of the columns that define the groups; each condition of a group is a row.
#' @return A data frame with one row per group and condition: `condition`; `n` trials; `n_ended_known`, trials of which
#'   it is known how they ended; `n_truncated`, cut off; `token_limit`; `n_at_limit`, at 99 % of it or above;
#'   `smallest`, `n_at_smallest`, `largest`, `n_at_largest` (tokens, trials); `step`, the largest number that all counts
#'   are multiples of; `status`, `messages`.
#' @noRd
check_token_limits <- function(data, by = NULL) {
  check_columns(data, c("tokens", "condition"), to = "check limits")
  empty <- columns_of(
    "condition:text n:whole n_ended_known:whole n_truncated:whole token_limit n_at_limit:whole smallest",
    "n_at_smallest:whole largest n_at_largest:whole step"
  )
  check_each_group(data, by, c("tokens", "condition"), empty, function(rows) {
    by_condition(rows, "condition", sort(unique(as.character(rows$condition)), method = "radix"), limits_of)
  })
}

limits_of <- function(rows) {
  tokens <- rows$tokens
  column <- function(name) if (name %in% names(rows)) rows[[name]] else rep(NA, nrow(rows))
  limits <- as.double(unique(column("token_limit")))
  limit <- if (length(limits) == 1) limits else NA_real_
  reason <- as.character(column("finish_reason"))
  is_truncated <- reason %in% c("length", "max_tokens", "MAX_TOKENS") | as.character(column("outcome")) %in% "truncated"
  counts <- unique(tokens[tokens != 0])
  data.frame(
    n = nrow(rows), n_ended_known = sum(!is.na(reason) | is_truncated),
    n_truncated = sum(is_truncated), token_limit = limit,
    n_at_limit = if (is.na(limit)) NA_integer_ else sum(tokens >= .99 * limit),
    smallest = min(tokens), n_at_smallest = sum(tokens == min(tokens)),
    largest = max(tokens), n_at_largest = sum(tokens == max(tokens)),
    step = if (length(counts) == 0 || any(counts != round(counts))) NA_real_ else abs(greatest_divisor(counts + 0))
  )
}

#' How long are answers, and do they grow or shrink along a game?
#'
#' A model whose answers shorten as a conversation grows may have stopped to think, or lost what came before.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer.
#' @param length name of the column with the length of the answer, in tokens; NA if it was not counted.
#' @param place name of the column with the place of the answer in its conversation: the round.
#' @return A data frame with one row per group and condition: `condition`; `n`; `median_length`, `mean_length` and
#'   `largest` (tokens); and of all conditions of the group `first_quarter` and `last_quarter`, the median length in the
#'   first and the last quarter of the rounds, and `trend`, Spearman's rank correlation of length and round (NA if
#'   all lengths are alike); `status`, `messages`.
#' @references Spearman, C. (1904). The proof and measurement of association between two things. American Journal of
#'   Psychology, 15, 72-101.
#' @noRd
check_answer_lengths <- function(data, by = NULL, length = "output_tokens", place = "round", contrast = "condition",
                                 levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(length, place), to = "check lengths")
  empty <- columns_of("condition:text n:whole median_length mean_length largest first_quarter last_quarter trend")
  check_each_group(data, by, c(length, place, contrast), empty, function(rows) {
    lengths <- as.double(rows[[length]])
    places <- as.double(rows[[place]])
    limits <- stats::quantile(places, c(.25, .75), names = FALSE)
    varies <- stats::var(lengths) > 0 && stats::var(places) > 0
    along <- data.frame(
      first_quarter = stats::median(lengths[places <= limits[[1]]]),
      last_quarter = stats::median(lengths[places >= limits[[2]]]),
      trend = if (varies %in% TRUE) stats::cor(lengths, places, method = "spearman") else NA_real_
    )
    by_condition(rows, contrast, levels, function(of_condition) {
      own <- as.double(of_condition[[length]])
      cbind(data.frame(
        n = nrow(of_condition), median_length = stats::median(own), mean_length = mean(own), largest = max(own)
      ), along)
    })
  })
}

#' Are repetitions answers of their own?
#'
#' A model that is asked the same again may answer the same again, to the token, as most do at temperature 0: such
#' repetitions are one answer, and an analysis that counts each of them has intervals that are too narrow. This counts
#' the combinations (a word in a wording and condition) whose repetitions are all the same, by temperature, next to how
#' many would be if answers were drawn at random from those of the group: short or stepwise counts agree by chance.
#'
#' @inheritParams check_skew
#' @param data a data frame with one row per trial: `item`, `wording`, the outcome and the contrast; used if present:
#'   `group`, and `temperature` (missing: the provider's own).
#' @return A data frame with one row per group and temperature: `temperature`, `n` trials, `n_repeated` combinations
#'   that were asked more than once, `n_repetitions` (the most), `n_identical` of them whose answers are all the same,
#'   `share_identical`, `share_by_chance`, `n_effective`, trials with such repetitions counted once; `status`,
#'   `messages`.
#' @noRd
check_repetitions <- function(data, by = NULL, outcome = "tokens", contrast = "condition") {
  if (is.null(data$temperature)) data$temperature <- rep(NA_real_, nrow(data))
  if (is.null(data$group)) data$group <- rep("", nrow(data))
  empty <- columns_of(
    "temperature n:whole n_repeated:whole n_repetitions:whole n_identical:whole share_identical share_by_chance",
    "n_effective:whole"
  )
  check_each_group(data, by, c(outcome, contrast, "item", "wording"), empty, function(rows) {
    known <- as.double(rows$temperature)
    do.call(rbind, lapply(sort(unique(known), na.last = TRUE), function(at) {
      repetitions_of(rows[known %in% at, , drop = FALSE], at, outcome, contrast)
    }))
  })
}

repetitions_of <- function(rows, temperature, outcome, contrast) {
  keys <- c(intersect(c("model", "test"), names(rows)), "group", "item", "wording", contrast)
  values <- split(rows[[outcome]], group_codes(rows, keys))
  repeated <- values[lengths(values) > 1]
  is_identical <- vapply(repeated, function(answers) length(unique(answers)) == 1, NA)
  shares <- table(rows[[outcome]]) / nrow(rows)
  by_chance <- vapply(lengths(repeated), function(n) sum(shares^n), 1)
  frame_of(
    temperature = as.double(temperature), n = nrow(rows), n_repeated = length(repeated),
    n_repetitions = max(lengths(values)), n_identical = sum(is_identical),
    share_identical = if (length(repeated) > 0) mean(is_identical) else NA_real_,
    share_by_chance = if (length(repeated) > 0) mean(by_chance) else NA_real_,
    n_effective = nrow(rows) - sum(lengths(repeated)[is_identical] - 1L)
  )
}
