#' Do two measures of the same models agree?
#'
#' Sets two measures beside each other over units (a model and test each): Pearson's and Spearman's correlation, as the
#' RM-IAT's authors have them, and a correlation that takes the errors of both measures into account. A measure with a
#' standard error is noisier than what it measures, so that the plain correlation is too small (attenuated), the more so
#' the larger the errors are; and its interval, which knows nothing of them, lies around the wrong value.
#'
#' The corrected correlation is that of the true values: each unit's two estimates are normal around two true values
#' with their known standard errors (independent of each other), and the true values are bivariate normal over units. It
#' is fitted by maximum likelihood; its interval is that of the profile likelihood, and may end at -1 or 1. Units are
#' taken for independent; those of one model share what the model is like, so the rows `"…_without"` give both
#' correlations without each model in turn.
#'
#' @param data a data frame with one row per unit: `model`, `test`, the two measures `x` and `y`, and their standard
#'   errors `x_error` and `y_error` (0 or more, in the same units).
#' @param by names of the columns that define what is compared apart: a pair of measures, say.
#' @param alpha 1 less the level of the intervals.
#' @return A data frame: the columns `by`, then `row`, `left_out`, `estimate`, `conf_low`, `conf_high`, `p_value`, `n`
#'   (units), `n_models`, `n_tests`, `status`, `messages`. `row` is `"pearson"` (with Fisher's interval), `"spearman"`
#'   (without one), `"corrected"`; and, without the model `left_out`, `"pearson_without"` and `"corrected_without"`. The
#'   p value of the corrected correlation is of a likelihood ratio test against 0. Fewer than four units, or a measure
#'   that does not vary, fail; fewer than ten are warned of, and so is a measure that varies no more than its errors
#'   explain: it has no corrected correlation.
#' @source Behseta, Berdyyeva, Olson & Kass (2009), Bayesian correction for attenuation of correlation in multi-trial
#'   spike count data, Journal of Neurophysiology 101, 2186-2193 (the model); Bai et al. (2025) and Lee & Lai (2025).
#' @seealso [plot_validity()]
#' @export
#' @examples
#' set.seed(1)
#' true <- stats::rnorm(30)
#' units <- data.frame(model = rep(c("a", "b", "c"), each = 10), test = rep(1:10, 3), x_error = .3, y_error = .3)
#' units$x <- true + stats::rnorm(30, sd = .3)
#' units$y <- true + stats::rnorm(30, sd = .3)
#' convergent_validity(units)[1:3, c("row", "estimate", "conf_low", "conf_high")]
convergent_validity <- function(data, by = NULL, alpha = .05) {
  check_arguments()
  check_alpha(alpha)
  empty <- data.frame(
    row = character(), left_out = character(), estimate = double(), conf_low = double(), conf_high = double(),
    p_value = double(), n = integer(), n_models = integer(), n_tests = integer()
  )
  columns <- c("model", "test", "x", "x_error", "y", "y_error")
  check_each_group(data, by, columns, empty, function(rows) validity_of(rows[columns], alpha))
}

validity_of <- function(units, alpha) {
  units$model <- as.character(units$model)
  check_units(units)
  if (nrow(units) < 10) {
    warning(sprintf("There are only %s: their correlation can hardly be told.", counted(nrow(units), "unit")),
      call. = FALSE
    )
  }
  models <- unique(units$model)
  left_out <- if (length(models) > 2) models else character()
  parts <- lapply(left_out, function(model) {
    rest <- units[units$model != model, ]
    if (nrow(rest) < 4 || !varies(rest$x) || !varies(rest$y)) {
      return(NULL)
    }
    suppressWarnings(rbind(
      validity_row("pearson_without", rest, pearson(rest, alpha), model),
      validity_row("corrected_without", rest, corrected_correlation(rest, alpha), model)
    ))
  })
  rank <- suppressWarnings(stats::cor.test(units$x, units$y, method = "spearman", exact = FALSE))
  do.call(rbind, c(list(
    validity_row("pearson", units, pearson(units, alpha)),
    validity_row("spearman", units, c(rank$estimate[[1]], NA, NA, rank$p.value)),
    validity_row("corrected", units, corrected_correlation(units, alpha))
  ), parts))
}

