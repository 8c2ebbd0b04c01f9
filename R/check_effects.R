#' Does one word, wording or repetition carry the difference?
#'
#' The difference between two conditions in the share of an answer, as observed, without each word, each category, each
#' wording (or whatever columns are named) in turn. Nothing is fitted, so that it takes no time.
#'
#' @inheritParams check_missing_bounds
#' @param parts names of the columns whose values are left out in turn; one that has a single value takes no part.
#' @return A data frame with one row per group, further condition and value left out: `condition`, `reference`; `part`
#'   (the column), `left_out` (its value), `n_left_out` (valid answers); `delta_p_all`, of all valid answers (reference
#'   less condition) with `conf_low_all` and `conf_high_all` (Newcombe's 95 % interval); `delta_p` without these;
#'   `change`, the one minus the other; `carries_effect`: 0 lies outside the interval of all, and without these the
#'   difference is less than half as large, or of the other sign; `status`, `messages`.
#' @references Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions.
#'   Statistics in Medicine, 17, 873-890. Tukey, J. W. (1958). Bias and confidence in not quite large samples. Annals of
#'   Mathematical Statistics, 29, 614.
#' @noRd
check_left_out <- function(data, by = NULL, parts = c("item", "wording"), outcome = "is_consistent",
                           contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(outcome, parts), to = "leave rows out")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- columns_of(
    "condition:text reference:text part:text left_out:text n_left_out:whole delta_p_all conf_low_all conf_high_all",
    "delta_p change carries_effect:flag"
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    parts <- parts[vapply(rows[parts], function(values) length(unique(values)) > 1, NA)]
    if (length(parts) == 0) {
      stop_with("There is nothing to leave out: all of these answers are to one word in one wording.")
    }
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      y <- lapply(list(reference, other), function(rows) zeros_and_ones(rows[[outcome]], outcome))
      all_rows <- share_difference(sum(y[[1]]), length(y[[1]]), sum(y[[2]]), length(y[[2]]))
      is_shown <- all_rows$conf_low > 0 || all_rows$conf_high < 0
      do.call(rbind, lapply(parts, function(part) {
        labels <- lapply(list(reference, other), function(rows) as.character(rows[[part]]))
        values <- unique(unlist(labels))
        n <- lapply(labels, function(own) tabulate(match(own, values), length(values)))
        share_left <- function(y, label, n) {
          (sum(y) - as.vector(tapply(y, factor(label, values), sum, default = 0))) / (length(y) - n)
        }
        delta_p <- share_left(y[[1]], labels[[1]], n[[1]]) - share_left(y[[2]], labels[[2]], n[[2]])
        delta_p[is.nan(delta_p)] <- NA_real_
        data.frame(
          part = part, left_out = values, n_left_out = n[[1]] + n[[2]], delta_p_all = all_rows$delta_p,
          conf_low_all = all_rows$conf_low, conf_high_all = all_rows$conf_high, delta_p = delta_p,
          change = delta_p - all_rows$delta_p,
          carries_effect = is_shown & delta_p * sign(all_rows$delta_p) < abs(all_rows$delta_p) / 2
        )
      }))
    })
  })
}

#' Is a null a null? Two one-sided tests
#'
#' That a difference is not significant does not show that it is small. This tests whether Cohen's d lies within
#' `-bound` and `bound`: by two one-sided t tests of the raw difference against the bounds in tokens, which are `bound`
#' times the pooled standard deviation (Lakens, 2017). The 90 % interval (for `alpha` .05) lies within the bounds
#' exactly when the test is significant.
#'
#' Of effects, as [fit_crossed()] has them in its table `effects`, standard errors and degrees of freedom are those over
#' words and wordings: an effect is shown to be small for others than these. Of trials they are those of independent
#' answers, which says something of these words and wordings alone (`generalises_to` is `""`).
#'
#' @inheritParams check_skew
#' @param data a data frame with one row per effect (`estimate`, `std_error`, `df`, `p_value`, `sd`), or one per trial.
#' @param bound the smallest |d| that would matter.
#' @return A data frame with one row per effect or group: `d`, `std_error` (of d), `df`, `bound`; `p_difference` against
#'   0 (of trials: the pooled t test); `p_equivalence`, the larger of the two one-sided p values; `conf_low` and
#'   `conf_high`, the `1 - 2 * alpha` interval of d by the same tests; `smallest_bound`, the bound that could just be
#'   shown; `is_possible`, whether such a study could show equivalence at all, were d exactly 0; `finding`:
#'   `"equivalent within the bound"`, `"differs by more than the bound"` or `"not decided"`; `percentile`, where
#'   the median of one condition lies in the other at the bound (a reason for it, or against it), `generalises_to`;
#'   of trials `status`, `messages`.
#' @references Lakens, D. (2017). Equivalence tests. Social Psychological and Personality Science, 8, 355-362.
#' @noRd
check_equivalence <- function(data, bound = .1, alpha = .05, by = NULL, outcome = "tokens", contrast = "condition",
                              levels = NULL) {
  check_arguments()
  if (all(c("estimate", "std_error", "df", "sd") %in% names(data))) {
    check_columns(data, c(by, "p_value"), to = "test equivalence")
    # An effect that could not be fitted has no row.
    data <- data[!is.na(data$estimate) & !is.na(data$std_error), , drop = FALSE]
    over <- if (is.null(data$generalises_to)) rep("wording, item", nrow(data)) else data$generalises_to
    tests <- two_one_sided_tests(
      data$estimate / data$sd, data$std_error / data$sd, data$df, data$p_value, bound, alpha, over
    )
    return(as_plain_rows(cbind(data[by], tests)))
  }
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- two_one_sided_tests(double(), double(), double(), double(), bound, alpha, character())
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    check_outcome(rows, outcome)
    values <- sides(rows[[outcome]], as.character(rows[[contrast]]), levels, contrast)
    n <- lengths(values)
    std_error <- sqrt(sum(1 / n))
    d <- d_of(values[[1]], values[[2]], outcome)
    p_difference <- 2 * stats::pt(-abs(d / std_error), sum(n) - 2)
    two_one_sided_tests(d, std_error, sum(n) - 2, p_difference, bound, alpha, "")
  })
}

