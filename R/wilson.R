# Wilson's interval holds at rates near 0, where the usual one ends below it.
wilson <- function(count, n) {
  z <- stats::qnorm(.975)
  middle <- (count + z^2 / 2) / (n + z^2)
  half <- z / (n + z^2) * sqrt(count * (n - count) / n + z^2 / 4)
  rate <- count / n # rounding must not put a rate of 0 or 1 outside its interval
  data.frame(rate_low = pmin(rate, pmax(0, middle - half)), rate_high = pmax(rate, pmin(1, middle + half)))
}
