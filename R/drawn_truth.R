# Truths drawn from the priors of a Bayesian model: what the model claims to be, written again in plain R next to
# what brms makes of it, so that a wrong prior, coding or centring in either shows.

# One truth: `b`, the coefficients; `deviations`, a list with what each random part has (standard deviations, then
# correlations), by the name of its group; `others`, parameters of the family by class (of a rating its `thresholds`,
# with which `b` begins, too); `predictor`, of each row of the data. `parts`: of brms_parts(); `priors`: text by class.
drawn_truth <- function(parts, priors) {
  x <- fixed_columns(parts)
  # The prior of the intercept holds at the means of all columns; that of the coefficients for each of them.
  has_intercept <- colnames(x)[[1]] == "(Intercept)"
  columns <- if (has_intercept) x[, -1, drop = FALSE] else x
  b <- if (ncol(columns) > 0) drawn(priors$b, ncol(columns)) else numeric()
  b <- if (has_intercept) c(drawn(priors$Intercept, 1) - sum(colMeans(columns) * b), b) else b
  thresholds <- NULL
  if (is_rating(parts)) {
    x <- x[, -1, drop = FALSE]
    b <- b[-1]
    # draws of the intercept's prior in their order, which hold at the means of all columns
    thresholds <- sort(drawn(priors$Intercept, length(parts$points) - 1)) + sum(colMeans(x) * b)
  }
  groups <- lapply(random_parts(parts$formula[[3]]), drawn_group, data = parts$data, priors = priors)
  others <- lapply(stats::setNames(nm = family_classes(parts)), function(class) drawn(priors[[class]], 1, is_above_0))
  list(
    b = c(thresholds, b), deviations = lapply(groups, `[[`, "values"), others = unlist(others), thresholds = thresholds,
    predictor = Reduce(`+`, lapply(groups, `[[`, "effect"), as.vector(x %*% b))
  )
}

fixed_columns <- function(parts) {
  stats::model.matrix(stats::delete.response(stats::terms(without_random_terms(parts$formula))), parts$data)
}

# sigma, and what else a family has next to its predictor.
family_classes <- function(parts) setdiff(unique(parts$prior$class), c("b", "Intercept", "sd", "cor"))

# The random parts of one side of a formula, each list(terms, group, is_correlated).
random_parts <- function(part) {
  if (!is.call(part)) {
    return(NULL)
  }
  bar <- as.character(part[[1]])
  if (!bar %in% c("|", "||")) {
    return(unlist(lapply(as.list(part)[-1], random_parts), recursive = FALSE))
  }
  if ("/" %in% all.names(part[[3]])) {
    stop_with("Can't calibrate a fit of nested groups.", "Write (1 | a/b) as (1 | a) + (1 | a:b).")
  }
  list(list(terms = part[[2]], group = all.vars(part[[3]]), is_correlated = bar == "|"))
}

# `values`: standard deviations of the coefficients that vary by the group, then their correlations; `effect`: what the
# group adds to the predictor of each row.
drawn_group <- function(part, data, priors) {
  z <- stats::model.matrix(stats::as.formula(call("~", part$terms)), data)
  level <- as.integer(interaction(data[part$group], drop = TRUE))
  sd <- drawn(priors$sd, ncol(z), is_above_0)
  is_correlated <- part$is_correlated && ncol(z) > 1
  factor <- if (is_correlated) drawn_cholesky(ncol(z), checked_prior(priors$cor)$numbers) else diag(ncol(z))
  standard <- matrix(stats::rnorm(max(level) * ncol(z)), ncol = ncol(z))
  effects <- standard %*% t(factor) %*% diag(sd, ncol(z))
  correlations <- tcrossprod(factor)
  values <- c(sd, if (is_correlated) correlations[upper.tri(correlations)])
  list(values = values, effect = rowSums(z * effects[level, , drop = FALSE]))
}

is_above_0 <- function(value) value > 0

# `n` values of a prior, those that `is_possible` allows.
drawn <- function(prior, n, is_possible = function(value) TRUE) {
  parsed <- checked_prior(prior)
  one <- function(number) {
    repeat {
      value <- do.call(prior_draws[[parsed$family]], as.list(unname(parsed$numbers)))
      if (is_possible(value)) {
        return(value)
      }
    }
  }
  vapply(seq_len(n), one, numeric(1))
}

# One draw of each distribution of checked_prior().
prior_draws <- list(
  normal = function(mean, sd) stats::rnorm(1, mean, sd),
  student_t = function(df, location, scale) location + scale * stats::rt(1, df),
  cauchy = function(location, scale) stats::rcauchy(1, location, scale),
  logistic = function(location, scale) stats::rlogis(1, location, scale),
  exponential = function(rate) stats::rexp(1, rate),
  gamma = function(shape, rate) stats::rgamma(1, shape, rate),
  lognormal = function(mean, sd) stats::rlnorm(1, mean, sd)
)

# The Cholesky factor of a correlation matrix drawn from lkj(eta), by its canonical partial correlations (Lewandowski,
# Kurowicka & Joe, 2009, as in Stan's reference manual).
drawn_cholesky <- function(n, eta) {
  factor <- diag(n)
  for (column in seq_len(n - 1)) {
    shape <- eta + (n - 1 - column) / 2
    for (row in seq(column + 1, n)) {
      partial <- 2 * stats::rbeta(1, shape, shape) - 1
      factor[row, column] <- partial * factor[row, row]
      factor[row, row] <- factor[row, row] * sqrt(1 - partial^2)
    }
  }
  factor
}
