#' Which answers are missing, and are they more in one condition?
#'
#' Counts refused, filtered, cut-off, malformed and rejected answers by condition, and tests whether the share of
#' missing ones differs between conditions by Fisher's exact test (if conditions are many and counts large, by the
#' chi-squared test).
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer that was asked for, whatever came: `outcome` is `"answered"`, or
#'   why there is no answer. Used if present: `n_reminders`, how often a game had to ask again.
#' @return A data frame with one row per group and condition: `condition`; `n`; `n_missing`, and of these `n_refused`,
#'   `n_filtered`, `n_truncated`, `n_malformed` and `n_rejected` (declined by the provider for no known reason);
#'   `rate_missing` with `conf_low` and `conf_high` (Wilson's 95 % interval); `n_reminded`, answers before which there
#'   was a reminder (NA if unknown); `p_value` of the difference between the conditions of the group (a
#'   repeated prompt counts once), NA with one condition; `detectable`, a difference found by 80 % of such studies;
#'   `p_holm`, corrected by Holm's
#'   method for all groups; `status`, `messages`.
#' @references Fisher, R. A. (1935). The logic of inductive inference. Journal of the Royal Statistical Society, 98,
#'   39-82.
#' @noRd
check_missing_answers <- function(data, by = NULL, contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, "outcome", to = "count missing answers")
  empty <- columns_of(
    "condition:text n:whole n_missing:whole n_refused:whole n_filtered:whole n_truncated:whole n_malformed:whole",
    "n_rejected:whole rate_missing conf_low conf_high n_reminded:whole p_value detectable"
  )
  table <- check_each_group(data, by, c("outcome", contrast), empty, function(rows) {
    rates <- by_condition(rows, contrast, levels, missing_in)
    once <- by_condition(once_each_prompt(rows, contrast), contrast, levels, missing_in)
    detectable <- error_from_others(once$n_missing, once$n)
    cbind(rates, p_value = p_of_missing(once$n_missing, once$n), detectable = detectable)
  })
  table <- with_holm_of(table, by)
  table[c(setdiff(names(table), c("status", "messages")), "status", "messages")]
}

# p of each test, which all rows of these `keys` share, corrected by Holm's method, and what is detectable then.
with_holm_of <- function(table, keys) {
  codes <- group_codes(table, keys)
  first <- which(!duplicated(codes))
  p_holm <- stats::p.adjust(table$p_value[first], method = "holm")
  table$p_holm <- p_holm[match(codes, codes[first])]
  table$detectable <- pmin(1, detectable_of(table$detectable, sum(!is.na(p_holm))))
  table
}

# A prompt that is refused is refused again: however often it is asked, it counts once, as missing if it ever was.
# Rounds of a game are no repetitions.
once_each_prompt <- function(rows, contrast) {
  prompt <- intersect(c("item", "group", "wording", "respondent"), names(rows))
  if (length(prompt) == 0 || "game" %in% names(rows)) {
    return(rows)
  }
  rows <- rows[order(rows$outcome == "answered"), , drop = FALSE]
  rows[!duplicated(group_codes(rows, c(contrast, prompt))), , drop = FALSE]
}

missing_in <- function(rows) {
  n_reminded <- if (is.null(rows$n_reminders)) NA_integer_ else sum(rows$n_reminders > 0)
  cbind(missing_counts(rows$outcome, factor(rep("all", nrow(rows)))), n_reminded = n_reminded)
}

# Counted at once for all levels: taking the rows of each level apart would copy a large study once a level.
missing_counts <- function(outcome, level) {
  kinds <- c("refused", "filtered", "truncated", "malformed", "rejected")
  counts <- unclass(table(level, factor(outcome, union(c("answered", kinds), outcome))))
  n <- as.integer(rowSums(counts))
  n_missing <- n - unname(counts[, "answered"])
  interval <- wilson(n_missing, n)
  of_kinds <- lapply(stats::setNames(kinds, paste0("n_", kinds)), function(kind) unname(counts[, kind]))
  do.call(frame_of, c(list(n = n, n_missing = n_missing), of_kinds, list(
    rate_missing = n_missing / n, conf_low = interval$rate_low, conf_high = interval$rate_high
  )))
}

