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

# Did the chains converge? One row of numbers for a fit, and a sentence.

# R-hat and effective sample sizes are the rank-normalised ones of Vehtari et al. (2021), over all parameters that are
# kept, the items' effects and lp__ among them.
sampler_diagnostics <- function(draws, stanfit, fixed) {
  draws <- draws[, , setdiff(dimnames(draws)[[3]], fixed), drop = FALSE]
  summary <- chain_summary(draws)
  # posterior 1.4 gives these columns a class of its own, which no table knows.
  numbers <- lapply(summary[c("rhat", "ess_bulk", "ess_tail")], as.numeric)
  data.frame(
    n_draws = prod(dim(draws)[1:2]), max_rhat = worst(numbers$rhat, max), min_ess_bulk = worst(numbers$ess_bulk, min),
    min_ess_tail = worst(numbers$ess_tail, min), n_divergent = as.integer(rstan::get_num_divergent(stanfit)),
    n_max_treedepth = as.integer(rstan::get_num_max_treedepth(stanfit)),
    min_ebfmi = worst(rstan::get_bfmi(stanfit), min)
  )
}

# Chains that swing from side to side are worth more than as many independent draws: posterior caps the number and, for
# each parameter, warns of what is nothing to doubt.
chain_summary <- function(draws) {
  withCallingHandlers(
    posterior::summarise_draws(draws, "rhat", "ess_bulk", "ess_tail"),
    warning = function(condition) {
      if (grepl("ESS has been capped", conditionMessage(condition), fixed = TRUE)) invokeRestart("muffleWarning")
    }
  )
}

# A parameter that never moves has no R-hat: the worst there is.
worst <- function(values, extreme) {
  if (anyNA(values) || length(values) == 0) NA_real_ else extreme(values)
}

# What is doubtful about a fit, each in words; none where nothing is. Limits as in Stan's own warnings (R-hat: 1.01).
convergence_warnings <- function(row) {
  is_bad <- function(x, fails) is.na(x) || fails
  all_draws <- format(row$n_draws, big.mark = ",")
  c(
    if (is_bad(row$max_rhat, row$max_rhat > 1.01)) {
      sprintf("R-hat goes up to %.3f (limit 1.01): the chains don't agree; draw more.", row$max_rhat)
    },
    if (is_bad(row$min_ess_bulk, row$min_ess_bulk < 400)) {
      sprintf("The bulk effective sample size goes down to %.0f (limit 400): draw more.", row$min_ess_bulk)
    },
    if (is_bad(row$min_ess_tail, row$min_ess_tail < 400)) {
      sprintf("The tail effective sample size goes down to %.0f (limit 400): draw more.", row$min_ess_tail)
    },
    if (row$n_divergent > 0) {
      sprintf("%d of %s transitions diverged: raise adapt_delta.", row$n_divergent, all_draws)
    },
    if (row$n_max_treedepth > 0) {
      sprintf("%d of %s transitions hit the maximal tree depth: raise max_treedepth.", row$n_max_treedepth, all_draws)
    },
    if (is_bad(row$min_ebfmi, row$min_ebfmi < .3)) {
      sprintf("E-BFMI goes down to %.2f (limit 0.3): the energy was explored badly.", row$min_ebfmi)
    }
  )
}

# `about_loo`: doubts about leave-one-out alone, which say nothing against the draws.
convergence_verdict <- function(row, doubts, about_loo = NULL) {
  sentences <- if (length(doubts) > 0) {
    c("Doubtful.", doubts)
  } else {
    sprintf(
      "The %s converged: R-hat at most %.3f, effective sample sizes at least %s, no divergences.",
      counted(row$chains, "chain"), row$max_rhat, format(floor(min(row$min_ess_bulk, row$min_ess_tail)), big.mark = ",")
    )
  }
  paste(c(sentences, about_loo), collapse = " ")
}

loo_warnings <- function(loo) {
  if (loo$n_bad_pareto_k > 0) {
    sprintf(
      "Leave-one-out is unreliable for %s, with a Pareto k above 0.7 (up to %.2f).",
      counted(loo$n_bad_pareto_k, "answer"), loo$max_pareto_k
    )
  }
}
