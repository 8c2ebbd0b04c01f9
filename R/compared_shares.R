# What checks of shares have in common: conditions next to a reference, an interval of a difference, corrected p values.

# The conditions in their order, however many there are; `levels` may come as list(condition = c(...)).
conditions_of <- function(data, contrast, levels) {
  given <- if (is.list(levels) && !is.null(levels[[contrast]])) levels[[contrast]] else levels
  if (!is.null(given)) {
    return(as.character(unlist(given)))
  }
  levels_of(data, contrast, may_be_fewer = TRUE, may_be_more = TRUE)
}

# `compare(reference, other)` for the rows of each further condition of `rows`, a data frame a condition, one below the
# other. Conditions that have no row take no part; without a reference or another one there is nothing to compare.
compared_with_reference <- function(rows, contrast, levels, compare) {
  labels <- as.character(rows[[contrast]])
  others <- levels[-1][levels[-1] %in% labels]
  if (!levels[[1]] %in% labels || length(others) == 0) {
    stop_with(sprintf(
      "There is nothing to compare: %s is %s in all of these rows, and there must be \"%s\" and another one.",
      contrast, quoted(unique(labels)), levels[[1]]
    ))
  }
  rows_of <- function(level) rows[labels == level, , drop = FALSE]
  stacked(lapply(others, function(other) {
    cbind(data.frame(condition = other, reference = levels[[1]]), compare(rows_of(levels[[1]]), rows_of(other)))
  }))
}

# `describe(rows, ...)` of each condition that has rows, a data frame, one below the other.
by_condition <- function(rows, contrast, levels, describe, ...) {
  stacked(lapply(levels[levels %in% rows[[contrast]]], function(level) {
    cbind(data.frame(condition = level), describe(rows[rows[[contrast]] == level, , drop = FALSE], ...))
  }))
}

# A difference of two independent shares, reference less other, with Newcombe's interval (1998, method 10).
share_difference <- function(count, n, other_count, other_n) {
  of_reference <- wilson(count, n)
  of_other <- wilson(other_count, other_n)
  share <- count / n
  other <- other_count / other_n
  low <- sqrt((share - of_reference$rate_low)^2 + (of_other$rate_high - other)^2)
  high <- sqrt((of_reference$rate_high - share)^2 + (other - of_other$rate_low)^2)
  data.frame(delta_p = share - other, conf_low = share - other - low, conf_high = share - other + high)
}

# `rows` with Holm's correction of `p_value` over all of them that have one.
with_holm <- function(rows, p_value = "p_value") {
  rows$p_holm <- stats::p.adjust(rows[[p_value]], method = "holm")
  rows[c(setdiff(names(rows), c("p_holm", "status", "messages")), "p_holm", "status", "messages")]
}

# Wilson's interval holds at rates near 0, where the usual one ends below it.
wilson <- function(count, n) {
  stats::setNames(wilson_of_rates(count / n, n), c("rate_low", "rate_high"))
}

# `quantile`: of t, where the variance behind an effective n is estimated from few clusters.
wilson_of_rates <- function(rate, n, quantile = stats::qnorm(.975)) {
  middle <- (rate * n + quantile^2 / 2) / (n + quantile^2)
  half <- quantile / (n + quantile^2) * sqrt(n * rate * (1 - rate) + quantile^2 / 4)
  # rounding must not put a rate of 0 or 1 outside its interval
  data.frame(low = pmin(rate, pmax(0, middle - half)), high = pmax(rate, pmin(1, middle + half)))
}
