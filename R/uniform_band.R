#' The band in which the ranks of a right sampler lie
#'
#' Where draws and truth come from the same distribution, the rank of the truth among `n_draws` independent draws is
#' uniform on 0 to `n_draws`. The band holds the whole empirical distribution function of the ranks of `n` data sets
#' with the probability `level`: not point by point, but at all points at once. Point by point it is the central
#' interval of a binomial distribution; how much wider that has to be is found from the exact joint probability of all
#' points, which a Markov chain of their counts gives.
#'
#' @param n number of data sets.
#' @param n_draws draws that the truth is ranked among.
#' @param level probability of all points together.
#' @return A data frame with one row per point: `at` (k / (n_draws + 1), the share of ranks below k that is expected),
#'   `low` and `high` (the band of that share).
#' @source Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity, Statistics and Computing 32:32,
#'   section 2.2 (the exact adjustment).
#' @noRd
uniform_band <- function(n, n_draws, level = .95) {
  at <- seq_len(n_draws) / (n_draws + 1)
  limits <- tail_limits(critical_tail(n, n_draws, level), n, at)
  data.frame(at = at, low = limits$low / n, high = limits$high / n)
}

# The probability, for uniform ranks, of an empirical distribution function that somewhere lies as far out as this one.
uniformity_p <- function(ranks, n_draws) {
  n <- length(ranks)
  at <- seq_len(n_draws) / (n_draws + 1)
  tail <- min(1, smallest_tail(counts_below(ranks, n_draws), n, at))
  # A little more than the tail itself, so that what lies as far out as this is outside.
  min(1, 1 - joint_probability(tail_limits(tail * (1 + 1e-9), n, at), n, at))
}

# How many ranks are below 1, 2 … n_draws.
counts_below <- function(ranks, n_draws) cumsum(tabulate(ranks + 1, n_draws + 1))[seq_len(n_draws)]

# Twice the smaller tail of the point that lies farthest out.
smallest_tail <- function(counts, n, at) {
  2 * min(stats::pbinom(counts, n, at), stats::pbinom(counts - 1, n, at, lower.tail = FALSE))
}

# The counts of each point whose two tails are each at least half of `tail`.
tail_limits <- function(tail, n, at) {
  low <- stats::qbinom(tail / 2, n, at)
  high <- n - stats::qbinom(tail / 2, n, 1 - at)
  list(low = low, high = high)
}

# The largest tail whose limits hold all points together with the probability `level`.
critical_tail <- function(n, n_draws, level) {
  at <- seq_len(n_draws) / (n_draws + 1)
  ends <- log(c((1 - level) / n_draws, 2 * (1 - level))) # Bonferroni's, and wider than a single point's
  for (step in 1:20) {
    middle <- mean(ends)
    holds <- joint_probability(tail_limits(exp(middle), n, at), n, at) >= level
    ends[[if (holds) 1 else 2]] <- middle
  }
  exp(ends[[1]])
}

# The probability that the counts of all points lie within their limits: from one point to the next, those that are not
# below yet fall into the gap each with the same probability.
joint_probability <- function(limits, n, at) {
  counts <- 0
  probability <- 1
  before <- 0
  for (point in seq_along(at)) {
    share <- (at[[point]] - before) / (1 - before)
    if (limits$low[[point]] > limits$high[[point]]) {
      return(0)
    }
    now <- seq(limits$low[[point]], limits$high[[point]])
    steps <- outer(now, counts, `-`)
    left <- matrix(n - counts, length(now), length(counts), byrow = TRUE)
    probability <- as.vector(matrix(stats::dbinom(steps, left, share), length(now)) %*% probability)
    counts <- now
    before <- at[[point]]
  }
  sum(probability)
}
