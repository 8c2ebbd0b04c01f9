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
#'   was a reminder (NA if unknown); `p_value` of the difference between the conditions of the group, NA
#'   with one condition; `detectable`, a difference found by 80 % of such studies; `p_holm`, corrected by Holm's
#'   method for all groups; `status`, `messages`.
#' @references Fisher, R. A. (1935). The logic of inductive inference. Journal of the Royal Statistical Society, 98,
#'   39-82.
#' @noRd
check_missing_answers <- function(data, by = NULL, contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, "outcome", to = "count missing answers")
  empty <- data.frame(
    condition = character(), n = integer(), n_missing = integer(), n_refused = integer(), n_filtered = integer(),
    n_truncated = integer(), n_malformed = integer(), n_rejected = integer(), rate_missing = double(),
    conf_low = double(), conf_high = double(), n_reminded = integer(), p_value = double(),
    detectable = double()
  )
  table <- check_each_group(data, by, c("outcome", contrast), empty, function(rows) {
    rates <- by_condition(rows, contrast, levels, missing_in)
    detectable <- error_from_others(rates$n_missing, rates$n)
    cbind(rates, p_value = p_of_missing(rates$n_missing, rates$n), detectable = detectable)
  })
  is_first <- !duplicated(group_codes(table, by))
  p_holm <- rep(NA_real_, nrow(table))
  p_holm[is_first] <- stats::p.adjust(table$p_value[is_first], method = "holm")
  table$detectable <- pmin(1, detectable_of(table$detectable, sum(!is.na(p_holm))))
  table$p_holm <- p_holm[is_first][match(group_codes(table, by), group_codes(table, by)[is_first])]
  table[c(setdiff(names(table), c("status", "messages")), "status", "messages")]
}

missing_in <- function(rows) {
  n_ended <- function(kind) sum(rows$outcome == kind)
  n_missing <- sum(rows$outcome != "answered")
  interval <- wilson(n_missing, nrow(rows))
  data.frame(
    n = nrow(rows), n_missing = n_missing, n_refused = n_ended("refused"),
    n_filtered = n_ended("filtered"), n_truncated = n_ended("truncated"), n_malformed = n_ended("malformed"),
    n_rejected = n_ended("rejected"),
    rate_missing = n_missing / nrow(rows), conf_low = interval$rate_low, conf_high = interval$rate_high,
    n_reminded = if (is.null(rows$n_reminders)) NA_integer_ else sum(rows$n_reminders > 0)
  )
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
