# The effect that a two-sided test at `alpha` finds with probability `power`, given its standard error and degrees of
# freedom: `std_error` times the noncentrality at which the t test has that power. All vectors; NA where either is.
# `df` Inf: of a normal estimate. Every column `mde` comes from here.
minimum_detectable_effect <- function(std_error, df, power = .8, alpha = .05) {
  std_error * vapply(df, function(one) noncentrality(one, power, alpha), 1)
}

# What would be found with probability `power` by a normal estimate, were it one of `n_tests` that Holm corrects.
detectable_of <- function(std_error, n_tests, power = .8, alpha = .05) {
  std_error * (stats::qnorm(1 - alpha / 2 / max(1, n_tests)) + stats::qnorm(power))
}

# The noncentrality at which a chi squared test has that power.
noncentrality_of_squares <- function(df, alpha = .05, power = .8) {
  vapply(df, function(one) {
    if (is.na(one) || one <= 0) return(NA_real_)
    critical <- stats::qchisq(alpha, one, lower.tail = FALSE)
    stats::uniroot(function(ncp) stats::pchisq(critical, one, ncp, lower.tail = FALSE) - power, c(.1, 1000))$root
  }, 1)
}

# The probability that a two-sided t test at `alpha` finds an effect: exact under the t distribution.
t_test_power <- function(effect, std_error, df, alpha = .05) {
  critical <- stats::qt(1 - alpha / 2, df)
  ncp <- abs(effect) / std_error
  # pt() of the lower tail is less exact for a large noncentrality, and then nothing is left there.
  lower <- ifelse(ncp < 10, stats::pt(-critical, df, pmin(ncp, 10)), 0)
  stats::pt(critical, df, pmin(ncp, 37), lower.tail = FALSE) + lower
}

noncentrality <- function(df, power, alpha) {
  if (is.na(df) || df <= 0) {
    return(NA_real_)
  }
  missing <- function(ncp) t_test_power(ncp, 1, df, alpha) - power
  # So few degrees of freedom that no effect that can be computed is found often enough.
  if (missing(37) < 0) {
    return(NA_real_)
  }
  stats::uniroot(missing, c(0, 37), tol = 1e-10)$root
}

check_power <- function(power) {
  if (!is.numeric(power) || length(power) != 1 || is.na(power) || power <= .05 || power >= 1) {
    stop_with("`power` must be one number between .05 and 1, such as .8.")
  }
}