two_one_sided_tests <- function(d, std_error, df, p_difference, bound, alpha, generalises_to) {
  p_equivalence <- stats::pt((abs(d) - bound) / std_error, df)
  half_width <- stats::qt(1 - alpha, df) * std_error
  frame_of(
    d = d, std_error = std_error, df = as.double(df), bound = rep(bound, length(d)), p_difference = p_difference,
    p_equivalence = p_equivalence, conf_low = d - half_width, conf_high = d + half_width,
    smallest_bound = abs(d) + half_width, is_possible = half_width < bound,
    finding = verdict_of(d, bound, std_error, df, alpha),
    percentile = rep(100 * stats::pnorm(bound), length(d)), generalises_to = generalises_to
  )
}

# Of the bound alone, in the words of every comparison: two one-sided tests at alpha (the 1 - 2 alpha interval lies
# within the bound), or the 1 - alpha interval lies beyond it. Without an error nothing is decided.
verdict_of <- function(difference, bound, std_error, df, alpha) {
  away <- (abs(difference) - bound) / std_error
  words_of_verdict(
    stats::pt(away, df) < alpha & std_error > 0, stats::pt(away, df, lower.tail = FALSE) < alpha / 2 & std_error > 0
  )
}

words_of_verdict <- function(is_equivalent, is_beyond) {
  ifelse(
    is_equivalent %in% TRUE, "equivalent within the bound",
    ifelse(is_beyond %in% TRUE, "differs by more than the bound", "not decided")
  )
}

# Cohen's d as effect_size() has it, without its interval.
d_of <- function(reference, other, outcome) {
  (mean(other) - mean(reference)) / sqrt(pooled_variance_of(reference, other, outcome))
}

#' Which levels differ, in one row a pair?
#'
#' Differences between the marginal means of all pairs of levels, uncorrected: those of the variant `null`, whose levels
#' were dealt to prompts at random, say what is found if there is nothing.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per profile.
#' @param outcome name of the column with the answer, a number.
#' @param attributes names of the columns with the levels that were shown.
#' @param cluster,levels,declared see [marginal_means()].
#' @return A data frame with one row per group and pair: `attribute`, `first`, `second`, `n` (answers of the group),
#'   `estimate` (the mean difference, second less first), `std_error`, `p_value`, `sd` (of all answers of the group);
#'   `status`, `messages`.
#' @noRd
check_level_contrasts <- function(data, attributes, by = NULL, outcome = "measured", cluster = NULL, levels = NULL,
                                  declared = NULL) {
  declared <- checked_declaration(declared)
  needed <- unique(c(cluster_columns(cluster), unlist(declared, use.names = FALSE)))
  check_columns(data, needed, to = "compare levels")
  empty <- columns_of("attribute:text first:text second:text n:whole estimate std_error p_value sd")
  check_each_group(data, by, unique(c(outcome, attributes, needed)), empty, function(rows) {
    used <- attribute_rows(rows, outcome, attributes, cluster, NULL, levels, declared)
    values <- rows[[outcome]][!is.na(rows[[outcome]])]
    as_plain_rows(do.call(rbind, lapply(attributes, function(name) {
      pairs <- pairs_of(name, NULL, rows_of(used, name))
      frame_of(
        attribute = name, first = pairs$contrasts$first, second = pairs$contrasts$second, n = length(values),
        estimate = pairs$estimates$estimate, std_error = pairs$estimates$std_error, p_value = pairs$estimates$p_value,
        sd = stats::sd(as.numeric(values))
      )
    })))
  })
}
