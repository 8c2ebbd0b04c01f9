#' Do two measures of the same models agree?
#'
#' Sets two measures next to each other over units (a model and test each): Pearson's and Spearman's correlation, as the
#' RM-IAT's authors have them, and correlations of the true values, which take the errors of both measures into account.
#' A measure with a standard error is noisier than what it measures, so that the plain correlation is too small
#' (attenuated), the more so the larger the errors are.
#'
#' Units depend on each other: those of one model share what the model is like, those of one test what the test is like.
#' Both measures are modelled together, each true value as a mean and normal effects of model, of test, and of the cell;
#' the two measures' effects correlate at each level. The correlations are those of the three levels (do models that are
#' high in one measure tend to be high in the other, over all tests? do tests? and within a cell, beyond both?) and of
#' all three together (`"corrected"`). Estimates are of moments (Henderson's method 3, in a complete table those of a
#' two-way analysis of variance); intervals are fiducial: covariances are drawn by pivots from their distributions given
#' the sums of squares, and a level that varies no more than what lies below it explains may have any correlation.
#'
#' p values are of permutations: models of one measure change places with each other, and so do tests, so that each
#' measure keeps what units share and nothing but their relation is lost. They ask whether the two measures have
#' anything to do with each other, by the plain correlation or that of the sums of squares of a level.
#'
#' @param data a data frame with one row per unit: `model`, `test`, the two measures `x` and `y`, and their standard
#'   errors `x_error` and `y_error` (0 or more, in the same units). Errors are independent of each other.
#' @param by names of the columns that define what is compared apart: a pair of measures, say.
#' @param alpha 1 minus the level of the intervals.
#' @return A data frame: the columns `by`, then `row`, `left_out`, `estimate`, `conf_low`, `conf_high`, `p_value`, `n`
#'   (units), `n_models`, `n_tests`, `status`, `messages`. `row` is `"pearson"`, `"spearman"`, `"corrected"`,
#'   `"between_models"`, `"between_tests"`, `"within_cells"` (each where models and tests are crossed, so that it can be
#'   distinguished), `"slope"` (of one unit a model: the regression of the true y on the true x); and,
#'   without the model `left_out`, `"pearson_without"` and `"corrected_without"`. Plain ones
#'   have no interval: Fisher's is of units that are independent. With fewer than five models no row has one (with fewer
#'   than five tests, `"between_tests"` has none either), and a message says so. p values are of 1,999 permutations, of
#'   the tests that all models have (or the models that have all tests, if those are more units); `NA` where there are
#'   too few. Fewer than four units, or a measure that does not vary, fail; fewer than ten are warned of, and so is a
#'   level at which a measure varies no more than errors explain: it has no correlation.
#' @source Berger & Sun (2008), Objective priors for the bivariate normal model, Annals of Statistics 36, 963-982
#'   (the pivots, exact for one level); Weerahandi (1993), Generalized confidence intervals, JASA 88, 899-905 (for their
#'   differences); Krackhardt (1988), Predicting with networks, Social Networks 10, 359-381 (rows and columns permuted
#'   together); Bai et al. (2025) and Lee & Lai (2025).
#' @seealso [plot_validity()]
#' @export
#' @examples
#' set.seed(1)
#' cells <- expand.grid(test = 1:10, model = c("a", "b", "c", "d", "e"))
#' true <- stats::rnorm(50)
#' units <- data.frame(cells, x = true + stats::rnorm(50, sd = .3), y = true +
#'   stats::rnorm(50, sd = .3))
#' units[c("x_error", "y_error")] <- .3
#' convergent_validity(units)[1:6, c("row", "estimate", "conf_low", "conf_high", "p_value")]
convergent_validity <- function(data, by = NULL, alpha = .05) {
  check_arguments()
  empty <- columns_of("row:text left_out:text estimate conf_low conf_high p_value n:whole n_models:whole n_tests:whole")
  columns <- c("model", "test", "x", "x_error", "y", "y_error")
  check_each_group(data, by, columns, empty, function(rows) validity_of(rows[columns], alpha))
}

