# Ratings in a Bayesian fit: brms's cumulative() with thresholds, logit P(rating <= j) = threshold j - predictor, as
# ordinal::clm() has them. What other families call sigma are the thresholds here: one row a draw.

# A family of bayes_family(). `points`: all points of the scale as text, the lowest first, or NULL.
cumulative_family <- function(points = NULL) {
  list(
    name = "cumulative", brms = function() brms::cumulative("logit"), link = identity, inverse_link = identity,
    outcome = function(values, name) as.integer(rated_points(values, name, points)),
    draw = function(predictor, thresholds) {
      1L + findInterval(predictor + stats::rlogis(length(predictor)), as.vector(thresholds))
    },
    log_lik = function(y, predictor, thresholds) {
      if (!is.matrix(thresholds)) thresholds <- matrix(thresholds, 1)
      at <- function(point) unname(cbind(-Inf, thresholds, Inf)[, point] - predictor)
      log_of_interval(at(y), at(y + 1))
    },
    statistics = list(
      mean = mean, sd = stats::sd, lowest = function(y) mean(y == 1), highest = function(y) mean(y == max(y))
    ),
    by_cell = "mean", scales = c(response = "difference", link = "s")
  )
}

# The logarithm of what a logistic distribution has between two numbers, exact in both tails.
log_of_interval <- function(lower, upper) {
  flip <- lower > 0
  low <- ifelse(flip, -upper, lower)
  high <- ifelse(flip, -lower, upper)
  log_high <- stats::plogis(high, log.p = TRUE)
  log_high + log1p(-exp(stats::plogis(low, log.p = TRUE) - log_high))
}

is_rating <- function(parts) parts$family$name == "cumulative"

# The formula as brms has it: the number of thresholds is that of the points as observed, also of simulated ratings.
rating_formula <- function(formula, n_points) {
  formula[[2]] <- call("|", formula[[2]], call("thres", n_points - 1))
  formula
}

threshold_names <- function(points) paste(points[-length(points)], points[-1], sep = "|")

threshold_draws <- function(draws) unclass(draws[, grep("^b_Intercept\\[", colnames(draws)), drop = FALSE])

# Fixed effects under the names of clm: thresholds, then coefficients.
fixed_names <- function(parts) {
  names <- colnames(fixed_columns(parts))
  if (is_rating(parts)) c(threshold_names(parts$points), names[-1]) else term_name(names)
}

# In the place of block_effects(): the mean rating in each cell, random effects at 0, and its difference between blocks,
# on the scale of the points and (`"s"`) in log odds.
rating_effects <- function(draws, parts, contrast = "block", by = c("model", "domain")) {
  design <- effect_design(parts, contrast, by)
  eta <- rating_predictors(draws, design)
  means <- mean_ratings(eta, threshold_draws(draws), rating_values(parts$points))
  middle <- list(
    predictions = cbind(design$cells, kind = "population", spread_rows(means)[interval_columns()]),
    contrasts = block_contrasts(eta, design, "population", contrast, by, list(
      inverse_link = function(values) means, scales = c(response = "difference", link = "s")
    ))
  )
  lapply(middle, as_plain_rows)
}

rating_predictors <- function(draws, design) {
  coefficients <- draws[, grep("^b_(?!Intercept\\[)", colnames(draws), perl = TRUE), drop = FALSE]
  tcrossprod(unclass(coefficients), design$x[, -1, drop = FALSE])
}

# Points that are numbers count as those, others as 1, 2, 3 …
rating_values <- function(points) {
  numbers <- suppressWarnings(as.numeric(points))
  if (anyNA(numbers)) seq_along(points) else numbers
}

# The mean is the lowest point, plus each step times the probability to be above it.
mean_ratings <- function(eta, thresholds, values) {
  above <- lapply(seq_len(ncol(thresholds)), function(j) {
    stats::plogis(eta - thresholds[, j]) * (values[[j + 1]] - values[[j]])
  })
  values[[1]] + Reduce(`+`, above)
}

# Thresholds of a truth: draws of the intercept's prior in their order, which hold at the means of all columns.
drawn_thresholds <- function(x, b, priors, n) {
  sort(drawn(priors$Intercept, n)) + sum(colMeans(x) * b)
}
