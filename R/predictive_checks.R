# Does the model fit the data? Posterior predictive checks and leave-one-out cross-validation.

# The linear predictor of each row (columns) in each draw (rows), the standard deviation of a number in each draw (NULL
# for others), and the draws' chains. Of many draws and rows, as many
# draws as are still quick: evenly spaced, at least 500, as many of each chain, for loo compares chains of one length.
row_predictors <- function(fit, max_numbers = 2e7) {
  n_chains <- brms::nchains(fit)
  n_iterations <- brms::ndraws(fit) / n_chains
  n_kept <- min(n_iterations, ceiling(max(500, max_numbers / nrow(fit$data)) / n_chains))
  iterations <- unique(round(seq(1, n_iterations, length.out = n_kept)))
  ids <- as.vector(outer(iterations, n_iterations * (seq_len(n_chains) - 1), `+`))
  draws <- posterior::as_draws_matrix(fit)
  list(
    predictors = brms::posterior_linpred(fit, draw_ids = ids),
    sigma = if ("sigma" %in% colnames(draws)) as.numeric(draws[ids, "sigma"]),
    chain = rep(seq_len(n_chains), each = length(iterations))
  )
}

# `used`: of row_predictors(); `cell`: the cell of each row, as a number. Per cell and for all rows: the share of ones,
# or the mean of numbers; for all rows the standard deviation of the items' shares or means, too. p is the share of data
# sets drawn from the fitted model whose statistic is above the observed one, those that equal it counted half. Of many
# draws 2000 are taken: p is good to .01 then.
predictive_checks <- function(used, outcome, cell, item, seed, family = bayes_family("bernoulli"), max_draws = 2000) {
  n_draws <- nrow(used$predictors)
  places <- if (n_draws > max_draws) round(seq(1, n_draws, length.out = max_draws)) else seq_len(n_draws)
  groups <- c(split(seq_along(outcome), cell), list(all = seq_along(outcome)))
  statistics <- lapply(groups, function(rows) function(y) family$statistics[[1]](y[rows]))
  names <- c(rep(names(family$statistics)[[1]], length(groups)), names(family$statistics)[-1], "item_sd")
  statistics <- c(statistics, family$statistics[-1])
  statistics$item_sd <- function(y) stats::sd(rowsum(y, item)[, 1] / as.vector(table(item)))
  replicated <- with_seed(seed, vapply(places, function(draw) {
    y <- family$draw(used$predictors[draw, ], used$sigma[draw])
    vapply(statistics, function(statistic) statistic(y), numeric(1))
  }, numeric(length(statistics))))
  observed <- vapply(statistics, function(statistic) statistic(outcome), numeric(1))
  data.frame(
    cell = c(names(groups), rep("all", length(names) - length(groups))), statistic = names, observed = unname(observed),
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
leave_one_out <- function(used, outcome, family = bayes_family("bernoulli")) {
  rows <- data.frame(place = seq_along(outcome))
  log_lik <- function(data_i, draws, ...) {
    family$log_lik(outcome[[data_i$place]], draws[, data_i$place], used$sigma)
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

cell_checks <- function(used, outcome, parts, seed) {
  cell <- cell_numbers(parts)
  columns <- c("model", "domain", "block")
  first <- parts$data[match(sort(unique(cell)), cell), cell_factors(parts), drop = FALSE]
  keys <- named_cells(first, parts$dropped, columns)
  item <- parts$data[[grouping_variables(parts)[[1]]]]
  checks <- predictive_checks(used, outcome, cell, item, seed, parts$family)
  as_plain_rows(cbind(keys[suppressWarnings(as.integer(checks$cell)), ], checks[-1]))
}
