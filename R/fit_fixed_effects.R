# What regressions without random effects share: factors with levels that are listed, one fit for each group of rows,
# and standard errors over clusters next to those of independent rows.

# `regression`: a list of its `name`, an `example` of a formula and the engine that has random effects (`mixed`), all
# three in sentences; `optimiser` in words; `packages`; `columns`, what it needs besides those of the formula;
# `check(rows, outcome)`, an error where the outcome is none of its kind (if not given, check_outcome()); `prepared`,
# function(rows, formula); `model`, function(formula, rows); and of a model `effects` (estimates), `tests`, `variances`,
# `fit_of` (more of its row of `fits`), `further(model, rows, covariance)` (more tables), and `changes`: a matrix, how
# each row moves each coefficient. The variance of their sums over clusters is multiplied with
# `small_sample(model, n_clusters)` besides G / (G - 1), and called `clustered_as`; `has_cr2`: clubSandwich knows it;
# `refit(model, keep)`: the coefficients of some of its rows, for a jackknife over few clusters.
# `declared`: what a study says that varied (choose_cluster.R), from which clusters are chosen if `cluster` names none.
# `weights`: the name of a column, or NULL.
fit_fixed_effects <- function(data, formula, by, levels, cluster, save_to, regression, declared = list(),
                              weights = NULL) {
  check_columns(data, character(), to = sprintf("fit %s", regression$name))
  formula <- checked_formula(formula, names(data))
  columns <- c(all.vars(formula), regression$columns, weights)
  if (!is.null(cluster)) cluster <- checked_clusters(as.character(unlist(cluster)))
  check_columns(data, c(columns, cluster_columns(cluster), by), to = sprintf("fit %s", regression$name))
  has_bar <- any(c("|", "||") %in% all.names(formula))
  if (length(formula) != 3 || has_bar) {
    stop_with(
      sprintf("Can't fit %s as %s.", quoted(deparse1(formula)), regression$name),
      sprintf("It must have an outcome and no random effect, like %s.", quoted(regression$example)),
      if (has_bar) sprintf("With random effects, the engine is %s.", regression$mixed)
    )
  }
  levels <- level_lists(data, all.vars(formula[[3]]), levels[intersect(names(levels), all.vars(formula[[3]]))])
  declared <- declare_trials(data, cluster, declared)$declared
  used <- unique(c(columns, cluster_columns(cluster), clusters_to_declare(declared, formula)))
  check_columns(data, used, to = sprintf("fit %s", regression$name))
  fit_one <- function(rows) {
    rows <- weighted_rows(once_per_prompt(rows, all.vars(formula[[2]])[[1]], declared$prompt), weights)
    fit_fixed_cell(formula, with_factors(rows, character(), levels), cluster, regression, declared, weights)
  }
  slant_fit(fit_each_group(data, by, used, fit_one, save_to), regression$packages)
}

fit_fixed_cell <- function(formula, rows, cluster, regression, declared = list(), weights = NULL) {
  check <- if (is.null(regression$check)) check_outcome else regression$check
  check(rows, all.vars(formula[[2]]))
  rows <- regression$prepared(rows, formula)
  model <- if (is.null(weights)) regression$model(formula, rows) else regression$model(formula, rows, weights)
  if (anyNA(stats::coef(model))) {
    alike <- quoted(names(which(is.na(stats::coef(model)))))
    stop_with(sprintf("Can't fit %s: %s does not vary apart from the others.", regression$name, alike))
  }
  if (isTRUE(model$df.residual == 0)) {
    stop_with(sprintf("Can't fit %s: it has as many coefficients as there are rows.", regression$name))
  }
  clusters <- clusters_to_use(rows, cluster, declared, formula)
  over <- over_others(over_clusters(model, clusters, regression), model, clusters, attr(rows, "separated"))
  of_rows <- regression$effects(model)
  clustered <- clustered_effects(model, over, of_rows)
  log_lik <- stats::logLik(model)
  # R's own of a weighted logistic regression rounds the weights.
  if (inherits(model, "glm") && any(stats::weights(model) != 1)) log_lik[] <- -model$deviance / 2
  list(
    estimates = structure(
      if (nrow(clustered) > 0) clustered[names(of_rows)] else of_rows,
      covariance = if (is.function(over$whole)) known_of(over$whole(), over$is_exact) else over$covariance
    ),
    fit = c(if (!is.null(regression$fit_of)) regression$fit_of(model), list(
      log_lik = as.numeric(log_lik), aic = stats::AIC(log_lik), bic = stats::BIC(log_lik), singular = FALSE,
      optimiser = paste0(regression$optimiser, if (!is.null(over)) sprintf(", clusters: %s", over$words))
    )),
    variances = if (!is.null(regression$variances)) regression$variances(model),
    tables_of_group = c(
      list(tests = clustered_tests(regression$tests(model), model, over), clustered = clustered),
      if (!is.null(regression$further)) regression$further(model, rows, over$covariance)
    ),
    model = model
  )
}