p_of_missing <- function(n_missing, n) {
  if (length(n) < 2) {
    return(NA_real_)
  }
  counts <- rbind(n_missing, n - n_missing)
  if (any(rowSums(counts) == 0)) {
    return(1)
  }
  tryCatch(
    stats::fisher.test(counts)$p.value, error = function(e) suppressWarnings(stats::chisq.test(counts)$p.value)
  )
}

#' Could the missing answers have made the difference?
#'
#' What refused, cut-off or malformed answers would have been is unknown. The difference between two conditions in the
#' share of an answer (of a forced choice, the consistent one) is bounded by what it would be had all missing answers
#' gone one way, or the other: no assumption on why they are missing is needed.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer that was asked for.
#' @param outcome name of the column that is TRUE or FALSE (or 1 and 0), NA if the answer is missing.
#' @return A data frame with one row per group and further condition: `condition`, `reference`; `n_reference` and
#'   `n_other` valid answers; `n_missing_reference` and `n_missing_other`; `delta_p` of valid answers (reference less
#'   condition) with `conf_low` and `conf_high` (Newcombe's 95 % interval); `delta_p_all_true` and `delta_p_all_false`,
#'   had all missing ones gone the same way; `delta_p_lowest` and `delta_p_highest`, had those of the one condition gone
#'   one way and of the other the other; `is_sign_kept_by_missing`, whether both have the sign of `delta_p`: of
#'   missing answers only, however few the valid ones are; `bounds_conf_low` and `bounds_conf_high`, the 95 % interval
#'   of Imbens and Manski, which adds what chance does (answers taken as independent); `status`, `messages`.
#' @references Imbens, G. W. & Manski, C. F. (2004). Confidence intervals for partially identified parameters.
#'   Econometrica, 72, 1845-1857. Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources,
#'   24, 343-360. Horowitz, J. L. & Manski, C. F. (2000). Nonparametric analysis of randomized experiments with missing
#'   covariate and outcome data. Journal of the American Statistical Association, 95, 77-84. Newcombe, R. G. (1998).
#'   Interval estimation for the difference between independent proportions. Statistics in Medicine, 17, 873-890.
#' @noRd
check_missing_bounds <- function(data, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, outcome, to = "bound a difference")
  empty <- columns_of(
    "condition:text reference:text n_reference:whole n_other:whole n_missing_reference:whole n_missing_other:whole",
    "delta_p conf_low conf_high delta_p_all_true delta_p_all_false delta_p_lowest delta_p_highest",
    "is_sign_kept_by_missing:flag bounds_conf_low bounds_conf_high"
  )
  check_each_group(data, by, contrast, empty, function(rows) {
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      bounds_of_difference(reference[[outcome]], other[[outcome]], outcome)
    })
  })
}

