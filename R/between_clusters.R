# Degrees of freedom of a linear mixed model that tests what varies between clusters: gender over names, (1 | name), or
# what has a slope by template. Satterthwaite's method forgets a variance that was estimated as 0, and gives a gender
# over 12 names the degrees of freedom of the answers (515); Kenward and Roger's keeps it, and gives 10. What varies
# within clusters alone keeps lmerTest's, as papers print them: the two agree there.

# Columns of the fixed effects by grouping factor: a logical matrix, whether each is the same in all rows of a cluster.
constant_in_clusters <- function(model) {
  x <- stats::model.matrix(model)
  constant <- vapply(lme4::getME(model, "flist"), function(groups) {
    codes <- as.integer(groups)
    first <- match(seq_len(max(codes)), codes)
    vapply(seq_len(ncol(x)), function(k) all(x[, k] == x[first[codes], k]), NA)
  }, logical(ncol(x)))
  matrix(constant, ncol(x))
}

# By coefficient, the most degrees of freedom that its clusters leave: their number, less that of the coefficients that
# are the same within clusters; of a slope by cluster, their number less 1. Inf where all clusters have all of it.
most_df <- function(model) {
  constant <- constant_in_clusters(model)
  names <- names(lme4::fixef(model))
  groups <- names(lme4::getME(model, "flist"))
  n <- lme4::ngrps(model)[groups]
  most <- ifelse(constant, rep(n - colSums(constant), each = nrow(constant)), Inf)
  slopes <- vapply(groups, function(group) {
    names %in% setdiff(slope_name(unlist(model@cnms[sub("\\.\\d+$", "", names(model@cnms)) == group])), "(Intercept)")
  }, logical(length(names)))
  most <- pmin(most, ifelse(matrix(slopes, length(names)), rep(n - 1, each = length(names)), Inf))
  do.call(pmin, as.list(as.data.frame(matrix(most, length(names)))))
}

# Whether the model tests anything between clusters: a coefficient, or, if it has no other, the intercept.
tests_between_clusters <- function(model, most = most_df(model)) {
  is_tested <- names(lme4::fixef(model)) != "(Intercept)"
  any(is.finite(most[if (any(is_tested)) is_tested else TRUE]))
}

# Matrices are as large as rows by clusters; above this number of entries, Satterthwaite's are capped instead.
most_entries <- 2e7

# The fixed effects as estimate_rows(), and how degrees of freedom were made.
effects_between_clusters <- function(model, most) {
  if (nrow(stats::model.matrix(model)) * nrow(lme4::getME(model, "Zt")) > most_entries) {
    error <- fixed_effects(model)[c("std_error", "df")]
    method <- "Satterthwaite, capped"
  } else {
    parts <- model_matrices(model)
    error <- error_over_words(model, parts, inverse_of_variance(parts))
    method <- "Kenward-Roger"
  }
  error$df <- pmin(error$df, most)
  if (any(error$df < 1)) {
    message("Some coefficients have as many levels as there are clusters: nothing is left to measure their errors by.")
    error[error$df < 1, c("std_error", "df")] <- NA_real_
  }
  list(estimates = coefficient_rows(lme4::fixef(model), error), method = method)
}