varies <- function(values) length(unique(values)) > 1

check_units <- function(units) {
  if (anyDuplicated(units[c("model", "test")]) > 0) {
    stop_with("Can't correlate: a model has more than one row for a test.", "Name what they differ by in `by`.")
  }
  if (any(units$x_error < 0 | units$y_error < 0)) stop_with("Can't correlate: a standard error is below 0.")
  if (nrow(units) < 4) {
    stop_with(sprintf("Can't correlate %s: it takes four of them.", counted(nrow(units), "unit")))
  }
  if (!varies(units$x) || !varies(units$y)) stop_with("Can't correlate: a measure is the same in all units.")
}

validity_row <- function(row, units, values, left_out = NA_character_) {
  data.frame(
    row = row, left_out = left_out, estimate = values[[1]], conf_low = values[[2]], conf_high = values[[3]],
    p_value = values[[4]], n = nrow(units), n_models = length(unique(units$model)),
    n_tests = length(unique(units$test))
  )
}

pearson <- function(units, alpha) {
  test <- stats::cor.test(units$x, units$y, conf.level = 1 - alpha)
  c(test$estimate[[1]], test$conf.int[[1]], test$conf.int[[2]], test$p.value)
}

# Estimate, ends of the profile likelihood's interval, and p of the likelihood ratio test against 0.
corrected_correlation <- function(units, alpha) {
  scaled <- data.frame(
    x = units$x / stats::sd(units$x), y = units$y / stats::sd(units$y),
    x_error = units$x_error / stats::sd(units$x), y_error = units$y_error / stats::sd(units$y)
  )
  excess <- c(1 - mean(scaled$x_error^2), 1 - mean(scaled$y_error^2))
  if (any(excess <= 0)) {
    what <- paste(c("x", "y")[excess <= 0], collapse = " and ")
    warning(sprintf("The measure %s varies no more than its errors explain: it has no corrected correlation.", what),
      call. = FALSE
    )
    return(rep(NA_real_, 4))
  }
  start <- log(excess) / 2
  profile <- function(rho) {
    -stats::nlminb(start, minus_log_lik, rho = rho, units = scaled, lower = -7, upper = 3)$objective
  }
  limit <- .9999
  best <- stats::optimize(profile, c(-limit, limit), maximum = TRUE, tol = 1e-8)
  drop <- function(rho) 2 * (best$objective - profile(rho)) - stats::qchisq(1 - alpha, 1)
  end <- function(side) {
    if (drop(side * limit) <= 0) side else stats::uniroot(drop, sort(c(best$maximum, side * limit)), tol = 1e-8)$root
  }
  p_value <- stats::pchisq(max(0, 2 * (best$objective - profile(0))), 1, lower.tail = FALSE)
  c(best$maximum, end(-1), end(1), p_value)
}

# Of true standard deviations exp(log_sd) and the correlation `rho`, at the means that are likeliest with them.
minus_log_lik <- function(log_sd, rho, units) {
  sd <- exp(log_sd)
  a <- sd[[1]]^2 + units$x_error^2
  b <- sd[[2]]^2 + units$y_error^2
  c <- rho * sd[[1]] * sd[[2]]
  determinant <- a * b - c^2
  weight_x <- b / determinant
  weight_y <- a / determinant
  weight_xy <- -c / determinant
  precision <- matrix(c(sum(weight_x), sum(weight_xy), sum(weight_xy), sum(weight_y)), 2)
  mean <- solve(precision, c(
    sum(weight_x * units$x + weight_xy * units$y), sum(weight_xy * units$x + weight_y * units$y)
  ))
  x <- units$x - mean[[1]]
  y <- units$y - mean[[2]]
  .5 * sum(log(determinant) + weight_x * x^2 + 2 * weight_xy * x * y + weight_y * y^2)
}