bounds_of_difference <- function(reference, other, outcome) {
  valid <- lapply(list(reference, other), function(values) zeros_and_ones(values[!is.na(values)], outcome))
  n <- lengths(valid)
  n_missing <- c(sum(is.na(reference)), sum(is.na(other)))
  n_true <- vapply(valid, sum, 1)
  observed <- if (all(n > 0)) {
    share_difference(n_true[[1]], n[[1]], n_true[[2]], n[[2]])
  } else {
    data.frame(delta_p = NA_real_, conf_low = NA_real_, conf_high = NA_real_)
  }
  with_missing <- function(of_reference, of_other) {
    shares <- (n_true + n_missing * c(of_reference, of_other)) / (n + n_missing)
    shares[[1]] - shares[[2]]
  }
  # One more answer of either kind, so that shares of 0 and 1 have an error, too (Agresti & Caffo 2000).
  error_with <- function(of_reference, of_other) {
    shares <- (n_true + n_missing * c(of_reference, of_other) + 1) / (n + n_missing + 2)
    sqrt(sum(shares * (1 - shares) / (n + n_missing + 2)))
  }
  lowest <- with_missing(0, 1)
  highest <- with_missing(1, 0)
  interval <- interval_of_bounds(lowest, highest, error_with(0, 1), error_with(1, 0))
  cbind(
    data.frame(n_reference = n[[1]], n_other = n[[2]], n_missing_reference = n_missing[[1]],
               n_missing_other = n_missing[[2]]),
    observed,
    data.frame(
      delta_p_all_true = with_missing(1, 1), delta_p_all_false = with_missing(0, 0), delta_p_lowest = lowest,
      delta_p_highest = highest,
      is_sign_kept_by_missing = sign(lowest) == sign(observed$delta_p) & sign(highest) == sign(observed$delta_p),
      bounds_conf_low = interval[[1]], bounds_conf_high = interval[[2]]
    )
  )
}

# The 95 % interval of a number of which only bounds are known, with their standard errors: Imbens and Manski (2004),
# equations 6 and 7. Where the bounds are one number, it is that of a normal estimate; where they are far apart, it adds
# 1.645 standard errors to either.
interval_of_bounds <- function(lowest, highest, error_lowest, error_highest, alpha = .05) {
  error <- max(error_lowest, error_highest)
  if (!is.finite(error) || !is.finite(highest - lowest)) {
    return(c(NA_real_, NA_real_))
  }
  gap <- if (error > 0) (highest - lowest) / error else 0
  missed <- function(c) stats::pnorm(c + gap) - stats::pnorm(-c) - (1 - alpha)
  c <- stats::uniroot(missed, stats::qnorm(1 - alpha / c(1, 2)) + c(-.01, .01), tol = 1e-10)$root
  c(lowest - c * error_lowest, highest + c * error_highest)
}

