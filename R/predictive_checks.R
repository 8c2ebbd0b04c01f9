# Does the model fit the data? Posterior predictive checks and leave-one-out cross-validation.

# The linear predictor of each row (columns) in each draw (rows), the other parameters of each draw (`sigma`, as the
# family's functions take it; NULL where it has none), and the draws' chains. Of many draws and rows, as many
# draws as are still quick: evenly spaced, at least 500, as many of each chain, for loo compares chains of one length.
row_predictors <- function(fit, max_numbers = 2e7, family = NULL, parts = NULL) {
  n_chains <- brms::nchains(fit)
  n_iterations <- brms::ndraws(fit) / n_chains
  n_kept <- min(n_iterations, ceiling(max(500, max_numbers / nrow(fit$data)) / n_chains))
  iterations <- unique(round(seq(1, n_iterations, length.out = n_kept)))
  ids <- as.vector(outer(iterations, n_iterations * (seq_len(n_chains) - 1), `+`))
  predictors <- brms::posterior_linpred(fit, draw_ids = ids)
  sigma <- if (identical(family$name, "cumulative")) {
    row_thresholds(posterior::as_draws_matrix(fit)[ids, , drop = FALSE], parts)
  } else {
    names <- if (is.null(family$step)) "sigma" else family$parameters
    draws <- posterior::as_draws_matrix(fit)
    values <- lapply(stats::setNames(names, names), function(name) {
      if (name == "hu") {
        brms::posterior_linpred(fit, dpar = "hu", transform = TRUE, draw_ids = ids)
      } else if (name %in% colnames(draws)) {
        as.numeric(draws[ids, name])
      }
    })
    if (length(names) == 1) values[[1]] else values
  }
  if (inherits(sigma, "row_thresholds")) predictors <- discriminated(predictors, sigma)
  list(predictors = predictors, sigma = sigma, chain = rep(seq_len(n_chains), each = length(iterations)))
}

# Of these, those of one draw or of one row.
parameters_at <- function(sigma, draw = TRUE, row = TRUE) {
  if (inherits(sigma, "row_thresholds")) {
    thresholds_at(sigma, draw, row)
  } else if (is.list(sigma)) {
    lapply(sigma, parameters_at, draw = draw, row = row)
  } else if (is.matrix(sigma)) {
    sigma[draw, row]
  } else {
    sigma[draw]
  }
}

# `used`: of row_predictors(); `cell`: the cell of each row, as a number. Per cell and for all rows: the share of ones,
# the mean of numbers, or what counts are compared by; for all rows the standard deviation of the items' shares or
# means, too. p is the share of data sets drawn from the fitted model whose statistic is above the observed one, those
# that equal it counted half. Of many draws 2000 are taken: p is good to .01 then.
predictive_checks <- function(used, outcome, cell, item, seed, family = bayes_family("bernoulli"), max_draws = 2000) {
  n_draws <- nrow(used$predictors)
  places <- if (n_draws > max_draws) round(seq(1, n_draws, length.out = max_draws)) else seq_len(n_draws)
  groups <- c(split(seq_along(outcome), cell), list(all = seq_along(outcome)))
  of_groups <- lapply(family$statistics[family$by_cell], function(statistic) {
    lapply(groups, function(rows) function(y) statistic(y[rows]))
  })
  of_all <- family$statistics[setdiff(names(family$statistics), family$by_cell)]
  names <- c(rep(family$by_cell, each = length(groups)), names(of_all), "item_sd")
  statistics <- c(do.call(c, unname(of_groups)), of_all)
  statistics$item_sd <- function(y) stats::sd(rowsum(y, item)[, 1] / as.vector(table(item)))
  replicated <- with_seed(seed, vapply(places, function(draw) {
    y <- family$draw(used$predictors[draw, ], parameters_at(used$sigma, draw = draw))
    vapply(statistics, function(statistic) statistic(y), numeric(1))
  }, numeric(length(statistics))))
  observed <- vapply(statistics, function(statistic) statistic(outcome), numeric(1))
  data.frame(
    cell = c(rep(names(groups), length(of_groups)), rep("all", length(of_all) + 1)), statistic = names,
    observed = unname(observed),
    predicted = rowMeans(replicated), conf_low = row_quantiles(replicated, .025),
    conf_high = row_quantiles(replicated, .975),
    p_value = rowMeans(replicated > observed) + rowMeans(replicated == observed) / 2, row.names = NULL
  )
}

row_quantiles <- function(values, probability) {
  unname(apply(values, 1, stats::quantile, probs = probability, na.rm = TRUE))
}

