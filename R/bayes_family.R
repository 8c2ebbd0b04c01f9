# What a Bayesian fit has to know of the family of its outcome.

# A list: `name`; `brms()`, its family; `outcome(values, name)`, the values as it takes them, or an error; `link` and
# `inverse_link`; `draw(predictor, sigma)`, outcomes of one draw, and `log_lik(y, predictor, sigma)`, of one outcome in
# all draws; `statistics`, what predictive checks compare of all rows, `by_cell` the names of those that are compared in
# each cell, too; `scales`, those of the difference of two cells (as is, and on the scale of the link where that is
# another). `step` makes it a family of counts (R/count_families.R); of a number, `NULL`.
bayes_family <- function(name, step = NULL, points = NULL) {
  if (!is.character(name) || length(name) != 1 || !name %in% c(plain_families, names(count_families))) {
    stop_with(
      "Can't fit: `family` must be \"bernoulli\" (yes or no), \"gaussian\" (a number) or \"cumulative\" (a rating);",
      sprintf("of counts it may be %s, too.", quoted(setdiff(names(count_families), "gaussian")))
    )
  }
  if (!is.null(step) && name == "bernoulli") {
    stop_with("Can't fit: a `step` is of counts; family = \"bernoulli\" is for an outcome that is yes or no.")
  }
  if (!is.null(step) && name == "cumulative") {
    stop_with("Can't fit: a `step` is of counts; family = \"cumulative\" is for a rating.")
  }
  if (!is.null(step) || !name %in% plain_families) {
    return(count_family(name, if (is.null(step)) 1 else step))
  }
  if (name == "cumulative") {
    return(cumulative_family(points))
  }
  if (name == "bernoulli") {
    return(list(
      name = name, brms = function() brms::bernoulli(), outcome = zeros_and_ones, link = stats::qlogis,
      inverse_link = stats::plogis,
      draw = function(predictor, sigma) as.integer(stats::runif(length(predictor)) < stats::plogis(predictor)),
      log_lik = function(y, predictor, sigma) stats::plogis(if (y == 1) predictor else -predictor, log.p = TRUE),
      statistics = list(share = mean), by_cell = "share", scales = c(response = "delta_p", link = "s")
    ))
  }
  list(
    name = name, brms = function() stats::gaussian(), outcome = plain_numbers, link = identity, inverse_link = identity,
    draw = function(predictor, sigma) stats::rnorm(length(predictor), predictor, sigma),
    log_lik = function(y, predictor, sigma) stats::dnorm(y, predictor, sigma, log = TRUE),
    statistics = list(mean = mean, sd = stats::sd), by_cell = "mean", scales = c(response = "difference")
  )
}

# Those of no counts.
plain_families <- c("bernoulli", "gaussian", "cumulative")

plain_numbers <- function(values, name) {
  if (!is.numeric(values) || !all(is.finite(values))) {
    stop_with(
      sprintf("The outcome \"%s\" must be a finite number in every row.", name),
      sprintf("Found: %s.", quoted(utils::head(unique(values[!is.numeric(values) | !is.finite(values)]), 3)))
    )
  }
  as.numeric(values)
}

# The priors of what nobody names. Of choices between two options the paper's (its appendix S2); of numbers brms's own,
# which go by the median and the spread of the outcome; of counts those of their family.
usual_priors <- function(family, formula, data, counts = NULL) {
  if (!is.null(counts)) {
    return(family$priors(counts, family$step))
  }
  if (family$name == "bernoulli") {
    return(paper_priors())
  }
  if (family$name == "cumulative") {
    usual <- list(b = "normal(0, 2.5)", Intercept = "normal(0, 2.5)", sd = "exponential(1)", cor = "lkj(1)")
    return(c(usual, b_disc = "normal(0, 1)"))
  }
  own <- brms::get_prior(formula, data, family = family$brms())
  own <- own[nzchar(own$prior) & !nzchar(own$coef) & !nzchar(own$group) & own$class != "L", ]
  utils::modifyList(list(cor = "lkj(1)"), as.list(stats::setNames(own$prior, own$class)))
}

# Ratings in a Bayesian fit: brms's cumulative() with thresholds, logit P(rating <= j) = threshold j - predictor, as
# ordinal::clm() has them. What other families call sigma are the thresholds here: one row a draw.

# A family of bayes_family(). `points`: all points of the scale as text, the lowest first, or NULL.
cumulative_family <- function(points = NULL) {
  list(
    name = "cumulative", brms = function() brms::cumulative("logit"), link = identity, inverse_link = identity,
    outcome = function(values, name) as.integer(rated_points(values, name, points)),
    draw = function(predictor, thresholds) {
      felt <- predictor + stats::rlogis(length(predictor))
      if (!is.list(thresholds)) {
        return(1L + findInterval(felt, as.vector(thresholds)))
      }
      for (number in seq_along(thresholds$thresholds)) {
        own <- thresholds$kind == number
        felt[own] <- 1L + findInterval(felt[own], as.vector(thresholds$thresholds[[number]]))
      }
      as.integer(felt)
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

# Fixed effects under the names of clm: thresholds, then coefficients.
fixed_names <- function(parts) {
  names <- colnames(fixed_columns(parts))
  if (!is_rating(parts)) {
    return(term_name(names))
  }
  groups <- if (!is.null(parts$kind_columns$thresholds)) levels_of_thresholds(parts)
  c(threshold_names(parts$points, groups), names[-1], names_of_disc(parts))
}

# In the place of condition_effects(): the mean rating in each cell, random effects at 0, and its difference between
# conditions, on the scale of the points and (`"s"`) in log odds.
rating_effects <- function(draws, parts, contrast = "condition", by = c("model", "test")) {
  kinds <- rating_kinds(parts)
  of_kinds <- draws_of_kinds(draws, parts, kinds$rows)
  tables <- lapply(seq_along(of_kinds), function(number) {
    own <- parts
    own$data <- parts$data[kinds$kind == number, , drop = FALSE]
    own$dropped <- c(lapply(kinds$rows[number, , drop = FALSE], as.character), parts$dropped)
    of_kind <- of_kinds[[number]]
    design <- effect_design(own, contrast, by)
    eta <- rating_predictors(draws, design) * of_kind$disc
    means <- mean_ratings(eta, of_kind$thresholds, rating_values(own$points))
    list(
      predictions = cbind(design$cells, kind = "population", spread_rows(means)[interval_columns()]),
      contrasts = condition_contrasts(eta, design, "population", contrast, by, list(
        inverse_link = function(values) means, scales = c(response = "difference", link = "s")
      ))
    )
  })
  lapply(c(predictions = "predictions", contrasts = "contrasts"), function(table) {
    as_plain_rows(do.call(rbind, lapply(tables, `[[`, table)))
  })
}

rating_predictors <- function(draws, design) {
  coefficients <- draws[, grep("^b_(?!Intercept\\[|disc_)", colnames(draws), perl = TRUE), drop = FALSE]
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