validity_of <- function(units, alpha) {
  units$model <- as.character(units$model)
  if (anyDuplicated(units[c("model", "test")]) > 0) {
    stop_with("Can't correlate: a model has more than one row for a test.", "Name what they differ by in `by`.")
  }
  if (any(units$x_error < 0 | units$y_error < 0)) stop_with("Can't correlate: a standard error is below 0.")
  if (nrow(units) < 4) {
    stop_with(sprintf("Can't correlate %s: at least four are needed.", counted(nrow(units), "unit")))
  }
  if (!varies(units$x) || !varies(units$y)) stop_with("Can't correlate: a measure is the same in all units.")
  if (nrow(units) < 10) {
    warning(sprintf("There are only %s: their correlation is very uncertain.", counted(nrow(units), "unit")),
      call. = FALSE
    )
  }
  models <- unique(units$model)
  if (length(models) < fewest_for_interval) {
    message(sprintf(
      "There are only %s, and so no intervals: they take %d.", counted(length(models), "model"), fewest_for_interval
    ))
  }
  left_out <- if (length(models) > 2) models else character()
  parts <- lapply(left_out, function(model) {
    rest <- units[units$model != model, ]
    if (nrow(rest) < 4 || !varies(rest$x) || !varies(rest$y)) {
      return(NULL)
    }
    corrected <- suppressWarnings(level_correlations(rest, alpha))["corrected", ]
    rbind(
      validity_row("pearson_without", rest, c(stats::cor(rest$x, rest$y), NA, NA), NA, model),
      validity_row("corrected_without", rest, corrected, NA, model)
    )
  })
  p_values <- permutation_p_values(units)
  levels <- level_correlations(units, alpha)
  rows <- lapply(rownames(levels), function(row) validity_row(row, units, levels[row, ], p_values[[row]]))
  plain <- lapply(c("pearson", "spearman"), function(method) {
    validity_row(method, units, c(stats::cor(units$x, units$y, method = method), NA, NA), p_values[[method]])
  })
  do.call(rbind, c(plain, rows, parts))
}

# Models, or tests, whose correlation has an interval.
fewest_for_interval <- 5

varies <- function(values) length(unique(values)) > 1

validity_row <- function(row, units, values, p_value, left_out = NA_character_) {
  data.frame(
    row = row, left_out = left_out, estimate = values[[1]], conf_low = values[[2]], conf_high = values[[3]],
    p_value = p_value, n = nrow(units), n_models = length(unique(units$model)),
    n_tests = length(unique(units$test))
  )
}

# What the sums of squares of units are made of: for each level, from the cells up, `residuals_of(values)`, the sums of
# squares of a level as differences of those of residuals; `df`; `per_level`, by what the covariance of the level is
# multiplied in its mean squares. A level that can't be separated from the cells (each test is asked of one model only)
# is part of them; with one model, or one test, there is none of it.
unit_levels <- function(units) {
  n <- nrow(units)
  n_of <- vapply(c(models = "model", tests = "test"), function(name) length(unique(units[[name]])), 1L)
  dummies <- lapply(c(models = "model", tests = "test"), function(name) {
    outer(as.character(units[[name]]), unique(as.character(units[[name]])), `==`) + 0
  })
  design <- function(names) qr(do.call(cbind, c(list(rep(1, n)), dummies[names])))
  crossed <- names(n_of)[n_of > 1 & n_of < n]
  full <- design(crossed)
  if (n - full$rank < 2) {
    crossed <- utils::head(names(sort(n_of[crossed])), 1)
    full <- design(crossed)
  }
  without <- lapply(stats::setNames(crossed, crossed), function(name) design(setdiff(crossed, name)))
  df <- vapply(without, function(rest) full$rank - rest$rank, 1L)
  per_level <- vapply(crossed, function(name) sum(qr.resid(without[[name]], dummies[[name]])^2) / df[[name]], 1)
  list(full = full, without = without, df = df, per_level = per_level, df_cells = n - full$rank)
}

