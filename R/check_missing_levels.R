#' Which answers are missing, and are they more at one level of an attribute?
#'
#' Counts refused, filtered, cut-off, malformed and rejected answers by level, and tests whether the share of missing
#' ones differs between the levels of an attribute by Fisher's exact test (if levels are many and counts large, by the
#' chi-squared test).
#'
#' Answers are taken as independent; those to one prompt that is asked again may be held back together.
#'
#' @inheritParams check_missing_answers
#' @param once names of the columns that tell which answer a row is of: several profiles of one answer count once for
#'   each level that they show. `NULL`: each row is an answer.
#' @param data a data frame with one row per profile and answer, whatever came: `outcome` is `"answered"`, or why there
#'   is no answer.
#' @param attributes names of the columns with the levels that were shown.
#' @return A data frame with one row per group, attribute and level, within an attribute the level with most missing
#'   answers first: `attribute`; `level`; `n`, `n_missing` and its parts, `rate_missing`, `conf_low` and `conf_high` as
#'   of `check_missing_answers()`; `rate_others`, the rate of all other levels; `p_value` of the difference between the
#'   levels of the attribute, NA with one level; `p_holm`, corrected by Holm's method for all groups and attributes;
#'   `status`, `messages`.
#' @references Fisher, R. A. (1935). The logic of inductive inference. Journal of the Royal Statistical Society, 98,
#'   39-82.
#' @noRd
check_missing_levels <- function(data, attributes, by = NULL, once = NULL) {
  check_columns(data, c("outcome", attributes, by, once), to = "count missing answers")
  empty <- missing_by_level(data.frame(outcome = character(), level = character()), "level", NULL)
  table <- check_each_group(data, by, c("outcome", attributes), empty, function(rows) {
    do.call(rbind, lapply(attributes, function(name) missing_by_level(rows, name, once)))
  })
  is_first <- !duplicated(table[c(by, "attribute")])
  p_holm <- rep(NA_real_, nrow(table))
  p_holm[is_first] <- stats::p.adjust(table$p_value[is_first], method = "holm")
  table$p_holm <- p_holm[is_first][cumsum(is_first)]
  table[c(setdiff(names(table), c("status", "messages")), "status", "messages")]
}

# Counted at once for all levels: taking the rows of each level apart would copy a large study once a level.
missing_by_level <- function(rows, name, once) {
  if (!is.null(once)) rows <- rows[!duplicated(rows[c(once, name)]), , drop = FALSE]
  levels <- sort(unique(as.character(rows[[name]])))
  kinds <- union(c("answered", kinds_of_missing), rows$outcome)
  counts <- unclass(table(factor(as.character(rows[[name]]), levels), factor(rows$outcome, kinds)))
  n <- as.integer(rowSums(counts))
  n_missing <- n - unname(counts[, "answered"])
  interval <- wilson(n_missing, n)
  others <- sum(n) - n
  table <- frame_of(
    attribute = rep(name, length(levels)), level = levels, n = n, n_missing = n_missing,
    n_refused = unname(counts[, "refused"]), n_filtered = unname(counts[, "filtered"]),
    n_truncated = unname(counts[, "truncated"]), n_malformed = unname(counts[, "malformed"]),
    n_rejected = unname(counts[, "rejected"]), rate_missing = n_missing / n,
    conf_low = interval$rate_low, conf_high = interval$rate_high,
    rate_others = ifelse(others > 0, (sum(n_missing) - n_missing) / others, NA_real_),
    p_value = rep(p_of_missing(n_missing, n), length(levels))
  )
  table[order(-table$rate_missing, table$level), , drop = FALSE]
}

kinds_of_missing <- c("refused", "filtered", "truncated", "malformed", "rejected")
