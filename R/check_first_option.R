#' Is the option that is shown first chosen more often?
#'
#' In each condition of each group. Where it is known which option would have been right (`expected`: of a forced
#' choice, the consistent one), the share of right answers with that option first is set next to the share with it
#' second, by Fisher's exact test: a preference for a side makes these two differ, however often the right option is
#' chosen. Where none is right (a game), the share of first options is tested against chance, one over the number of
#' options, by the exact randomisation test of the order: had the place no effect, what was chosen would be the same
#' whichever group the draw had put first. The order is drawn once for a conversation (`cluster`), so that the rounds of
#' a game, in which a model goes on choosing the same group, count together.
#'
#' Fisher's test takes answers to be independent. A model that gives the same answer each time that it is asked the same
#' makes p values too small if questions are repeated.
#'
#' @inheritParams check_residuals
#' @param data a data frame with one row per answer; rows without a choice, or whose order is unknown, take no part.
#' @param chosen,first names of the columns that hold the option that was chosen, and the one that was shown first.
#' @param expected name of the column that holds the option that would be right; `NULL` if none is.
#' @param contrast name of the column that holds the condition (of a game, the class of jobs).
#' @param levels the conditions in their order; `NULL` takes that of the data.
#' @param cluster name of the column that distinguishes the conversations for which an order was drawn; `NULL`, or where
#'   the order differs within a conversation: one for each answer.
#' @param n_options the number of options, or the name of the column that holds it.
#' @return A data frame with one row per group and condition: `condition`; `n` answers; `n_first`, in which the first
#'   option was chosen; `rate_first` with `conf_low` and `conf_high` (Wilson's 95 % interval); `chance`;
#'   `detectable`, how far from it 80 % of such studies would find a share;
#'   `rate_expected_first` and `rate_expected_second`, the share of right answers when the right option was first and
#'   second (NA without `expected`), and `side_difference`, the one less the other; `p_value`, NA where the
#'   order is always the same; `p_holm`, corrected by Holm's method for all rows; `status`, `messages`.
#' @references Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of
#'   the American Statistical Association, 22, 209-212. Fisher, R. A. (1935). The logic of inductive inference. Journal
#'   of the Royal Statistical Society, 98, 39-82. Pitman, E. J. G. (1937). Significance tests which may be applied to
#'   samples from any populations. Supplement to the Journal of the Royal Statistical Society, 4, 119-130.
#' @noRd
check_first_option <- function(data, by = NULL, chosen = "choice", first = "first_option", expected = NULL,
                               contrast = "condition", levels = NULL, n_options = 2, cluster = NULL) {
  levels <- conditions_of(data, contrast, levels)
  needed <- c(chosen, first, expected, cluster, if (is.character(n_options)) n_options)
  check_columns(data, needed, to = "check first options")
  data <- data[!is.na(data[[chosen]]), , drop = FALSE]
  empty <- data.frame(
    condition = character(), n = integer(), n_first = integer(), rate_first = double(), conf_low = double(),
    conf_high = double(), chance = double(), detectable = double(), rate_expected_first = double(),
    rate_expected_second = double(), side_difference = double(), p_value = double()
  )
  table <- with_holm(check_each_group(data, by, c(chosen, contrast), empty, function(rows) {
    rows <- rows[!is.na(rows[[first]]), , drop = FALSE]
    if (nrow(rows) == 0) {
      stop_with("It is not known which option was shown first.")
    }
    warn_of_other_names(as.character(rows[[chosen]]), as.character(rows[[first]]), chosen, first)
    by_condition(rows, contrast, levels, first_option_in, chosen, first, expected, n_options, cluster)
  }))
  table$detectable <- detectable_of(table$detectable, sum(!is.na(table$p_value)))
  table
}

# A letter is never the option that it names: such columns would make a share of 0.
warn_of_other_names <- function(values, options, chosen, first) {
  if (length(unique(options)) > 1 && !any(values %in% options)) {
    warning(sprintf(
      "Nothing in the column %s is among the options in %s: they hold %s and %s, say. Do both name options alike?",
      quoted(chosen), quoted(first), quoted(values[[1]]), quoted(options[[1]])
    ), call. = FALSE)
  }
}

first_option_in <- function(rows, chosen, first, expected, n_options, cluster) {
  is_first <- as.character(rows[[chosen]]) == as.character(rows[[first]])
  n <- length(is_first)
  n_first <- sum(is_first)
  n_options <- if (is.character(n_options)) rows[[n_options]] else rep(n_options, n)
  chance <- mean(1 / n_options)
  interval <- wilson(n_first, n)
  row <- data.frame(
    n = n, n_first = n_first, rate_first = n_first / n, conf_low = interval$rate_low, conf_high = interval$rate_high,
    chance = chance, detectable = sqrt(chance * (1 - chance) / n)
  )
  if (is.null(expected)) {
    games <- if (!is.null(cluster)) rows[[cluster]]
    p_value <- p_of_places(as.character(rows[[chosen]]), as.character(rows[[first]]), n_options, games)
    return(cbind(row, data.frame(
      rate_expected_first = NA_real_, rate_expected_second = NA_real_, side_difference = NA_real_, p_value = p_value
    )))
  }
  cbind(row, sides_of_expected(rows, chosen, first, expected))
}

sides_of_expected <- function(rows, chosen, first, expected) {
  is_right <- rows[[chosen]] == rows[[expected]]
  is_first <- rows[[expected]] == rows[[first]]
  share <- function(where) if (any(where)) mean(is_right[where]) else NA_real_
  counts <- table(factor(is_right, c(FALSE, TRUE)), factor(is_first, c(FALSE, TRUE)))
  data.frame(
    rate_expected_first = share(is_first), rate_expected_second = share(!is_first),
    side_difference = share(is_first) - share(!is_first),
    p_value = if (length(unique(is_first)) == 2) stats::fisher.test(counts)$p.value else NA_real_
  )
}

# How likely chance alone puts groups first that were chosen as often as those that were, or farther from what is
# expected, in all: the exact distribution of a sum over conversations, in each of which any group may be first.
p_of_places <- function(chosen, first, n_options, cluster) {
  unit <- if (is.null(cluster)) seq_along(chosen) else match(cluster, unique(cluster))
  is_alike <- tapply(first, unit, function(values) length(unique(values)) == 1)
  if (!all(is_alike)) unit <- seq_along(chosen)
  if (length(unique(first)) == 1 && max(n_options) > 1) { # a place that one group always has can't be separated from it
    return(NA_real_)
  }
  share <- 1 # of draws, by the number of first choices from 0 up
  for (rows in split(seq_along(chosen), unit)) {
    k <- n_options[[rows[[1]]]]
    times <- c(table(chosen[rows]))
    times <- c(times, rep(0, max(0, k - length(times))))
    steps <- tabulate(times + 1, length(rows) + 1) / length(times)
    longer <- rep(0, length(share) + length(steps) - 1)
    for (i in which(steps > 0)) {
      places <- i - 1 + seq_along(share)
      longer[places] <- longer[places] + steps[[i]] * share
    }
    share <- longer
  }
  off <- abs(seq_along(share) - 1 - sum((seq_along(share) - 1) * share))
  observed <- off[[sum(chosen == first) + 1]]
  min(1, sum(share[off >= observed - 1e-9]))
}