#' Which answers are missing, and are they more at one level of an attribute?
#'
#' Counts refused, filtered, cut-off, malformed and rejected answers by level, and tests whether the share of missing
#' ones differs between the levels of an attribute.
#'
#' Answers to one prompt that is asked again are held back together. So the test permutes prompts: what each prompt
#' came to (asked how often, answered how often) is dealt to the prompts at random, and the chi-squared statistic
#' compared. An attribute whose levels are properties of another's (the gender of a name) is tested over those levels,
#' not prompts. Where prompts were asked once, or each level has one prompt and prompts are what is compared, it is
#' Fisher's exact test (with many counts the chi-squared test).
#'
#' @inheritParams check_missing_answers
#' @param once names of the columns that tell which answer a row is of: several profiles of one answer count once for
#'   each level that they show. `NULL`: each row is an answer.
#' @param prompt names of the columns that tell what was shown. `NULL`: each answer is to a prompt of its own.
#' @param data a data frame with one row per profile and answer, whatever came: `outcome` is `"answered"`, or why there
#'   is no answer.
#' @param attributes names of the columns with the levels that were shown.
#' @param n_draws number of permutations; ten times as many where hardly any is as large.
#' @param seed of them, a whole number.
#' @return A data frame with one row per group, attribute and level, within an attribute the level with most missing
#'   answers first: `attribute`; `level`; `n`, `n_missing` and its parts, `rate_missing`, `conf_low` and `conf_high` as
#'   of `check_missing_answers()`; `rate_others`, the rate of all other levels; `p_value` of the difference between the
#'   levels of the attribute, NA with one level; `p_holm`, corrected by Holm's method for all groups and attributes;
#'   `unit`, what the test permutes (`"prompt"`, the name of an attribute, or `"answer"`), and `n_units`; `detectable`,
#'   the difference of rates (this level and all others) that would be found with a power of 80 % after correction;
#'   `status`, `messages`.
#' @references Fisher, R. A. (1935). The logic of inductive inference. Journal of the Royal Statistical Society, 98,
#'   39-82.
#' @noRd
check_missing_levels <- function(data, attributes, by = NULL, once = NULL, prompt = NULL, n_draws = 1999, seed = 1) {
  check_columns(data, c("outcome", attributes, by, once, prompt), to = "count missing answers")
  empty <- cbind(
    missing_by_level(data.frame(outcome = character(), level = character()), "level"),
    columns_of("p_value p_holm unit:text n_units:whole detectable")
  )
  table <- check_each_group(data, by, c("outcome", attributes), empty, function(rows) {
    answer <- if (is.null(once)) seq_len(nrow(rows)) else group_codes(rows, once)
    do.call(rbind, lapply(attributes, function(name) {
      own <- !duplicated(data.frame(answer, as.character(rows[[name]])))
      table <- missing_by_level(rows[own, , drop = FALSE], name)
      units <- dealt_units(rows, name, attributes, answer, prompt)
      std_error <- error_from_others(table$n_missing, table$n)
      p_value <- NA_real_
      # answers of one to a prompt have nothing in common; where a level has one prompt, prompts are what is compared
      is_independent <- all(units$n == 1) && all(colSums(units$shown) == 1) || all(rowSums(units$shown) == 1)
      if (nrow(table) > 1 && is_independent) {
        units$name <- "answer"
        p_value <- p_of_missing(table$n_missing, table$n)
      } else if (nrow(table) > 1) {
        shown <- units$shown[table$level, , drop = FALSE]
        permuted <- permuted_rates(shown, units$n, units$n_missing, n_draws, seed)
        if (permuted$n_as_large < 10) permuted <- permuted_rates(shown, units$n, units$n_missing, 10 * n_draws, seed)
        p_value <- (permuted$n_as_large + 1) / (permuted$n_draws + 1)
        std_error <- pmax(std_error, permuted$std_error)
      }
      n_units <- if (units$name == "answer") sum(units$n) else ncol(units$shown)
      cbind(table, data.frame(p_value = p_value, unit = units$name, n_units = n_units, detectable = std_error))
    }))
  })
  with_holm_of(table, c(by, "attribute"))
}

missing_by_level <- function(rows, name) {
  levels <- sort(unique(as.character(rows[[name]])))
  counts <- missing_counts(rows$outcome, factor(as.character(rows[[name]]), levels))
  others <- sum(counts$n) - counts$n
  rate_others <- ifelse(others > 0, (sum(counts$n_missing) - counts$n_missing) / others, NA_real_)
  table <- cbind(frame_of(attribute = rep(name, length(levels)), level = levels), counts, rate_others = rate_others)
  table[order(-table$rate_missing, table$level), , drop = FALSE]
}

# What answers have in common that may be held back together: `name`; `shown`, a matrix of levels and units; `n` and
# `n_missing` answers of each unit.
dealt_units <- function(rows, name, attributes, answer, prompt) {
  level <- as.character(rows[[name]])
  owners <- Filter(function(other) owns_levels(as.character(rows[[other]]), level), setdiff(attributes, name))
  if (length(owners) > 0) {
    unit_name <- owners[[which.min(vapply(owners, function(other) length(unique(rows[[other]])), 1L))]]
    unit <- match(rows[[unit_name]], unique(rows[[unit_name]]))
  } else {
    unit_name <- if (is.null(prompt)) "answer" else "prompt"
    shown_together <- vapply(split(level, answer), function(own) paste(sort(unique(own)), collapse = "\037"), "")
    together <- unname(shown_together)[match(answer, as.integer(names(shown_together)))]
    unit <- if (is.null(prompt)) answer else group_codes(cbind(rows[prompt], together), c(prompt, "together"))
  }
  once <- !duplicated(data.frame(answer, unit))
  list(
    name = unit_name, shown = unclass(table(factor(level, sort(unique(level))), unit)) > 0,
    n = tabulate(unit[once], max(unit)), n_missing = tabulate(unit[once & rows$outcome != "answered"], max(unit))
  )
}

