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
  empty <- data.frame(
    condition = character(), n = integer(), n_ended_known = integer(), n_truncated = integer(), token_limit = double(),
    n_at_limit = integer(), smallest = double(), n_at_smallest = integer(), largest = double(),
    n_at_largest = integer(), step = double()
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
  data.frame(
    n = nrow(rows), n_ended_known = sum(!is.na(reason) | is_truncated),
    n_truncated = sum(is_truncated), token_limit = limit,
    n_at_limit = if (is.na(limit)) NA_integer_ else sum(tokens >= .99 * limit),
    smallest = min(tokens), n_at_smallest = sum(tokens == min(tokens)),
    largest = max(tokens), n_at_largest = sum(tokens == max(tokens)), step = common_step(tokens)
  )
}

# The greatest common divisor of whole counts; NA where all are 0 or some are no whole numbers.
common_step <- function(counts) {
  counts <- unique(counts[counts != 0])
  if (length(counts) == 0 || any(counts != round(counts))) {
    return(NA_real_)
  }
  abs(greatest_divisor(as.double(counts)))
}
