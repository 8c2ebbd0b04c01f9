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
  empty <- data.frame(
    n_answered = integer(), n_refused_reference = integer(), n_refused_other = integer(), d = double(),
    d_as_counted = double(), d_all_smallest = double(), d_all_largest = double(), d_lowest = double(),
    d_highest = double(), is_sign_kept_by_missing = logical(), bounds_conf_low = double(), bounds_conf_high = double(),
    tipping_tokens = double(), tipping_sd = double()
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
  tipping <- tipping_point(answered, n)
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

# With refused trials at the mean of their condition, less t in the condition that takes longer and more t in the other,
# the difference of means is (difference of answered means) - t * (sum of the two shares of refusals).
tipping_point <- function(answered, n_refused) {
  shares <- n_refused / (n_refused + lengths(answered))
  if (sum(shares) == 0) NA_real_ else abs(mean(answered[[2]]) - mean(answered[[1]])) / sum(shares)
}
