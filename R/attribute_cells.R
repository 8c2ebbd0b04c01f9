# What marginal_means(), impact_ratio(), amce() and amie() share: attributes as factors, means of cells with the
# covariance of all of them, and least squares on cells, from sparse matrices: a million profiles take seconds.
#
# Each row changes an estimate by some amount; the sums of these changes within clusters give the covariance
# (Liang & Zeger 1986), times G / (G - 1) with G clusters. Without `cluster` each row is a cluster.

fewest_clusters <- 40L

# The rows of a group as the functions need them: list(y, factors, weights, cluster), or a sentence.
attribute_rows <- function(rows, outcome, attributes, cluster, weights, levels) {
  check_outcome(rows, outcome)
  factors <- lapply(stats::setNames(attributes, attributes), function(name) {
    values <- as.character(rows[[name]])
    present <- unique(values)
    known <- as.character(unlist(levels[[name]]))
    if (length(known) == 0) known <- if (is.factor(rows[[name]])) base::levels(rows[[name]]) else sort(present)
    if (length(unknown <- setdiff(present, known)) > 0) {
      stop_with(sprintf("`levels` of \"%s\" lacks values that are in the rows: %s.", name, quoted(unknown)))
    }
    factor(values, base::intersect(known, present))
  })
  constant <- vapply(factors, nlevels, 1L) < 2
  if (any(constant)) {
    stop_with(sprintf("Can't compare levels of %s: it has one level here.", quoted(attributes[constant])))
  }
  used <- if (is.null(weights)) rep(1, nrow(rows)) else as.double(rows[[weights]])
  if (any(used < 0) || sum(used) == 0) stop_with(sprintf("Weights (\"%s\") must be 0 or more, and not all 0.", weights))
  codes <- if (is.null(cluster)) seq_len(nrow(rows)) else match(rows[[cluster]], unique(rows[[cluster]]))
  if (length(nested <- levels_of_one_cluster(factors, codes)) > 0) {
    warning(sprintf(
      paste(
        "All rows of a level of %s are in one cluster (\"%s\"), which says nothing of others: standard errors take",
        "rows as independent, and are of these levels alone."
      ),
      quoted(nested), cluster
    ), call. = FALSE)
    codes <- seq_len(nrow(rows))
    cluster <- NULL
  }
  n <- max(codes)
  if (n < 2) stop_with(sprintf("Can't compute standard errors over \"%s\": it has one value.", cluster))
  if (n < fewest_clusters && !is.null(cluster)) {
    warning(sprintf(
      "%d clusters (\"%s\") are fewer than %d: intervals are too narrow. Show more of them, or fit lme4 with (1 | %s).",
      n, cluster, fewest_clusters, cluster
    ), call. = FALSE)
  }
  list(y = as.double(rows[[outcome]]), factors = factors, weights = used, cluster = codes)
}

# The factors with a level all of whose rows are in one of several clusters: its mean would have a standard error of 0.
levels_of_one_cluster <- function(factors, codes) {
  if (max(codes) < 2 || max(codes) == length(codes)) {
    return(character())
  }
  is_nested <- vapply(factors, function(values) {
    level <- as.integer(values)
    first <- codes[match(seq_len(nlevels(values)), level)]
    any(tabulate(level[codes != first[level]], nlevels(values)) == 0)
  }, NA)
  names(factors)[is_nested]
}

# Sums of the rows of a (sparse) matrix of changes within clusters, and their covariance.
clustered_covariance <- function(changes, cluster) {
  n <- max(cluster)
  member <- Matrix::sparseMatrix(seq_along(cluster), cluster, x = 1, dims = c(length(cluster), n))
  sums <- Matrix::crossprod(member, changes)
  as.matrix(Matrix::crossprod(sums)) * n / (n - 1)
}