# Is each level of `other` of one of these levels, all of which have several, as genders have several names?
owns_levels <- function(other, level) {
  pairs <- unique(data.frame(other, level))
  n_owners <- table(pairs$level)
  !anyDuplicated(pairs$other) && length(n_owners) > 1 && all(n_owners > 1)
}

# The standard error of the difference of each rate from that of all others, were they alike.
error_from_others <- function(n_missing, n) {
  rate <- (sum(n_missing) + 1) / (sum(n) + 2)
  sqrt(rate * (1 - rate) * (1 / n + 1 / pmax(1, sum(n) - n)))
}

# What units came to, dealt to them at random: how often the statistic is as large as it is, and how far each level's
# rate is then from that of all others.
permuted_rates <- function(shown, n, n_missing, n_draws, seed) {
  draws <- with_seed(seed, vapply(seq_len(n_draws), function(k) sample.int(length(n)), integer(length(n))))
  draws <- cbind(seq_along(n), matrix(draws, length(n)))
  of_levels <- shown %*% matrix(n[draws], length(n))
  missing <- shown %*% matrix(n_missing[draws], length(n))
  rate <- sum(n_missing) / sum(n)
  others <- pmax(1, rep(colSums(of_levels), each = nrow(shown)) - of_levels)
  apart <- missing / pmax(1, of_levels) - (rep(colSums(missing), each = nrow(shown)) - missing) / others
  statistic <- colSums((missing - rate * of_levels)^2 / pmax(1, of_levels))
  list(
    n_draws = n_draws, n_as_large = sum(statistic[-1] >= statistic[[1]] * (1 - 1e-9)),
    std_error = sqrt(rowMeans(apart[, -1, drop = FALSE]^2))
  )
}

#' What if refusals are not missing at random?
#'
#' The paper leaves refused trials out. How long a model would have reasoned, had it answered, is unknown, and it may
#' differ from the answered trials of the same condition. This computes the effect for the extremes: each refused trial
#' is given the smallest or the largest count that any trial of the group has, refused ones among them. Where even the
#' two worst leave the effect its sign, refusals can't have made that sign. Else `tipping_sd` says how far off they
#' would have to be.
#'
#' Every difference of means is standardised by the same number, the pooled standard deviation of the answered trials.
#' Cohen's d with the refused trials in its standard deviation would not do: extremes make that larger, so that d of
#' the extremes may lie nearer to 0 than d of what lies between them, and would bound nothing. So standardised, whatever
#' refused trials are given from the smallest to the largest count, the effect lies between `d_lowest` and `d_highest`.
#'
#' @inheritParams effect_size
#' @param data a data frame with one row per trial, refusals among them. Answered trials without a count are left out,
#'   and a message says so; refused ones count as refused with or without it.
#' @param refusal name of the logical column that marks refusals; the column `is_valid`, if there is one, marks what
#'   is an answer, and all else (refused, filtered, cut off, malformed) is treated alike.
#' @return A data frame with one row per group: `n_answered`; `n_refused_reference` and `n_refused_other`;
#'   `d`, of answered trials; `d_as_counted`, with refused trials at the tokens that they took (NA if one of them has
#'   no count); `d_all_smallest` and `d_all_largest`, all refused ones at the smallest or largest count; `d_lowest` and
#'   `d_highest`, those of one side at the smallest and of the other at the largest; `is_sign_kept_by_missing`, whether
#'   both have the sign of d: of refusals only, however few trials were answered; `bounds_conf_low` and
#'   `bounds_conf_high`, the 95 % interval of Imbens and Manski (2004), which adds what chance does (trials taken as
#'   independent, extremes and standard deviation as known); `tipping_tokens`, how far refused trials would have to lie
#'   from the answered mean of their condition, against the effect on both sides, for the difference of means to be 0
#'   (NA without refusals), and `tipping_sd`, the same in pooled standard deviations; `status`, `messages`. All d's and
#'   `tipping_sd` are in pooled standard deviations of the answered trials.
#' @noRd
check_refusals <- function(data, by = NULL, outcome = "tokens", contrast = "condition",
                           levels = NULL, refusal = "is_refusal") {
  levels <- two_levels(levels_of(data, contrast, levels), contrast)
  empty <- columns_of(
    "n_answered:whole n_refused_reference:whole n_refused_other:whole d d_as_counted d_all_smallest d_all_largest",
    "d_lowest d_highest is_sign_kept_by_missing:flag bounds_conf_low bounds_conf_high tipping_tokens tipping_sd"
  )
  check_columns(data, outcome, to = "check")
  check_each_group(data, by, c(contrast, refusal), empty, function(rows) {
    is_refused <- if ("is_valid" %in% names(rows)) !as.logical(rows$is_valid) else as.logical(rows[[refusal]])
    is_uncounted <- is.na(rows[[outcome]])
    say_what_is_missing(rows[!is_refused, outcome, drop = FALSE], sum(is_uncounted & !is_refused))
    check_outcome(rows[!is_uncounted, , drop = FALSE], outcome)
    labels <- as.character(rows[[contrast]])
    is_used <- !is_refused & !is_uncounted
    answered <- sides(rows[[outcome]][is_used], labels[is_used], levels, contrast)
    refused <- lapply(levels, function(level) rows[[outcome]][is_refused & labels == level])
    refusal_bounds(answered, refused, outcome)
  })
}

