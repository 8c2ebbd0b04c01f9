# What fit_lme4() does with family = "binomial": a logistic mixed model by lme4::glmer(), on the factors that vary.

# One group of rows. `by`: columns that make the groups; `contrast`: the factor of two levels whose difference in
# probability is wanted.
fit_binomial <- function(formula, rows, by, levels, n_agq, contrast) {
  outcome <- all.vars(formula[[2]])
  check_outcome(rows, outcome)
  usable <- without_single_levels(formula, rows, levels)
  formula <- usable$formula
  check_groupings(rows, formula)
  data <- coded_data(rows, formula, levels)
  constant <- usable$dropped[setdiff(names(usable$dropped), by)]
  say_repeated_trials(list(formula = formula, data = data))
  is_separated <- length(warn_of_separation(formula, data, outcome)) > 0
  model <- glmer_or_simpler(formula, data, n_agq)
  # lme4's own words are kept as they are; these say what follows from them.
  messages <- model@optinfo$conv$lme4$messages
  if (any(grepl("failed to converge|unable to evaluate", messages))) {
    message("lme4 can't confirm that this is the optimum: treat coefficients, and Wald's z and p, as approximate.")
  }
  sd <- sqrt(unlist(lapply(lme4::VarCorr(model), diag)))
  if (any(sd > widest_sd)) {
    warning(
      sprintf("A standard deviation of %.1f log odds between groups is more than few failures can show: ", max(sd)),
      "at random effects of 0 every probability is then near 0 or 1, and nobody knows how near (without an interval). ",
      "Compare n_agq = 0, and the Bayesian fit.",
      call. = FALSE
    )
  }
  if (is_separated) {
    message(
      "Where answers are separated, a coefficient is where the optimiser stopped, and Wald's z and p say nothing; ",
      "probabilities there are near those of the rows."
    )
  }
  # The covariance of the coefficients is asked for several times, and complains each time.
  without_repeated_warnings(list(
    estimates = wald_effects(model),
    fit = fit_of_mixed_model(
      model,
      optimiser = paste0(model@optinfo$optimizer, ", nAGQ = ", model@devcomp$dims[["nAGQ"]], ", Wald z")
    ),
    variances = variance_components(model),
    tables_of_group = effects_with_constants(model, contrast, constant),
    model = refittable(model, data)
  ))
}

# A warning that comes several times is heard once.
without_repeated_warnings <- function(expression) {
  texts <- character()
  withCallingHandlers(expression, warning = function(condition) {
    if (conditionMessage(condition) %in% texts) invokeRestart("muffleWarning")
    texts <<- c(texts, conditionMessage(condition))
  })
}

# bobyqa finds an optimum where lme4's own pair of optimisers stops with an error, as it does on rows where nearly every
# answer is alike. Where Laplace's approximation has none, the joint mode of all coefficients is still there.
glmer_or_simpler <- function(formula, data, n_agq) {
  formula <- uncorrelated_slopes(formula, data)
  control <- lme4::glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5))
  fit <- function(n_agq) {
    lme4::glmer(formula, data = data, family = stats::binomial(), control = control, nAGQ = n_agq)
  }
  if (n_agq == 0) {
    return(fit(0))
  }
  tryCatch(fit(n_agq), error = function(problem) {
    warning(
      sprintf("glmer() stopped: %s. It was fitted with nAGQ = 0 instead, ", trimws(conditionMessage(problem))),
      "which takes the coefficients at the mode of the random effects.",
      call. = FALSE
    )
    fit(0)
  })
}

# Wald's z, p and 95 % interval.
wald_effects <- function(model) {
  table <- stats::coef(summary(model))
  estimate_rows(
    rownames(table), table[, "Estimate"], table[, "Std. Error"],
    statistic = table[, "z value"], p_value = table[, "Pr(>|z|)"],
    half_width = stats::qnorm(.975) * table[, "Std. Error"]
  )
}
