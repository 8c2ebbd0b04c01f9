# Standard errors and degrees of freedom over words and wordings of models without random effects, from how each row
# moves the estimates: sandwich estimators, clustered in one or two ways.
#
# In one way, with G clusters: G / (G - 1) times the sum over clusters of the squared sum of changes (Liang & Zeger
# 1986, with the usual correction). In two ways: that of the first, plus that of the second, less that of what they
# share (Cameron, Gelbach & Miller 2011), and at least the larger of the two. Degrees of freedom are capped_df().

# `changes`: a matrix, a row a row of the data and a column a coefficient: the change of the estimate that the row
# makes. `clusters`: a list of one or two vectors of the same length. One row a coefficient: `std_error`, `df`.
clustered_error <- function(changes, clusters) {
  variance <- variance_over(clusters, function(codes) {
    n <- length(unique(codes))
    n / (n - 1) * colSums(rowsum(changes, codes)^2)
  })
  frame_of(std_error = sqrt(variance), df = capped_df(vapply(clusters, function(codes) length(unique(codes)), 1L)))
}

variance_over <- function(clusters, variance_of) {
  alone <- lapply(clusters, variance_of)
  if (length(alone) == 1) {
    return(alone[[1]])
  }
  shared <- variance_of(paste(clusters[[1]], clusters[[2]], sep = "\037"))
  pmax(alone[[1]] + alone[[2]] - shared, alone[[1]], alone[[2]])
}

# The clusters of the rows by these names ("item", or "group:item"), without those of which there are fewer than three,
# which say nothing of others; a message names them. `to`: ends "Can't …".
clusters_of <- function(rows, names, to) {
  codes <- lapply(stats::setNames(names, names), function(name) {
    group_codes(rows, strsplit(name, ":", fixed = TRUE)[[1]])
  })
  n <- vapply(codes, function(values) length(unique(values)), 1L)
  is_few <- n < least_to_generalise
  if (all(is_few)) {
    stop_with(
      sprintf("Can't %s: there are fewer than three of %s.", to, quoted(names)),
      "Standard errors over them need three or more."
    )
  }
  for (name in names[is_few]) {
    message(sprintf("Fewer than three of \"%s\" (%d): nothing is said of others than these.", name, n[[name]]))
  }
  codes[!is_few]
}

cluster_columns <- function(names) unique(unlist(strsplit(as.character(names), ":", fixed = TRUE)))

# With few clusters such standard errors are too small. Bias-reduced ones (CR2) with Satterthwaite's degrees of freedom
# hold there (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018), by clubSandwich; its matrices are as large as a
# cluster.
largest_cluster <- 1000L

takes_reduced_bias <- function(clusters, n_clusters, regression) {
  if (length(clusters) != 1 || n_clusters >= fewest_clusters) {
    return(FALSE)
  }
  if (!isTRUE(regression$has_cr2)) {
    mixed <- sprintf("A random effect of %s: %s.", names(clusters), regression$mixed)
    warn_of_small_errors(clusters, n_clusters, regression, mixed)
    return(FALSE)
  }
  reason <- if (max(table(clusters[[1]])) > largest_cluster) {
    sprintf("some have more than %s rows, which takes too long", format(largest_cluster, big.mark = ","))
  } else if (!suppressMessages(requireNamespace("clubSandwich", quietly = TRUE))) { # it tells of methods of sandwich
    "the R package \"clubSandwich\" is not installed"
  }
  if (!is.null(reason)) warn_of_small_errors(clusters, n_clusters, regression, paste0("CR2 would hold: ", reason, "."))
  is.null(reason)
}

warn_of_small_errors <- function(clusters, n_clusters, regression, better) {
  warning(sprintf(
    "%d clusters (\"%s\") are fewer than %d: standard errors over them (%s) are too small. %s",
    n_clusters, names(clusters), fewest_clusters, regression$clustered_as, better
  ), call. = FALSE)
}

# Standard errors and degrees of freedom of contrasts where clusters are few: bias-reduced (CR2) with Satterthwaite's
# degrees of freedom (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018). The numbers of
# clubSandwich::linear_contrast(vcov = "CR2") of the same lm(), whose matrices are as large as a cluster; here none is
# larger than coefficients by coefficients, since a cluster's correction differs from 1 in the space of its predictors
# only, and a cluster needs no more than its cross products.

# `model`: of least_squares(). `contrasts`: a row each, a column a coefficient. One row a contrast: std_error, df.
reduced_bias <- function(model, contrasts, cluster) {
  clusters <- split(seq_along(cluster), cluster)
  bread <- model$bread
  moved <- bread %*% t(contrasts) # how scores move each contrast
  xt <- if (length(model$x) <= 1e7) t(as.matrix(model$x)) else Matrix::t(model$x)
  weights <- if (length(unique(model$weights)) > 1) model$weights
  corrected <- lapply(clusters, function(rows) {
    corrected_cluster(xt[, rows, drop = FALSE], model$residuals[rows], weights[rows], bread, model$meat, moved)
  })
  changes <- vapply(corrected, `[[`, double(ncol(moved)), "change")
  variance <- rowSums(matrix(changes^2, ncol(moved)))
  frame_of(std_error = sqrt(variance), df = satterthwaite(corrected, bread, model$meat, is.null(weights)))
}

