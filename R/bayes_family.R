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
