# Standard error and degrees of freedom of one coefficient of a mixed model by Kenward and Roger (1997).
#
# The numbers of pbkrtest::vcovAdj() and Lb_ddf() for one coefficient. pbkrtest works with matrices of rows by rows, and
# took 3 s for 627 rows and 42 s for 2,000 (processor); here, by Woodbury's identity, none is larger than rows by random
# effects, and both take less than 0.1 s. Terms whose variance is 0 keep their place in the information matrix: that
# they were estimated to be 0, and are not known to be, is what leaves few degrees of freedom.
#
# Kenward & Roger (1997), Small sample inference for fixed effects from restricted maximum likelihood, Biometrics 53,
# 983-997. For one coefficient the scale of their F is 1, and the degrees of freedom are 2 / A, A their A1 = A2.

# `parts`: of `model_matrices()`, with `inverse` of `inverse_of_variance()`. One row a coefficient: `std_error`, `df`;
# NA where the information matrix can't be inverted. Its attribute `covariance` is that of all.
kenward_roger <- function(parts, inverse) {
  vx <- inverse$apply(parts$x)
  phi <- solve(crossprod(parts$x, vx))
  # G_i V^-1 X of each component i, whose part of the variance is G_i
  moved <- c(
    lapply(parts$terms, function(z) z %*% crossprod(z, vx)), lapply(parts$diagonals, function(weight) weight * vx)
  )
  back <- lapply(moved, inverse$apply)
  p <- lapply(moved, function(columns) -crossprod(vx, columns))
  at <- expand.grid(i = seq_along(moved), j = seq_along(moved))
  q <- Map(function(i, j) crossprod(moved[[i]], back[[j]]), at$i, at$j)
  information <- traces_of_pairs(parts, inverse) + matrix(mapply(function(q_ij, i, j) {
    sum((phi %*% p[[i]]) * t(phi %*% p[[j]])) - 2 * sum(phi * t(q_ij))
  }, q, at$i, at$j), length(moved))
  w <- tryCatch(2 * solve((information + t(information)) / 2), error = function(condition) NULL)
  unknown <- frame_of(std_error = rep(NA_real_, ncol(phi)), df = rep(NA_real_, ncol(phi)))
  if (is.null(w)) {
    return(unknown)
  }
  added <- Reduce(`+`, Map(function(w_ij, q_ij, i, j) w_ij * (q_ij - p[[i]] %*% phi %*% p[[j]]), w, q, at$i, at$j))
  covariance <- phi + 2 * phi %*% added %*% phi
  variance <- diag(covariance)
  change <- vapply(p, function(part) diag(phi %*% part %*% phi) / diag(phi), diag(phi)) # a column a component
  df <- 2 / rowSums((change %*% w) * change)
  is_sound <- is.finite(df) & df > 0 & is.finite(variance) & variance > 0
  unknown[is_sound, ] <- cbind(sqrt(pmax(variance, 0)), df)[is_sound, , drop = FALSE]
  structure(unknown, covariance = if (all(is_sound)) covariance)
}