# What a cluster adds: `change` of each contrast, and for its degrees of freedom `size` (the square of what its rows
# weigh), `seen` and `weighed` (their products with the predictors, as they are and weighted; a column a contrast).
corrected_cluster <- function(xt, residuals, weights, bread, meat, moved) {
  is_in <- which(rowSums(xt != 0) > 0)
  xt <- as.matrix(xt[is_in, , drop = FALSE])
  both <- if (is.null(weights)) xt else rbind(xt, xt * rep(weights, each = nrow(xt)))
  parts <- eigen(tcrossprod(both), symmetric = TRUE)
  is_large <- parts$values > 1e-12 * max(parts$values)
  root <- sqrt(parts$values[is_large])
  basis <- root * t(parts$vectors[, is_large, drop = FALSE])
  on_basis <- (t(parts$vectors[, is_large, drop = FALSE]) %*% (both %*% residuals)) / root
  seen <- basis[, seq_along(is_in), drop = FALSE]
  weighed <- if (is.null(weights)) seen else basis[, length(is_in) + seq_along(is_in), drop = FALSE]
  own <- bread[is_in, is_in, drop = FALSE]
  left <- diag(length(root)) - if (is.null(weights)) {
    seen %*% own %*% t(seen)
  } else {
    crossed <- seen %*% own %*% t(weighed)
    crossed + t(crossed) - seen %*% (bread %*% meat %*% bread)[is_in, is_in, drop = FALSE] %*% t(seen)
  }
  pull <- inverse_root(left) %*% weighed %*% moved[is_in, , drop = FALSE]
  all <- function(columns) {
    full <- matrix(0, nrow(bread), ncol(moved))
    full[is_in, ] <- columns
    full
  }
  list(
    change = as.vector(crossprod(pull, on_basis)), size = colSums(pull^2),
    seen = all(crossprod(seen, pull)), weighed = all(crossprod(weighed, pull))
  )
}

# The symmetric inverse square root; what a cluster alone decides, such as an intercept of its own, has none and is 0.
inverse_root <- function(matrix) {
  parts <- eigen(matrix, symmetric = TRUE)
  scale <- ifelse(parts$values > 1e-10, 1 / sqrt(pmax(parts$values, 1e-10)), 0)
  parts$vectors %*% (scale * t(parts$vectors))
}

# 2 E(V)^2 / var(V) of each contrast where rows are independent and vary alike: (sum P_gg)^2 / sum P_gh^2 with
# P_gh = size_g [g = h] + f_g' Z f_h, and never a matrix of clusters by clusters.
satterthwaite <- function(corrected, bread, meat, is_alike) {
  vapply(seq_along(corrected[[1]]$size), function(k) {
    part <- function(name) matrix(vapply(corrected, function(one) one[[name]][, k], double(nrow(bread))), nrow(bread))
    size <- vapply(corrected, function(one) one$size[[k]], 1)
    f <- if (is_alike) part("seen") else rbind(part("seen"), part("weighed"))
    z <- if (is_alike) {
      -bread
    } else {
      rbind(cbind(bread %*% meat %*% bread, -bread), cbind(-bread, matrix(0, nrow(bread), nrow(bread))))
    }
    zf <- z %*% f
    own <- colSums(f * zf)
    together <- zf %*% t(f)
    sum(size + own)^2 / (sum(size^2) + 2 * sum(size * own) + sum(together * t(together)))
  }, 1)
}

# Where each cluster has one level of what is compared (jobs of items), the error of clusters' means is pooled over all
# levels: levels of three items each have an error of their own that is 0 by chance too often. Degrees of freedom are
# the clusters less what of the predictors lies between them: of wordings in which each cluster was shown that is
# nothing, or little where answers are missing. NULL where none is left. In units of one answer, `variance_of_one` is at
# least `least`: what independent yes or no would have.
pooled_error <- function(model, contrasts, cluster, least = 0) {
  total <- as.vector(rowsum(model$weights, cluster))
  between <- as.matrix(cluster_sums(model$x * model$weights, cluster)) / sqrt(total)
  df <- round(length(total) - sum(model$bread * crossprod(between)), 6)
  if (df < 1) {
    return(NULL)
  }
  residuals <- as.vector(rowsum(model$weights * model$residuals, cluster)) / sqrt(total)
  variance_of_one <- max(sum(residuals^2) / df, least)
  error <- frame_of(std_error = sqrt(variance_of_one * rowSums((contrasts %*% model$bread) * contrasts)), df = df)
  structure(error, variance = variance_of_one)
}

# Sums of the rows of a (sparse) matrix of changes within clusters.
cluster_sums <- function(changes, cluster) {
  member <- Matrix::sparseMatrix(seq_along(cluster), cluster, x = 1, dims = c(length(cluster), max(cluster)))
  Matrix::crossprod(member, changes)
}

# Clusters in two ways: V1 + V2 - V12 (Cameron, Gelbach & Miller 2011); degrees of freedom of the fewer clusters less 1.
two_way_error <- function(model, contrasts, clusters) {
  both <- group_codes(as.data.frame(clusters), seq_along(clusters))
  of <- lapply(c(clusters, list(both)), function(codes) reduced_bias(model, contrasts, codes)$std_error^2)
  variance <- of[[1]] + of[[2]] - of[[3]]
  is_negative <- !is.na(variance) & variance <= 0
  if (any(is_negative)) {
    message("Clustered in two ways the variance would be negative: the larger one-way variance is used.")
  }
  n <- vapply(clusters, max, 1L)
  if (any(n < 10)) {
    message(sprintf(
      "Clustered in two ways with %d clusters on one side: with fewer than ten, a mixed model (lme4) is better.", min(n)
    ))
  }
  frame_of(std_error = sqrt(ifelse(is_negative, pmax(of[[1]], of[[2]]), variance)), df = as.double(min(n) - 1))
}
