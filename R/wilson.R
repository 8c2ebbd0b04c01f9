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