# A call that says its formula and its column of weights, rather than that it has some.
weighted_call <- function(fit, formula, weights, ...) {
  call <- as.call(list(fit, formula, ..., data = quote(rows)))
  if (!is.null(weights)) call$weights <- as.name(weights)
  call
}

# The clusters of the rows by name, with the attribute `reason`: those that are named, else those that the study
# declares. NULL: rows are independent.
clusters_to_use <- function(rows, cluster, declared, formula) {
  chosen <- list(columns = cluster, reason = if (!is.null(cluster)) reason_for(cluster))
  if (is.null(cluster)) chosen <- declared_clusters(rows, formula, declared)
  if (is.null(chosen)) {
    message("Rows are taken as independent: no cluster is named.")
    return(NULL)
  }
  if (!is.null(chosen$codes)) {
    return(structure(chosen$codes, reason = chosen$reason))
  }
  tryCatch(
    structure(clusters_of(rows, chosen$columns, "say what holds for others"), reason = chosen$reason),
    error = function(condition) {
      message(conditionMessage(condition))
      NULL
    }
  )
}

# The errors of a model's coefficients over clusters: `error` (std_error and df), `covariance` (see `whole()` of CR2 and
# two ways), `method`, `names` and `words` of the clusters, `codes`, `n`, and how many degrees of freedom clusters have
# in tests of several coefficients, `n_free`; NULL where rows are independent.
over_clusters <- function(model, clusters, regression) {
  if (is.null(clusters)) {
    return(NULL)
  }
  n <- min(vapply(clusters, function(codes) length(unique(codes)), 1L))
  about <- list(
    names = toString(names(clusters)), n = n, n_free = n - 1, codes = clusters[[1]],
    words = sprintf("%s (%s)", paste(names(clusters), collapse = " and "), attr(clusters, "reason"))
  )
  if (length(clusters) == 1 && n < fewest_clusters && !is.null(regression$refit)) {
    found <- jackknifed(model, clusters[[1]], regression)
    if (!is.null(found)) {
      message(sprintf(
        "%d clusters (\"%s\") are fewer than %d: errors are of fits without each in turn (jackknife), a little wide.",
        n, about$names, fewest_clusters
      ))
      return(c(found, about[setdiff(names(about), names(found))]))
    }
  }
  if (takes_reduced_bias(clusters, n, regression)) {
    found <- tryCatch(
      clubSandwich::coef_test(model, vcov = "CR2", cluster = clusters[[1]], test = "Satterthwaite"),
      error = function(problem) NULL # of separated answers, whose weights are all but 0
    )
    if (!is.null(found)) {
      return(c(about, list(
        error = frame_of(std_error = found$SE, df = found$df_Satt), method = "CR2",
        whole = function() as.matrix(clubSandwich::vcovCR(model, clusters[[1]], "CR2"))
      )))
    }
    warn_of_small_errors(clusters, n, regression, "CR2 would hold, but can't be computed of these rows.")
  }
  found <- clustered_error(regression$changes(model), clusters)
  if (length(clusters) == 2) {
    both <- paste(clusters[[1]], clusters[[2]], sep = "\037")
    of <- lapply(c(clusters, list(both)), function(codes) over_one_way(regression$changes(model), codes))
    # Of the difference, some variances may be negative; correlations are those of the sum.
    return(c(about, list(
      error = found, covariance = of[[1]] + of[[2]] - of[[3]], method = "two ways",
      whole = function() of[[1]] + of[[2]]
    )))
  }
  found$std_error <- found$std_error * sqrt(regression$small_sample(model, n))
  c(about, list(
    error = found, method = regression$clustered_as,
    covariance = over_one_way(regression$changes(model), clusters[[1]]) * regression$small_sample(model, n)
  ))
}