rows_of_levels <- c(models = "between_models", tests = "between_tests", cells = "within_cells")

# A matrix with a row for "corrected" and each level: estimate and ends of the interval.
level_correlations <- function(units, alpha, n_draws = 4000) {
  spread <- c(stats::sd(units$x), stats::sd(units$y))
  levels <- unit_levels(units)
  values <- sweep(as.matrix(units[c("x", "y")]), 2, spread, "/")
  products <- list(cells = crossprod(qr.resid(levels$full, values)))
  products <- c(products, lapply(levels$without, function(rest) crossprod(qr.resid(rest, values)) - products$cells))
  errors <- colMeans(units[c("x_error", "y_error")]^2) / spread^2
  parts <- names(products)
  df <- c(cells = levels$df_cells, levels$df)
  found <- true_covariances(Map(function(product, n) {
    matrix(c(product[1, 1], product[1, 2], product[2, 2]) / n, 1)
  }, products, df), levels, errors)
  drawn <- true_covariances(with_seed(1, Map(drawn_covariances, products, df, n_draws)), levels, errors)
  n_models <- length(unique(units$model))
  n_tests <- length(unique(units$test))
  intervals <- n_models >= fewest_for_interval & (parts != "tests" | n_tests >= fewest_for_interval)
  row_of <- function(found, drawn, has_interval, level) {
    estimate <- correlation_of(found)
    if (is.na(estimate)) {
      what <- paste(c("x", "y")[found[1, c(1, 3)] <= 0], collapse = " and ")
      warning(sprintf("The measure %s varies no more %s than its errors explain: it has no corrected correlation.",
        what, level
      ), call. = FALSE)
    }
    if (!has_interval) {
      return(c(estimate, NA, NA))
    }
    # No variance of its own: any correlation.
    of_draws <- correlation_of(drawn)
    unknown <- is.na(of_draws)
    of_draws[unknown] <- seq(-1, 1, length.out = sum(unknown))
    c(estimate, stats::quantile(of_draws, c(alpha / 2, 1 - alpha / 2), names = FALSE))
  }
  words <- c(cells = "within cells", models = "between models", tests = "between tests")
  whole <- row_of(Reduce(`+`, found), Reduce(`+`, drawn), all(intervals[parts != "tests"]), "over units")
  if (length(parts) == 1) {
    slope <- slope_of(found$cells, drawn$cells, intervals[[1]], alpha) * spread[[2]] / spread[[1]]
    return(rbind(corrected = whole, slope = slope))
  }
  apart <- Map(row_of, found, drawn, intervals, words[parts])
  names(apart) <- rows_of_levels[parts]
  do.call(rbind, c(list(corrected = whole), apart[intersect(rows_of_levels, names(apart))]))
}

# Covariances of true values at each level from those of the mean squares: matrices of a draw a row, and the columns
# variance of x, covariance, variance of y.
true_covariances <- function(squares, levels, errors) {
  cells <- squares$cells
  above <- lapply(stats::setNames(nm = names(levels$df)), function(name) {
    (squares[[name]] - cells) / levels$per_level[[name]]
  })
  c(list(cells = sweep(cells, 2, c(errors[[1]], 0, errors[[2]]))), above)
}

# The regression of the true y on the true x: by how much y is higher where x is higher by 1. Where x may have no
# variance of its own, it may be anything.
slope_of <- function(found, drawn, has_interval, alpha) {
  estimate <- if (found[1, 1] > 0) found[1, 2] / found[1, 1] else NA
  if (!has_interval || is.na(estimate)) {
    return(c(estimate, NA, NA))
  }
  slopes <- drawn[, 2] / drawn[, 1]
  unknown <- drawn[, 1] <= 0
  slopes[unknown] <- rep_len(c(-Inf, Inf), sum(unknown))
  c(estimate, stats::quantile(slopes, c(alpha / 2, 1 - alpha / 2), names = FALSE, type = 1))
}