# One row: the expected log predictive density of answers left out, by Pareto-smoothed importance sampling. loo is given
# one answer's likelihood at a time: of a whole matrix it makes eight copies, at 10,000 draws of 960 answers 600 MB.
leave_one_out <- function(used, outcome, family = bayes_family("bernoulli"), side = NULL) {
  if (!is.null(family$step)) {
    return(leave_one_count_out(used, outcome, family, side))
  }
  rows <- data.frame(place = seq_along(outcome))
  log_lik <- function(data_i, draws, ...) {
    family$log_lik(outcome[[data_i$place]], draws[, data_i$place], parameters_at(used$sigma, row = data_i$place))
  }
  lik <- function(data_i, draws, ...) exp(log_lik(data_i, draws))
  r_eff <- loo::relative_eff(lik, chain_id = used$chain, cores = 1, data = rows, draws = used$predictors)
  psis <- suppressWarnings(loo::loo(log_lik, r_eff = r_eff, cores = 1, data = rows, draws = used$predictors))
  k <- loo::pareto_k_values(psis)
  number <- function(row, column) as.numeric(psis$estimates[row, column])
  data.frame(
    elpd_loo = number("elpd_loo", 1), se_elpd_loo = number("elpd_loo", 2), p_loo = number("p_loo", 1),
    se_p_loo = number("p_loo", 2), looic = number("looic", 1), se_looic = number("looic", 2), max_pareto_k = max(k),
    n_bad_pareto_k = sum(k > .7), n_draws = nrow(used$predictors)
  )
}

# The same of counts: the probability of the count's interval that is left out, whatever was fitted, so that families
# and steps compare. Where the density at its middle was (`side` 0, see count_family()), that decides the weights of the
# draws. The attribute `pointwise` has `elpd` and Pareto's k of each row.
leave_one_count_out <- function(used, outcome, family, side) {
  of_row <- function(place, what) {
    family[[what]](outcome[[place]], used$predictors[, place], parameters_at(used$sigma, row = place))
  }
  rows <- vapply(seq_along(outcome), function(place) {
    log_lik <- of_row(place, "log_lik")
    fitted <- if (side[[place]] == 0) of_row(place, "log_density") else log_lik
    r_eff <- loo::relative_eff(exp(fitted - max(fitted)), chain_id = used$chain)
    psis <- suppressWarnings(loo::psis(-fitted, r_eff = r_eff))
    weights <- as.vector(stats::weights(psis, log = TRUE, normalize = TRUE))
    c(elpd = log_sum_exp(weights + log_lik), lpd = log_sum_exp(log_lik) - log(length(log_lik)), k = pareto_k(psis))
  }, numeric(3))
  elpd <- rows["elpd", ]
  p_loo <- rows["lpd", ] - elpd
  se <- function(values) sqrt(length(values)) * stats::sd(values)
  found <- data.frame(
    elpd_loo = sum(elpd), se_elpd_loo = se(elpd), p_loo = sum(p_loo), se_p_loo = se(p_loo), looic = -2 * sum(elpd),
    se_looic = 2 * se(elpd), max_pareto_k = max(rows["k", ]), n_bad_pareto_k = sum(rows["k", ] > .7),
    n_draws = nrow(used$predictors)
  )
  structure(found, pointwise = data.frame(elpd = elpd, pareto_k = rows["k", ]))
}

# A count that all draws find equally probable has no tail to fit: its weights are equal, and nothing is doubtful.
pareto_k <- function(psis) {
  k <- loo::pareto_k_values(psis)
  if (is.na(k)) 0 else k
}

log_sum_exp <- function(values) max(values) + log(sum(exp(values - max(values))))

cell_checks <- function(used, outcome, parts, seed) {
  cell <- cell_numbers(parts)
  columns <- c("model", words_for("test", c(names(parts$data), names(parts$dropped))), contrast_of(parts))
  first <- parts$data[match(sort(unique(cell)), cell), cell_factors(parts), drop = FALSE]
  keys <- stats::setNames(named_cells(first, parts$dropped, columns), c("model", "test", "condition"))
  grouping <- grouping_variables(parts$formula)
  of_item <- c(intersect("item", grouping), grouping)
  item <- if (length(of_item) > 0) parts$data[[of_item[[1]]]] else seq_along(outcome) # each answer by itself
  checks <- predictive_checks(used, outcome, cell, item, seed, parts$family)
  as_plain_rows(cbind(keys[suppressWarnings(as.integer(checks$cell)), ], checks[-1]))
}