# `over` without errors of coefficients that are `separated`, or that one cluster alone decides: rows that are fitted
# exactly would give an error of 0.
over_others <- function(over, model, clusters, separated) {
  if (is.null(over)) {
    return(NULL)
  }
  x <- predictors_of(model)
  is_alone <- Reduce(`|`, lapply(clusters, function(codes) decided_by_one(x, codes)))
  # thresholds in place of an intercept, or (of sets) none
  is_alone <- c(rep(is_alone[[1]], length(stats::coef(model)) - ncol(x) + 1), is_alone[-1])
  if (any(is_alone)) {
    warning(sprintf(
      "One \"%s\" alone decides %s, which says nothing of others: no standard error over them is known.",
      over$names, quoted(names(stats::coef(model))[is_alone])
    ), call. = FALSE)
  }
  # what rounding leaves of an error, or of an estimate, is 0
  is_linear <- inherits(model, "lm") && !inherits(model, "glm")
  over$least <- if (is_linear) 1e-10 * max(abs(stats::model.response(stats::model.frame(model)))) else 0
  is_rounded <- over$error$std_error <= over$least & is_linear
  over$is_exact <- is_alone | names(stats::coef(model)) %in% separated | is_rounded %in% TRUE
  over$error[over$is_exact, ] <- NA_real_
  over$covariance <- known_of(over$covariance, over$is_exact)
  over
}

known_of <- function(covariance, is_exact) {
  if (!is.null(covariance)) covariance[is_exact, ] <- covariance[, is_exact] <- NA_real_
  covariance
}

# Of which columns of `x` the coefficients can't be estimated without some cluster, whose rows have a leverage of 1 or
# more then.
decided_by_one <- function(x, codes) {
  basis <- qr(x)
  rows <- qr.Q(basis)
  leverage <- tapply(rowSums(rows^2), codes, sum)
  is_alone <- logical(ncol(x))
  for (code in names(leverage)[leverage > 1 - 1e-7]) {
    free <- abs(backsolve(qr.R(basis), null_space(rows[as.character(codes) != code, , drop = FALSE])))
    is_alone[basis$pivot] <- is_alone[basis$pivot] | rowSums(free) > 1e-7 * max(free, 0)
  }
  is_alone
}

# The design matrix with a column for the intercept, also of models that have thresholds or choice sets instead.
predictors_of <- function(model) {
  if (inherits(model, "coxph")) {
    return(cbind(1, stats::model.matrix(model)))
  }
  stats::model.matrix(stats::delete.response(stats::terms(model)), rows_of_model(model))
}

# Without each cluster in turn: of few clusters, where CR2 is not known, this errs on the safe side. Degrees of freedom
# are clusters less the coefficients that are the same within each. NULL where a fit without a cluster lacks something.
jackknifed <- function(model, codes, regression) {
  estimates <- stats::coef(model)
  clusters <- unique(codes)
  without <- lapply(clusters, function(one) {
    tryCatch(suppressMessages(suppressWarnings(regression$refit(model, codes != one))), error = function(problem) NULL)
  })
  is_sound <- vapply(without, function(one) identical(names(one), names(estimates)) && all(is.finite(one)), NA)
  if (!all(is_sound)) {
    return(NULL)
  }
  n <- length(clusters)
  changes <- do.call(cbind, without) - estimates
  covariance <- tcrossprod(changes) * (n - 1) / n
  x <- predictors_of(model)[, -1, drop = FALSE]
  constant <- c(rep(FALSE, length(stats::coef(model)) - ncol(x)), constant_columns(x, codes))
  df <- ifelse(constant, max(1, n - 1 - sum(constant)), n - 1)
  list(
    error = frame_of(std_error = sqrt(diag(covariance)), df = unname(as.double(df))), covariance = covariance,
    method = "jackknife", n_free = max(1, n - 1 - sum(constant))
  )
}

# Whether each column is the same in all rows of a cluster.
constant_columns <- function(x, codes) {
  first <- match(codes, codes)
  vapply(seq_len(ncol(x)), function(k) all(x[, k] == x[first, k]), NA)
}

# Newer survival puts an environment of its own before that of the formula, so that `$` does not find them.
rows_of_model <- function(model) {
  if (inherits(model, c("clm", "coxph"))) get("rows", environment(stats::formula(model))) else stats::model.frame(model)
}

# The coefficients with standard errors over other clusters, which are shown, and with those of independent rows (in
# columns that end with _rows), which papers print; without clusters no rows.
clustered_effects <- function(model, over, of_rows) {
  if (is.null(over)) {
    none <- columns_of(
      "method:text clusters:text n_clusters:whole std_error_rows statistic_rows p_value_rows conf_low_rows",
      "conf_high_rows"
    )
    return(cbind(empty_table("estimates"), none))
  }
  estimates <- stats::coef(model)
  estimates[abs(estimates) < over$least] <- 0
  effects <- coefficient_rows(estimates, over$error)
  about <- list(method = over$method, clusters = over$names, n_clusters = over$n)
  shown <- c("std_error", "statistic", "p_value", "conf_low", "conf_high")
  own <- of_rows[match(effects$term, of_rows$term), shown]
  cbind(effects, about, as_plain_rows(stats::setNames(own, paste0(shown, "_rows"))))
}

