#' Does a coder still code as it did?
#'
#' A fixed set of texts, coded again on each occasion. Their share of codes that are those of the first occasion (or
#' people's) is followed by two tabular CUSUMs, one for agreement that falls and one for agreement that rises.
#'
#' How often a coder that does not change differs is not known beforehand, so each occasion is compared with all before
#' it: under no change the number of differing texts, given the sum, is hypergeometric, and its middle p as a normal
#' quantile (Quesenberry 1991) is what the CUSUMs add up: \eqn{C_t = max(0, C_{t-1} + Q_t - k)}. These quantiles are
#' independent of each other, and standard normal but for ties, which make false alarms rarer. So the first occasion
#' that is compared has none. The limit h is the one that both CUSUMs of all groups pass within `looks` occasions with
#' probability `alpha` at most, computed from the chain of a CUSUM of normal numbers (Brook & Evans 1972).
#'
#' @param data a data frame, one row a text and occasion: `occasion` (numbers in their order), `is_equal` (1 if the code
#'   is the first one, or people's, else 0).
#' @param by names of the columns that tell series apart, or `NULL`.
#' @param alpha the probability of a false alarm in any of them.
#' @param k the reference value: half of the shift to be found, in standard deviations of an occasion's share.
#' @param looks for how many occasions the limit is made; of more, for as many as there are.
#' @return A data frame, one row per group and occasion: `occasion`, `n_texts`, `agreement` (the share that is equal),
#'   `quantile` (missing of the first), `cusum_falls`, `cusum_rises`, `reference` (k), `decision_limit` (h),
#'   `false_alarm` (the probability of one in any group up to this occasion), `is_alarm`; `status`, `messages`.
#' @references Quesenberry, C. P. (1991). SPC Q charts for a binomial parameter p: short or long runs. Journal of
#'   Quality Technology, 23(3), 239-246. Brook, D. & Evans, D. A. (1972). An approach to the probability distribution of
#'   cusum run length. Biometrika, 59(3), 539-549.
#' @seealso [agreement()], [watch_shifts()].
#' @export
#' @examples
#' set.seed(1)
#' coded <- expand.grid(text = 1:50, occasion = 2:13)
#' coded$is_equal <- rbinom(nrow(coded), 1, ifelse(coded$occasion > 8, .6, .9))
#' code_drift(coded)[c("occasion", "agreement", "cusum_falls", "decision_limit", "is_alarm")]
code_drift <- function(data, by = NULL, k = .5, looks = 24, alpha = .05) {
  check_arguments(more = list(k = argument_kinds$positive, looks = argument_kinds$whole(1)))
  empty <- columns_of(
    "occasion:whole n_texts:whole agreement quantile cusum_falls cusum_rises reference decision_limit false_alarm",
    "is_alarm:flag"
  )
  check_columns(data, c(by, "occasion", "is_equal"), to = "follow a coder's codes")
  n_series <- 2 * max(1, length(group_rows(data, by)))
  n_looks <- max(looks, length(unique(data$occasion)) - 1)
  too_often <- function(limit) passing_by_look(k, limit, n_looks)[[n_looks]] - alpha / n_series
  limit <- stats::uniroot(too_often, c(.1, 40), tol = 1e-6)$root
  passed <- n_series * passing_by_look(k, limit, n_looks)
  check_each_group(data, by, c("occasion", "is_equal"), empty, function(rows) {
    if (!all(rows$is_equal %in% 0:1)) stop_with("`is_equal` must be 0 or 1.")
    differing <- tapply(1 - rows$is_equal, rows$occasion, sum)
    n <- tapply(rows$is_equal, rows$occasion, length)
    quantiles <- quantiles_of_counts(as.vector(differing), as.vector(n))
    falls <- cusum_of(quantiles, k)
    rises <- cusum_of(-quantiles, k)
    frame_of(
      occasion = as.integer(names(n)), n_texts = as.integer(n), agreement = 1 - as.vector(differing / n),
      quantile = quantiles, cusum_falls = falls, cusum_rises = rises, reference = rep(k, length(n)),
      decision_limit = rep(limit, length(n)), false_alarm = c(0, passed)[seq_along(n)],
      is_alarm = pmax(falls, rises) > limit
    )
  })
}

# Each count next to all before it, as a normal quantile of its middle p given the sum.
quantiles_of_counts <- function(counts, n) {
  vapply(seq_along(counts), function(t) {
    if (t == 1) {
      return(NA_real_)
    }
    all <- sum(counts[1:t])
    below <- stats::phyper(counts[[t]] - 1, n[[t]], sum(n[seq_len(t - 1)]), all)
    stats::qnorm(below + stats::dhyper(counts[[t]], n[[t]], sum(n[seq_len(t - 1)]), all) / 2)
  }, 1)
}

cusum_of <- function(quantiles, k) {
  add <- function(sum, quantile) max(0, sum + quantile - k)
  Reduce(add, ifelse(is.na(quantiles), 0, quantiles), 0, accumulate = TRUE)[-1]
}

# The probability that one CUSUM of standard normal numbers has passed `limit` by each look: a chain of its places, in
# steps of their middles.
passing_by_look <- function(k, limit, looks, n_places = 150) {
  width <- 2 * limit / (2 * n_places - 1)
  places <- width * (seq_len(n_places) - 1)
  step <- outer(places, places, function(from, to) {
    below <- stats::pnorm(to - width / 2 + k - from)
    stats::pnorm(to + width / 2 + k - from) - ifelse(to == 0, 0, below)
  })
  walk <- function(share, look) drop(share %*% step)
  held <- Reduce(walk, seq_len(looks), c(1, rep(0, n_places - 1)), accumulate = TRUE)
  1 - vapply(held[-1], sum, 1)
}
