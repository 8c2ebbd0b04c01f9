# What marginal_means(), impact_ratio(), mean_contrasts(), amce() and amie() share: attributes as factors, means of
# cells with the covariance of all of them, and least squares on cells, from sparse matrices: a million profiles take
# seconds.
#
# Where each level was seen in 40 clusters or more, the sums of what rows change within clusters give the covariance
# (Liang & Zeger 1986), times G / (G - 1) with G clusters; where a level was seen in fewer, reduced_bias() does.

# The rows of a group as the functions need them: list(y, factors, weights, cluster, choices, cells), or a sentence.
# `choices`: by attribute, over which clusters its errors are (choose_cluster.R); `cluster`: the codes of the first.
attribute_rows <- function(rows, outcome, attributes, cluster, weights, levels, declared = list()) {
  check_outcome(rows, outcome)
  rows <- weighted_rows(once_per_prompt(rows, outcome, declared$prompt), weights)
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
  if (length(unique(used)) == 1) used[] <- 1
  choices <- Map(function(name, values) choose_cluster(name, values, rows, cluster, declared), attributes, factors)
  cells <- lapply(stats::setNames(declared$cells, declared$cells), function(name) factor(rows[[name]]))
  list(
    y = as.double(rows[[outcome]]), factors = factors, weights = used, cluster = choices[[1]]$codes[[1]],
    choices = choices, cells = cells, properties = declared$properties,
    prompts = if (length(declared$prompt) > 0) group_codes(rows, declared$prompt)
  )
}

# Without rows of weight 0: they tell nothing, and are no clusters.
weighted_rows <- function(rows, weights) {
  if (is.null(weights)) {
    return(rows)
  }
  values <- rows[[weights]]
  if (!is.numeric(values) || any(!is.finite(values) | values < 0) || sum(values) == 0) {
    stop_with(sprintf("Weights (\"%s\") must be finite numbers, 0 or more, and not all 0.", weights))
  }
  rows[values > 0, , drop = FALSE]
}