# Tests of terms: over clusters, Wald's F with its degrees of freedom and p; what independent rows give (chi squared of
# likelihoods, F) is in columns that end with _rows.
clustered_tests <- function(tests, model, over) {
  if (is.null(tests) || nrow(tests) == 0) {
    return(tests)
  }
  own <- intersect(c("chi_squared", "f_value", "df_residual", "p_value"), names(tests))
  tests[paste0(own, "_rows")] <- if (is.null(over)) rep(list(rep(NA_real_, nrow(tests))), length(own)) else tests[own]
  missing <- setdiff(c("f_value", "df_residual"), names(tests))
  tests[missing] <- rep(list(rep(NA_real_, nrow(tests))), length(missing))
  if (is.null(over)) {
    return(tests)
  }
  tests[intersect("chi_squared", own)] <- NA_real_
  of_term <- coefficients_of_terms(model)
  for (i in seq_len(nrow(tests))) {
    term <- tests$term[[i]]
    at <- if (term == "all") unlist(of_term, use.names = FALSE) else of_term[[term]]
    tests[i, c("f_value", "df_residual", "p_value")] <- as.list(clustered_f(model, at, over))
  }
  tests
}

# F, its degrees of freedom and p; with as many coefficients as clusters, their covariance is singular.
clustered_f <- function(model, at, over) {
  q <- length(at)
  none <- c(NA_real_, NA_real_, NA_real_)
  if (q >= over$n || any(over$is_exact[at])) {
    return(none)
  }
  estimates <- stats::coef(model)
  if (over$method == "CR2") {
    constraints <- clubSandwich::constrain_zero(at, coefs = estimates)
    found <- clubSandwich::Wald_test(model, constraints, vcov = "CR2", cluster = over$codes, test = "HTZ")
    return(c(found$Fstat, found$df_denom, found$p_val))
  }
  if (q == 1) {
    t <- estimates[[at]] / over$error$std_error[[at]]
    df <- over$error$df[[at]]
    return(c(t^2, df, stats::pf(t^2, 1, df, lower.tail = FALSE)))
  }
  solved <- tryCatch(solve(over$covariance[at, at, drop = FALSE], estimates[at]), error = function(problem) NULL)
  if (is.null(solved)) {
    return(none)
  }
  df <- over$n - 1
  f <- sum(estimates[at] * solved) / q
  if (f < 0) {
    return(none) # in two ways, a covariance need not be one
  }
  if (over$method == "jackknife") { # as Hotelling's T squared
    df <- over$n_free - q + 1
    if (df < 1) {
      return(none)
    }
    f <- f * df / over$n_free
  }
  c(f, df, stats::pf(f, q, df, lower.tail = FALSE))
}

# By term, the places of its coefficients. A cumulative model has thresholds before them.
coefficients_of_terms <- function(model) {
  if (inherits(model, "coxph")) { # whose terms name the sets, too
    return(model$assign[!grepl("^strata[(]", names(model$assign))])
  }
  terms <- stats::delete.response(stats::terms(model))
  labels <- attr(terms, "term.labels")
  of <- attr(stats::model.matrix(terms, rows_of_model(model)), "assign")
  n_before <- length(stats::coef(model)) - sum(of > 0)
  stats::setNames(lapply(seq_along(labels), function(i) n_before + which(of[of > 0] == i)), labels)
}

# The covariance of the coefficients over clusters of one kind.
over_one_way <- function(changes, codes) {
  sums <- rowsum(changes, codes)
  crossprod(sums) * nrow(sums) / (nrow(sums) - 1)
}

# Of least squares and logistic regressions, as sandwich::vcovCL(type = "HC1", cadjust = TRUE), and Stata's regress.
least_squares_changes <- function(model) {
  weights <- stats::weights(model, "working")
  scores <- stats::model.matrix(model) * stats::residuals(model, type = "working")
  if (!is.null(weights)) scores <- scores * weights
  scores %*% summary(model)$cov.unscaled
}

hc1 <- function(model) (stats::nobs(model) - 1) / (stats::nobs(model) - length(stats::coef(model)))