# The matrices of the model: `x`, and `terms`, one for each random effect with its `variances`; `diagonals`, the weights
# of the components that are no groups, with theirs. `repeated`: the grouping factor of trials that are repetitions of
# each other, as in names(model@cnms): then the rows are the means of repetitions, times the root of their number (so
# that trials keep one variance), and `n_within` contrasts within them are known of besides. Correlated effects of a
# group, (1 + x | g), have a term each and one for each two of them together: a sum z1 + z2 has the part of the variance
# that their covariance adds, and what Kenward and Roger compute is the same for any such basis. `scaled`: their factor
# of the variance.
model_matrices <- function(model, repeated = NULL) {
  x <- stats::model.matrix(model)
  sigma2 <- stats::sigma(model)^2
  is_repeated <- names(model@cnms) %in% repeated
  starts <- lme4::getME(model, "Gp")
  zt <- lme4::getME(model, "Zt")
  if (any(lengths(model@cnms) > 1)) {
    scaled <- sqrt(sigma2) * as.matrix(Matrix::t(lme4::getME(model, "Lambdat") %*% zt))
    of_groups <- unlist(lapply(seq_along(model@cnms), function(i) {
      n_columns <- length(model@cnms[[i]])
      rows <- (starts[[i]] + 1):starts[[i + 1]]
      columns <- lapply(seq_len(n_columns), function(k) {
        as.matrix(Matrix::t(zt[rows[seq(k, length(rows), by = n_columns)], , drop = FALSE]))
      })
      sums <- if (n_columns > 1) utils::combn(n_columns, 2, function(two) Reduce(`+`, columns[two]), simplify = FALSE)
      c(columns, sums)
    }), recursive = FALSE)
    return(list(
      x = x, terms = of_groups, scaled = scaled, diagonals = list(rep(1, nrow(x))),
      diagonal_variances = sigma2, n_within = 0
    ))
  }
  terms <- lapply(which(!is_repeated), function(i) {
    as.matrix(Matrix::t(zt[(starts[[i]] + 1):starts[[i + 1]], , drop = FALSE]))
  })
  sds <- relative_sds(model)
  variances <- unname(sigma2 * ifelse(sds < singular_below, 0, sds)^2)
  parts <- list(
    x = x, terms = terms, variances = variances[!is_repeated], diagonals = list(rep(1, nrow(x))),
    diagonal_variances = sigma2, n_within = 0
  )
  if (!any(is_repeated)) {
    return(parts)
  }
  codes <- as.integer(lme4::getME(model, "flist")[[repeated]])
  first <- match(seq_len(max(codes)), codes)
  n <- tabulate(codes)
  as_means <- function(rows) sqrt(n) * rows[first, , drop = FALSE]
  parts$x <- as_means(x)
  parts$terms <- lapply(terms, as_means)
  parts$diagonals <- list(as.double(n), rep(1, length(n)))
  parts$diagonal_variances <- c(variances[is_repeated], sigma2)
  parts$n_within <- nrow(x) - length(n)
  parts
}

# V^-1 = diag(1 / lambda) - F F', with F of rows by random effects: `apply` gives V^-1 times some columns.
inverse_of_variance <- function(parts) {
  lambda <- Reduce(`+`, Map(`*`, parts$diagonals, parts$diagonal_variances))
  scaled <- parts$scaled
  if (is.null(scaled)) {
    scaled <- do.call(cbind, Map(function(z, variance) z * sqrt(variance), parts$terms, parts$variances))
  }
  root <- chol(diag(ncol(scaled)) + crossprod(scaled, scaled / lambda))
  f <- t(backsolve(root, t(scaled / lambda), transpose = TRUE))
  list(lambda = lambda, f = f, apply = function(columns) columns / lambda - f %*% crossprod(f, columns))
}

# tr(V^-1 G_i V^-1 G_j) of all pairs of components, as a matrix.
traces_of_pairs <- function(parts, inverse) {
  v_terms <- lapply(parts$terms, inverse$apply)
  n_terms <- length(parts$terms)
  n <- n_terms + length(parts$diagonals)
  of_diagonals <- function(a, b) {
    both <- a * b * (inverse$lambda^-2 - 2 * rowSums(inverse$f^2) / inverse$lambda)
    sum(both) + sum(crossprod(inverse$f, a * inverse$f) * crossprod(inverse$f, b * inverse$f))
  }
  traces <- matrix(0, n, n)
  for (i in seq_len(n)) {
    for (j in seq_len(i)) {
      traces[i, j] <- traces[j, i] <- if (i <= n_terms) {
        sum(crossprod(parts$terms[[i]], v_terms[[j]])^2)
      } else if (j <= n_terms) {
        sum(parts$diagonals[[i - n_terms]] * v_terms[[j]]^2)
      } else {
        of_diagonals(parts$diagonals[[i - n_terms]], parts$diagonals[[j - n_terms]])
      }
    }
  }
  traces[n, n] <- traces[n, n] + parts$n_within / parts$diagonal_variances[[n - n_terms]]^2
  traces
}

# Degrees of freedom of a linear mixed model that tests what varies between clusters: gender over names, (1 | name), or
# what has a slope by template. Satterthwaite's method forgets a variance that was estimated as 0, and gives a gender
# over 12 names the degrees of freedom of the answers (515); Kenward and Roger's keeps it, and gives 10. What varies
# within clusters alone keeps lmerTest's, as papers print them: the two agree there.

# By coefficient, the most degrees of freedom that its clusters leave: their number, less that of the coefficients that
# are the same within clusters; of a slope by cluster, their number less 1. Inf where all clusters have all of it.
most_df <- function(model) {
  x <- stats::model.matrix(model)
  constant <- matrix(vapply(lme4::getME(model, "flist"), constant_columns, logical(ncol(x)), x = x), ncol(x))
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
