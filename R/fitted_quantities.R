# What is compared with a known truth, of a fit to simulated data: its parameters, and the differences between
# conditions.

# Short chains of one model in this very process, under brms's names: list(draws, brmsfit, chains, n_divergent,
# n_max_treedepth).
draws_in_place <- function(parts, settings) {
  sampled <- sample_in_place(parts, settings, parts$exclude, include = FALSE)
  brmsfit <- as_brmsfit(sampled$stanfit, parts)
  draws <- unclass(posterior::as_draws_matrix(brmsfit))
  c(list(draws = draws, brmsfit = brmsfit), sampled[c("chains", "n_divergent", "n_max_treedepth")])
}

# list(keys, draws): a row of `quantity`, `model` and `test`, and a column of draws, for each.
quantity_draws <- function(draws, parts) {
  columns <- unlist(parameter_columns(draws, parts))
  fixed <- fixed_names(parts)
  names <- c(fixed, deviation_names(columns[-seq_along(fixed)]))
  of_conditions <- condition_difference_draws(draws, parts)
  unknown <- rep(NA_character_, length(names) + 1)
  keys <- rbind(
    frame_of(quantity = names, model = unknown[-1], test = unknown[-1]), of_conditions$keys,
    frame_of(quantity = "log_lik", model = NA_character_, test = NA_character_)
  )
  list(keys = keys, draws = cbind(draws[, columns, drop = FALSE], of_conditions$draws))
}

# The same of a truth, as a vector.
quantity_truths <- function(draws, truth, parts) {
  columns <- parameter_columns(draws, parts)
  expected <- c(list(truth$b), truth$deviations, list(truth$others))
  if (!identical(lengths(columns, use.names = FALSE), lengths(expected, use.names = FALSE))) {
    stop_with("Can't calibrate this fit: brms has other parameters than were drawn.", quoted(unlist(columns)))
  }
  b <- matrix(truth$b, 1, dimnames = list(NULL, columns[[1]]))
  c(unlist(expected), condition_difference_draws(b, parts)$draws)
}

# brms's names of the parameters, in the order of drawn_truth(): coefficients, of each group standard deviations and
# correlations, those of the family.
parameter_columns <- function(draws, parts) {
  names <- colnames(draws)
  groups <- lapply(random_parts(parts$formula[[3]]), function(part) {
    group <- paste(part$group, collapse = ":")
    unlist(lapply(sprintf(c("sd_%s__", "cor_%s__"), group), function(start) names[startsWith(names, start)]))
  })
  c(list(grep("^b_", names, value = TRUE)), groups, list(intersect(family_classes(parts), names)))
}

# list(keys, draws): the first condition minus the second in each model and test, for a median item, in probability
# (or, of numbers, means).
condition_difference_draws <- function(draws, parts, contrast = "condition", by = c("model", "test")) {
  design <- effect_design(parts, contrast, by)
  pairs <- contrast_pairs(design, contrast, by)
  means <- if (is_rating(parts)) {
    mean_ratings(rating_predictors(draws, design), threshold_draws(draws), rating_values(parts$points))
  } else {
    parts$family$inverse_link(population_logits(draws, design))
  }
  keys <- design$cells[vapply(pairs, `[[`, numeric(1), 1), by, drop = FALSE]
  names <- apply(keys, 1, function(key) paste(key[!is.na(key)], collapse = ", "))
  scale <- rep(unname(parts$family$scales["response"]), length(pairs)) # counts have none, and no such conditions
  list(
    keys = as_plain_rows(cbind(frame_of(quantity = paste(scale, names, sep = ": ")[seq_along(pairs)]), keys)),
    draws = means[, vapply(pairs, `[[`, numeric(1), 1), drop = FALSE] -
      means[, vapply(pairs, `[[`, numeric(1), 2), drop = FALSE]
  )
}

# One row a quantity: what its draws are next to the truth (NA: unknown). Evenly spaced draws make the rank.
quantity_rows <- function(values, truths, chains, n_draws) {
  draws <- values$draws
  truths <- rep_len(unname(truths), ncol(draws))
  rows <- spread_rows(draws)
  kept <- draws[unique(round(seq(1, nrow(draws), length.out = n_draws))), , drop = FALSE]
  agreement <- vapply(seq_len(ncol(draws)), function(column) {
    suppressWarnings(agreement_of_chains(draws[, column], chains))
  }, numeric(2))
  cbind(values$keys, frame_of(
    truth = truths, rank = as.integer(rowSums(t(kept) < truths)), n_draws = rep(nrow(kept), ncol(draws)),
    estimate = rows$estimate, std_dev = rows$std_error, conf_low = rows$conf_low, conf_high = rows$conf_high,
    z_score = (rows$estimate - truths) / rows$std_error, rhat = agreement[1, ], ess_bulk = agreement[2, ]
  ))
}