correlation_of <- function(covariances) {
  is_there <- covariances[, 1] > 0 & covariances[, 3] > 0
  variance <- ifelse(is_there, covariances[, 1] * covariances[, 3], NA)
  pmin(pmax(covariances[, 2] / sqrt(variance), -1), 1)
}

# Covariances that may have given these products: C = L U^-1, with L the root of the products and U that of a standard
# Wishart matrix (Bartlett's decomposition).
drawn_covariances <- function(products, df, n_draws) {
  l11 <- sqrt(products[1, 1])
  l21 <- if (l11 > 0) products[1, 2] / l11 else 0
  l22 <- sqrt(max(0, products[2, 2] - l21^2))
  u11 <- sqrt(stats::rchisq(n_draws, df))
  u22 <- sqrt(stats::rchisq(n_draws, max(df - 1, .5)))
  u21 <- stats::rnorm(n_draws)
  c11 <- l11 / u11
  c22 <- l22 / u22
  c21 <- l21 / u11 - l22 * u21 / (u11 * u22)
  cbind(c11^2, c11 * c21, c21^2 + c22^2)
}

n_permutations_of_units <- 1999

# By row: how often models and tests of x that changed places give a correlation as large.
permutation_p_values <- function(units) {
  rows <- c("pearson", "spearman", "corrected", "slope", unname(rows_of_levels))
  unknown <- stats::setNames(rep(NA_real_, length(rows)), rows)
  units$test <- as.character(units$test)
  counts <- table(units$model, units$test)
  of_tests <- units[units$test %in% colnames(counts)[colSums(counts) == nrow(counts)], ]
  of_models <- units[units$model %in% rownames(counts)[rowSums(counts) == ncol(counts)], ]
  block <- if (nrow(of_models) > nrow(of_tests)) of_models else of_tests
  block <- block[order(block$model, block$test), ]
  if (nrow(block) < 4 || !varies(block$x) || !varies(block$y)) {
    return(unknown)
  }
  n_models <- length(unique(block$model))
  n_tests <- length(unique(block$test))
  if (lfactorial(n_models) + lfactorial(n_tests) < log(20)) {
    return(unknown)
  }
  x <- matrix(block$x, n_tests)
  permuted <- with_seed(1, vapply(seq_len(n_permutations_of_units), function(i) {
    as.vector(x[sample.int(n_tests), sample.int(n_models)])
  }, block$x))
  values <- cbind(block$x, permuted)
  p_of <- function(correlations) {
    size <- abs(correlations)
    mean(size >= size[[1]] - 1e-9)
  }
  levels <- unit_levels(block)
  of_residuals <- function(decomposition) {
    left <- qr.resid(decomposition, values)
    right <- qr.resid(decomposition, block$y)
    list(xy = colSums(left * right), xx = colSums(left^2), yy = sum(right^2))
  }
  cells <- of_residuals(levels$full)
  above <- lapply(lapply(levels$without, of_residuals), function(rest) Map(`-`, rest, cells))
  parts <- c(list(cells = cells), above)
  names(parts) <- rows_of_levels[names(parts)]
  is_there <- vapply(parts, function(part) all(part$xx > 1e-12) && part$yy > 1e-12, NA)
  of_levels <- lapply(parts[is_there], function(part) part$xy / sqrt(part$xx * part$yy))
  unknown[names(of_levels)] <- vapply(of_levels, p_of, 1)
  unknown[["pearson"]] <- unknown[["corrected"]] <- p_of(stats::cor(values, block$y))
  unknown[["spearman"]] <- p_of(stats::cor(apply(values, 2, rank), rank(block$y)))
  unknown
}