# Means of the outcome in the levels of a factor: list(mean, covariance, n). A sparse matrix adds up what has the same
# place, so that its cells are the sums of changes within clusters.
cell_means <- function(cells, rows) {
  code <- as.integer(cells)
  n <- tabulate(cells, nlevels(cells))
  sums <- matrix(0, nlevels(cells), 2)
  sums[n > 0, ] <- rowsum(cbind(rows$weights, rows$weights * rows$y), code)
  total <- sums[, 1]
  if (any(total == 0)) stop_with(sprintf("Weights of %s are all 0.", quoted(levels(cells)[total == 0])))
  mean <- sums[, 2] / total
  changes <- Matrix::sparseMatrix(
    rows$cluster, code,
    x = rows$weights * (rows$y - mean[code]) / total[code], dims = c(max(rows$cluster), nlevels(cells))
  )
  n_clusters <- nrow(changes)
  covariance <- as.matrix(Matrix::crossprod(changes)) * n_clusters / (n_clusters - 1)
  list(mean = mean, covariance = covariance, n = n)
}

# Weighted least squares on an intercept and factors, each without its first level; clusters as vcovCL(type = "HC1",
# cadjust = TRUE) of sandwich. list(estimates, covariance), named "block\037level".
cell_regression <- function(blocks, rows) {
  n <- length(rows$y)
  n_levels <- vapply(blocks, nlevels, 1L)
  starts <- 1 + cumsum(c(0L, n_levels[-length(n_levels)] - 1L))
  columns <- unlist(Map(function(block, start) {
    code <- as.integer(block) - 1L
    ifelse(code == 0L, 0L, code + as.integer(start))
  }, blocks, starts), use.names = FALSE)
  names <- c("(Intercept)", unlist(Map(
    function(name, block) paste(name, levels(block)[-1], sep = "\037"), names(blocks), blocks
  ), use.names = FALSE))
  is_set <- columns > 0
  x <- Matrix::sparseMatrix(
    c(seq_len(n), rep(seq_len(n), length(blocks))[is_set]), c(rep(1L, n), columns[is_set]),
    x = 1, dims = c(n, length(names))
  )
  weighted <- Matrix::Diagonal(x = rows$weights) %*% x
  normal <- as.matrix(Matrix::crossprod(x, weighted))
  scale <- 1 / sqrt(diag(normal))
  decomposed <- qr(normal * outer(scale, scale), tol = 1e-9)
  if (decomposed$rank < ncol(normal)) {
    lost <- sub("\037", ": ", names[decomposed$pivot[-seq_len(decomposed$rank)]])
    stop_with(
      sprintf("Can't tell apart from the other levels: %s.", quoted(lost)),
      "Are two attributes the same, or linked (`linked`) by combinations that were never shown?"
    )
  }
  inverse <- solve(normal)
  estimates <- as.vector(inverse %*% as.vector(Matrix::crossprod(weighted, rows$y)))
  residuals <- rows$y - as.vector(x %*% estimates)
  meat <- clustered_covariance(Matrix::Diagonal(x = residuals) %*% weighted, rows$cluster)
  covariance <- inverse %*% meat %*% inverse * (n - 1) / (n - length(names))
  dimnames(covariance) <- list(names, names)
  list(estimates = stats::setNames(estimates, names), covariance = covariance)
}

# Linear combinations of estimates (a row of `weights` each), with t over clusters less 1.
combined_rows <- function(term, weights, estimates, covariance, n_clusters, is_tested = TRUE) {
  estimate <- as.vector(weights %*% estimates)
  std_error <- sqrt(pmax(0, rowSums((weights %*% covariance) * weights)))
  df <- n_clusters - 1
  statistic <- if (is_tested) estimate / std_error else NA_real_
  estimate_rows(
    term, estimate, std_error, df, statistic, if (is_tested) 2 * stats::pt(-abs(statistic), df) else NA_real_
  )
}

level_terms <- function(name, levels) paste(name, levels, sep = ": ")

# Fits `fit_one(rows)` of attribute_rows() to each group.
fit_attributes <- function(data, outcome, attributes, cluster, weights, levels, by, to, fit_one) {
  check_columns(data, c(outcome, attributes, cluster, weights, by), to)
  slant_fit(fit_each_group(data, by, unique(c(outcome, attributes, cluster, weights)), function(rows) {
    used <- attribute_rows(rows, outcome, attributes, cluster, weights, levels)
    c(fit_one(used), list(fit = list(singular = FALSE, optimiser = to_optimiser(cluster)), variances = NULL))
  }))
}

to_optimiser <- function(cluster) {
  if (is.null(cluster)) "closed form, rows independent" else sprintf("closed form, clusters: %s", cluster)
}
