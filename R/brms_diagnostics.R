# Did the chains converge? One row of numbers for a fit, and a sentence.

# R-hat and effective sample sizes are the rank-normalised ones of Vehtari et al. (2021), over all parameters that are
# kept, the items' effects and lp__ among them.
sampler_diagnostics <- function(fit) {
  stanfit <- fit$fit
  draws <- posterior::as_draws_array(fit)
  # brms fixes the discrimination of ratings at 1
  draws <- draws[, , setdiff(dimnames(draws)[[3]], "disc"), drop = FALSE]
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
