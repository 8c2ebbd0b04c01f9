# The two ways of refitting a permutation. Each returns a list: `design` (fixed effects, one row per row of the data),
# `draws` (their coefficients, one row a draw), `of_units` (random intercepts, one row a draw and one column a unit;
# NULL where the model has other random effects), `chains` (0: no draws but one estimate), and what the engine counts.

refit_brms <- function(data, formula, levels, settings) {
  need_package("rstan", "refit with brms")
  parts <- brms_parts(data, formula, levels, settings$priors, settings$coding)
  has_intercepts <- is_only_intercepts(parts$formula)
  wanted <- c("b_Intercept", if (parts$standata$K > 1) "b", if (has_intercepts) "r_1_1")
  sampled <- sample_in_place(parts, settings, wanted, include = TRUE)
  list(
    design = parts$standata$X, draws = as.matrix(sampled$stanfit, pars = setdiff(wanted, "r_1_1")),
    of_units = if (has_intercepts) as.matrix(sampled$stanfit, pars = "r_1_1"),
    unit_no = as.integer(parts$standata$J_1), chains = sampled$chains, n_divergent = sampled$n_divergent,
    n_max_treedepth = sampled$n_max_treedepth
  )
}

# As fit_lme4() fits it. That cells are separated is counted by cell, not reported refit by refit.
refit_glmer <- function(data, formula, levels, settings) {
  need_package("lme4", "refit with glmer")
  formula <- without_single_levels(checked_formula(formula, names(data)), data, levels)$formula
  prepared <- coded_data(data, formula, levels)
  fit <- glmer_or_simpler(formula, prepared, settings$n_agq)
  list(
    design = lme4::getME(fit, "X"), draws = t(lme4::fixef(fit)),
    of_units = if (is_only_intercepts(formula)) t(lme4::ranef(fit)[[1]][, 1]),
    unit_no = as.integer(lme4::getME(fit, "flist")[[1]]), chains = 0, is_singular = lme4::isSingular(fit)
  )
}

# Whether the random effects are one intercept for each unit: (1 | item).
is_only_intercepts <- function(formula) {
  bars <- random_terms(formula)
  length(bars) == 1 && identical(bars[[1]][[2]], 1) && is.name(bars[[1]][[3]])
}
