# The coefficients and the settings of a Bayesian fit, in rows.

settings_row <- function(parts, settings) {
  factors <- Filter(is.factor, parts$data[all.vars(without_random_terms(parts$formula)[[3]])])
  data.frame(
    formula = deparse1(parts$formula), n = nrow(parts$data), chains = settings$chains, iterations = settings$iterations,
    warmup = settings$warmup, adapt_delta = settings$adapt_delta, max_treedepth = settings$max_treedepth,
    seed = settings$seed, priors = priors_in_words(parts),
    reference = reference_levels(factors)
  )
}

priors_in_words <- function(parts) {
  used <- parts$priors[names(parts$priors) %in% prior_keys(parts$prior)]
  paste(names(used), "~", unlist(used), collapse = "; ")
}

# Under sum coding an intercept is the mean of all cells, and a term that ends in 1 is of the first level.
reference_levels <- function(factors) {
  first <- paste(names(factors), "=", vapply(factors, function(values) levels(values)[[1]], ""), collapse = "; ")
  is_sum <- vapply(factors, function(values) identical(attr(values, "contrasts"), "contr.sum"), NA)
  if (any(is_sum)) paste("none (coded to sum to 0); first levels:", first) else first
}

# Terms under the names that lme4 gives them too, those of the zeros of a hurdle with hu_ before them; brms's own leave
# out what isn't a letter or a digit.
bayesian_estimates <- function(fit, parts) {
  draws <- estimate_draws(unclass(posterior::as_draws_matrix(fit)))
  deviations <- grep("^b_", colnames(draws), value = TRUE, invert = TRUE)
  terms <- fixed_names(parts)
  rows <- spread_rows(draws)
  estimate_rows(
    c(terms, if (any(startsWith(colnames(draws), "b_hu_"))) paste0("hu_", terms), deviation_names(deviations)),
    rows$estimate,
    rows$std_error,
    conf_low = rows$conf_low, conf_high = rows$conf_high
  )
}

# The draws of coefficients, of those of the zeros of a hurdle, and of deviations, in the order of the estimates.
estimate_draws <- function(draws) {
  is_zeros <- startsWith(colnames(draws), "b_hu_")
  is_disc <- startsWith(colnames(draws), "b_disc_")
  is_other <- startsWith(colnames(draws), "b_") & !is_zeros & !is_disc
  is_deviation <- grepl("^sd_|^(sigma|shape|ndt)$", colnames(draws))
  draws[, c(which(is_other), which(is_zeros), which(is_disc), which(is_deviation)), drop = FALSE]
}

# "sd_item__Intercept" is sd_item; a slope keeps its name: sd_item: blockincongruent.
deviation_names <- function(names) sub("__", ": ", sub("__Intercept$", "", names))

bayesian_variances <- function(fit, parts) {
  draws <- unclass(posterior::as_draws_matrix(fit))
  names <- grep("^sd_", colnames(draws), value = TRUE)
  groups <- sub("^sd_(.*)__.*$", "\\1", names)
  frame_of(
    group = groups, term = sub("^Intercept$", "intercept", sub("^.*__", "", names)),
    variance = unname(colMeans(draws[, names, drop = FALSE]^2)),
    n_groups = unname(vapply(groups, function(name) n_combined(parts$data, name), integer(1)))
  )
}

# Of item, or of item:block, which is no column.
n_combined <- function(data, name) nrow(unique(data[strsplit(name, ":", fixed = TRUE)[[1]]]))
