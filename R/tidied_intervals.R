# The estimates of a fit with intervals of another level than the 95 % of its tables.

tidied_intervals <- function(x, level) {
  check_level(level)
  estimates <- x$estimates
  if (level == .95 || !all(c("conf_low", "conf_high") %in% names(estimates))) {
    return(estimates)
  }
  intervals <- intervals_of_draws(x, rescaled_intervals(estimates, level), level)
  is_lost <- is.finite(estimates$conf_low) & is.finite(estimates$conf_high) & !is.finite(intervals$low)
  if (any(is_lost)) {
    warning(sprintf(
      "%s of %s: intervals are NA, for they can't be had at %g %% from those at 95 %%.",
      counted(sum(is_lost), "estimate"), format(nrow(estimates)), 100 * level
    ), call. = FALSE)
  }
  estimates$conf_low <- intervals$low
  estimates$conf_high <- intervals$high
  estimates
}

check_level <- function(level) {
  if (!is.numeric(level) || length(level) != 1 || is.na(level) || level <= 0 || level >= 1) {
    stop_with(
      "Can't give intervals of that level.",
      sprintf("`conf.level` must be one number between 0 and 1, not %s.", deparse1(level))
    )
  }
}

# Scales on which intervals may be symmetric: of differences, ratios, correlations and shares. `slope`: of the way back.
interval_scales <- list(
  list(to = identity, from = identity, slope = function(x) 1),
  list(to = log, from = exp, slope = identity),
  list(to = atanh, from = tanh, slope = function(x) 1 - x^2),
  list(to = stats::qlogis, from = stats::plogis, slope = function(x) x * (1 - x))
)

# Intervals of a normal or a t distribution, on whichever scale they are symmetric; NA where they are of neither.
rescaled_intervals <- function(estimates, level) {
  df <- if (is.null(estimates$df)) rep(NA_real_, nrow(estimates)) else estimates$df
  error <- if (is.null(estimates$std_error)) rep(NA_real_, nrow(estimates)) else estimates$std_error
  low <- high <- rep(NA_real_, nrow(estimates))
  for (scale in interval_scales) {
    ends <- suppressWarnings(lapply(estimates[c("estimate", "conf_low", "conf_high")], scale$to))
    half <- (ends$conf_high - ends$conf_low) / 2
    is_symmetric <- abs((ends$conf_high + ends$conf_low) / 2 - ends$estimate) <= 1e-7 * (half + abs(ends$estimate))
    if (identical(scale$to, log)) { # before the others: about a half, Wilson's look symmetric on any scale
      shares <- wilson_intervals(estimates, df, level)
      is_share <- is.na(low) & !is.na(shares$low)
      low[is_share] <- shares$low[is_share]
      high[is_share] <- shares$high[is_share]
    }
    # an error is on this scale or on that of the estimate; an interval of another width is of several at once
    errors <- list(error, error / scale$slope(estimates$estimate))
    is_normal <- is_any(lapply(errors, function(of) is_near(half / of, stats::qnorm(.975))))
    is_of_t <- is_any(lapply(errors, function(of) is_near(half / of, suppressWarnings(stats::qt(.975, df)))))
    is_symmetric <- is_symmetric & (is.na(error) | is_normal | is_of_t)
    is_now <- is.na(low) & is.finite(half) & is_symmetric %in% TRUE
    is_t <- is.finite(df) & !is_normal
    ratio <- ifelse(
      is_t, suppressWarnings(stats::qt((1 + level) / 2, df) / stats::qt(.975, df)),
      stats::qnorm((1 + level) / 2) / stats::qnorm(.975)
    )
    low[is_now] <- scale$from(ends$estimate - ratio * half)[is_now]
    high[is_now] <- scale$from(ends$estimate + ratio * half)[is_now]
  }
  list(low = low, high = high)
}

# Wilson's intervals, whose ends give away the number of answers behind them; NA where they are none of his.
wilson_intervals <- function(estimates, df, level) {
  share <- estimates$estimate
  half <- (estimates$conf_high - estimates$conf_low) / 2
  quantile <- function(p) ifelse(is.finite(df), suppressWarnings(stats::qt(p, df)), stats::qnorm(p))
  was <- quantile(.975)
  spread <- share * (1 - share)
  root <- suppressWarnings(sqrt(spread^2 + half^2 * (1 - 4 * spread)))
  n <- was^2 * ((spread + root) / (2 * half^2) - 1) # from the width, solved for n
  is_share <- is.finite(n) & n > 0 & share >= 0 & share <= 1
  again <- suppressWarnings(wilson_of_rates(share, n, was))
  is_share <- is_share & abs(again$low - estimates$conf_low) < 1e-7 & abs(again$high - estimates$conf_high) < 1e-7
  found <- suppressWarnings(wilson_of_rates(share, n, quantile((1 + level) / 2)))
  found[!(is_share %in% TRUE), ] <- NA_real_
  found
}

is_near <- function(one, other) abs(one - other) <= 1e-5 * abs(other)

is_any <- function(conditions) Reduce(`|`, lapply(conditions, `%in%`, TRUE))

# The rows of a Bayesian fit are those of its draws, in their order (bayesian_estimates()).
intervals_of_draws <- function(x, intervals, level) {
  by <- group_columns(x)
  estimates <- x$estimates
  groups <- rep("all", nrow(estimates))
  if (length(by) > 0) groups <- do.call(paste, c(unname(as.list(estimates[by])), sep = ", "))
  for (group in names(x$models)) {
    rows <- which(groups == group)
    if (!inherits(x$models[[group]], "brmsfit")) next
    ends <- draw_intervals(x$models[[group]], level)
    is_same <- nrow(ends) == length(rows) && isTRUE(all.equal(ends$estimate, estimates$estimate[rows]))
    intervals$low[rows] <- if (is_same) ends$low else NA_real_
    intervals$high[rows] <- if (is_same) ends$high else NA_real_
  }
  intervals
}

draw_intervals <- function(model, level) {
  draws <- estimate_draws(unclass(posterior::as_draws_matrix(model)))
  probabilities <- c((1 - level) / 2, (1 + level) / 2)
  ends <- apply(draws, 2, stats::quantile, probabilities, names = FALSE)
  data.frame(estimate = spread_rows(draws)$estimate, low = ends[1, ], high = ends[2, ])
}