refusal_bounds <- function(answered, refused, outcome) {
  n <- lengths(refused)
  extremes <- range(unlist(answered), unlist(refused), na.rm = TRUE)
  sd_answered <- sqrt(pooled_variance_of(answered[[1]], answered[[2]], outcome))
  standardised <- function(reference, other) {
    (mean(c(answered[[2]], other)) - mean(c(answered[[1]], reference))) / sd_answered
  }
  with_refused <- function(reference, other) standardised(rep(reference, n[[1]]), rep(other, n[[2]]))
  d <- d_of(answered[[1]], answered[[2]], outcome)
  d_lowest <- with_refused(extremes[[2]], extremes[[1]])
  d_highest <- with_refused(extremes[[1]], extremes[[2]])
  # of the difference of means, in the same standard deviations
  error_with <- function(reference, other) {
    filled <- list(c(answered[[1]], rep(reference, n[[1]])), c(answered[[2]], rep(other, n[[2]])))
    sqrt(sum(vapply(filled, function(values) stats::var(values) / length(values), 1))) / sd_answered
  }
  errors <- c(error_with(extremes[[2]], extremes[[1]]), error_with(extremes[[1]], extremes[[2]]))
  interval <- interval_of_bounds(d_lowest, d_highest, errors[[1]], errors[[2]])
  # With refused trials at the mean of their condition, less t in the condition that takes longer and more t in the
  # other, the difference of means is (difference of answered means) - t * (sum of the two shares of refusals).
  shares <- sum(n / (n + lengths(answered)))
  tipping <- if (shares == 0) NA_real_ else abs(mean(answered[[2]]) - mean(answered[[1]])) / shares
  data.frame(
    n_answered = sum(lengths(answered)), n_refused_reference = n[[1]], n_refused_other = n[[2]], d = d,
    d_as_counted = standardised(refused[[1]], refused[[2]]),
    d_all_smallest = with_refused(extremes[[1]], extremes[[1]]),
    d_all_largest = with_refused(extremes[[2]], extremes[[2]]), d_lowest = d_lowest, d_highest = d_highest,
    is_sign_kept_by_missing = sign(d_lowest) == sign(d) && sign(d_highest) == sign(d),
    bounds_conf_low = interval[[1]], bounds_conf_high = interval[[2]],
    tipping_tokens = tipping, tipping_sd = tipping / sd_answered
  )
}