# The same rows for one attribute, over its clusters.
rows_of <- function(rows, name) {
  rows$name <- name
  rows$choice <- rows$choices[[name]]
  rows$cluster <- rows$choice$codes[[1]]
  rows
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

# Weighted least squares on an intercept and factors, each without its first level: list(estimates, bread, meat, x, y,
# weights, residuals), coefficients named "block\037level".
cell_regression <- function(blocks, rows) {
  n <- length(rows$y)
  n_levels <- vapply(blocks, nlevels, 1L)
  starts <- 1 + cumsum(c(0L, n_levels[-length(n_levels)] - 1L))
  columns <- unlist(Map(function(block, start) {
    code <- as.integer(block) - 1L
    ifelse(code == 0L, 0L, code + as.integer(start))
  }, blocks, starts), use.names = FALSE)
  names <- block_columns(blocks)
  is_set <- columns > 0
  x <- Matrix::sparseMatrix(
    c(seq_len(n), rep(seq_len(n), length(blocks))[is_set]), c(rep(1L, n), columns[is_set]),
    x = 1, dims = c(n, length(names))
  )
  least_squares(x, names, rows)
}

block_columns <- function(blocks) {
  c("(Intercept)", unlist(Map(
    function(name, block) paste(name, levels(block)[-1], sep = "\037"), names(blocks), blocks
  ), use.names = FALSE))
}

# The same without an intercept: the coefficients are the means of the levels of one factor.
level_regression <- function(cells, rows) {
  n <- length(rows$y)
  x <- Matrix::sparseMatrix(seq_len(n), as.integer(cells), x = 1, dims = c(n, nlevels(cells)))
  least_squares(x, levels(cells), rows)
}

least_squares <- function(x, names, rows) {
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
  bread <- solve(normal)
  estimates <- as.vector(bread %*% as.vector(Matrix::crossprod(weighted, rows$y)))
  list(
    estimates = stats::setNames(estimates, names), bread = bread, x = x, y = rows$y, weights = rows$weights,
    meat = as.matrix(Matrix::crossprod(weighted)), residuals = rows$y - as.vector(x %*% estimates)
  )
}

# As vcovCL(type = "HC1", cadjust = TRUE) of sandwich, which has a factor for the number of coefficients (`counts`).
liang_zeger <- function(model, cluster, counts = TRUE) {
  n <- nrow(model$x)
  changes <- Matrix::Diagonal(x = model$residuals * model$weights) %*% model$x
  factor <- (if (counts) (n - 1) / (n - ncol(model$x)) else 1) * max(cluster) / (max(cluster) - 1)
  model$bread %*% as.matrix(Matrix::crossprod(cluster_sums(changes, cluster))) %*% model$bread * factor
}

# Standard errors and degrees of freedom of contrasts of a model over the clusters of an attribute, and how they were
# made: list(error, method). `is_pooled`: over clusters that have one level each, errors are pooled over levels.
contrast_error <- function(model, contrasts, values, choice, correction, is_pooled, counts = TRUE) {
  codes <- choice$codes[[1]]
  n <- max(codes)
  if (correction != "cregg" && length(choice$codes) == 2) {
    return(list(error = two_way_error(model, contrasts, choice$codes), method = "two ways"))
  }
  if (correction == "cregg" || min(clusters_at_levels(values, codes)) >= fewest_clusters) {
    covariance <- liang_zeger(model, codes, counts)
    error <- frame_of(std_error = delta_std_error(contrasts, covariance), df = n - 1)
    return(list(error = error, method = if (correction == "cregg") "cregg" else "HC1"))
  }
  if (is_pooled && is_nested(values, codes)) {
    pooled <- pooled_error(model, contrasts, codes, least_variance(model))
    if (!is.null(pooled)) {
      return(list(error = pooled, method = "pooled"))
    }
  }
  error <- reduced_bias(model, contrasts, codes)
  if (all(model$y %in% 0:1) && is_nested(values, codes)) {
    error$std_error <- pmax(error$std_error, independent_error(model, contrasts))
  }
  list(error = error, method = "CR2")
}

# The standard errors that differences of two sides would have if all answers were independent and both sides alike, for
# three clusters with the rare answer in none have an error of 0. 0 where a contrast has one side only.
independent_error <- function(model, contrasts) {
  moved <- model$bread %*% t(contrasts)
  vapply(seq_len(nrow(contrasts)), function(k) {
    pull <- as.vector(model$x %*% moved[, k]) # residuals' share in the contrast, but for the rows' weights
    alike <- model$residuals + pull * sum(contrasts[k, ] * model$estimates) / sum(contrasts[k, ] * moved[, k])
    side <- factor(sign(pull), c(-1, 1))
    size <- abs(pull) * model$weights
    n <- tapply(size, side, function(own) sum(own)^2 / sum(own^2)) # Kish's
    variance <- tapply(size * alike^2, side, sum) / tapply(size, side, sum)
    if (anyNA(n)) 0 else sqrt(sum(n * variance) / sum(n) * sum(size^2))
  }, 1)
}

# Independent answers of yes or no have this variance; clusters that agree more do so by chance.
least_variance <- function(model) {
  if (!all(model$y %in% 0:1)) {
    return(0)
  }
  share <- sum(model$weights * model$y) / sum(model$weights)
  share * (1 - share)
}

# Rows of estimates of contrasts, with t. An error of 0, or what rounding leaves of it, is none; such an estimate is 0.
rows_of_contrasts <- function(term, contrasts, model, error, is_tested = TRUE) {
  estimate <- as.vector(contrasts %*% model$estimates)
  std_error <- error$std_error
  least <- 1e-10 * max(abs(model$y))
  estimate[!is.na(estimate) & abs(estimate) <= least] <- 0
  std_error[!is.na(std_error) & std_error <= least] <- NA_real_
  df <- ifelse(is.na(std_error), NA_real_, error$df)
  statistic <- if (is_tested) estimate / std_error else rep(NA_real_, length(estimate))
  estimate_rows(
    term, estimate, std_error, df, statistic, if (is_tested) 2 * stats::pt(-abs(statistic), df) else NA_real_
  )
}

# The other columns that were crossed with an attribute, as blocks of a regression: with all their combinations where
# each has all levels of it (so that an interaction of jobs and wordings is no error of names), else one by one.
crossed_blocks <- function(name, rows, others) {
  values <- rows$factors[[name]]
  is_crossed <- vapply(others, function(other) nlevels(other) > 1 && all(table(values, other) > 0), NA)
  others <- others[is_crossed]
  if (length(others) < 2) {
    return(others)
  }
  together <- interaction(others, drop = TRUE, sep = "\037", lex.order = FALSE)
  is_whole <- nlevels(together) <= most_cells && all(table(values, together) > 0) &&
    nlevels(together) + nlevels(values) < length(values)
  if (is_whole) list(cells = together) else independent_blocks(others)
}

most_cells <- 150

# Without those that are the same as others before them.
independent_blocks <- function(others) {
  kept <- list()
  for (name in names(others)) {
    is_told <- vapply(kept, function(one) {
      n_pairs <- nrow(unique(data.frame(as.integer(one), as.integer(others[[name]]))))
      n_pairs <= max(nlevels(one), nlevels(others[[name]]))
    }, NA)
    if (!any(is_told)) kept[[name]] <- others[[name]]
  }
  kept
}

# What was crossed with an attribute: the cells that the study declares, else the other attributes.
others_of <- function(name, rows, partner = NULL) {
  others <- if (length(rows$cells) > 0) rows$cells else rows$factors
  others[setdiff(names(others), c(name, partner, rows$properties[[name]]))]
}

level_terms <- function(name, levels) paste(name, levels, sep = ": ")

# Which clusters, how many at the level with the fewest, and how their error was computed: columns of a table.
about_clusters <- function(n, values, choice, method) {
  frame_of(
    clusters = rep(paste(choice$columns, collapse = " and "), n),
    n_clusters = rep(min(clusters_at_levels(values, choice$codes[[1]])), n), method = rep(method, n)
  )
}

# Fits `fit_one(rows)` of attribute_rows() to each group.
fit_attributes <- function(data, outcome, attributes, cluster, weights, levels, by, to, fit_one, declared = list()) {
  told <- declare_trials(data, cluster, declared)
  cluster <- told$cluster
  declared <- told$declared
  needed <- c(unlist(declared, use.names = FALSE), cluster_columns(cluster))
  check_columns(data, unique(c(outcome, attributes, needed, weights, by)), to)
  columns <- unique(c(outcome, attributes, needed, weights))
  slant_fit(fit_each_group(data, by, columns, function(rows) {
    used <- attribute_rows(rows, outcome, attributes, cluster, weights, levels, declared)
    c(fit_one(used), list(
      fit = list(singular = FALSE, optimiser = sprintf("closed form, clusters: %s", clusters_in_words(used$choices)))
    ))
  }))
}

checked_declaration <- function(declared) {
  Filter(function(one) length(one) > 0, list(
    properties = as.list(declared$properties), cells = as.character(unlist(declared$cells)),
    prompt = as.character(unlist(declared$prompt)), cluster = as.character(unlist(declared$cluster))
  ))
}
