some_counts <- function(n_games, n_groups, n_classes, most = 6) {
  counts <- array(sample(0:most, n_games * n_groups * n_classes, TRUE), c(n_games, n_groups, n_classes))
  counts[, 1, 1] <- pmax(counts[, 1, 1], 1) # no game without a round
  counts
}

indices_of <- function(counts, ...) {
  weighted_indices(measured_games(counts, ...), equal_weights(dim(counts)[[1]]))[1, ]
}

divergence_of <- function(a, b) {
  bits <- function(p) -sum(p[p > 0] * log2(p[p > 0]))
  max(bits((a + b) / 2) - (bits(a) + bits(b)) / 2, 0) * log(2)
}

# Each draws a number of groups and classes anew.
for_any_counts <- function(test, times = 25) {
  withr::local_seed(20)
  for (time in seq_len(times)) {
    test(some_counts(sample(1:6, 1), sample(1:5, 1), sample(1:5, 1)))
  }
}

test_that("every index lies within its bounds", {
  for_any_counts(function(counts) {
    n <- dim(counts)
    highest <- c(log2(n[[3]]), sqrt(log(2)), sqrt(log(2)), log2(min(n[2:3])), 1, 1)
    found <- indices_of(counts)
    expect_true(all(is.na(found) | (found >= 0 & found <= highest + 1e-12)))
  })
})

test_that("names and places of groups, classes and games do not matter", {
  for_any_counts(function(counts) {
    n <- dim(counts)
    turned <- counts[sample(n[[1]]), sample(n[[2]]), sample(n[[3]]), drop = FALSE]
    expect_equal(indices_of(turned), indices_of(counts), tolerance = 1e-7)
    # renamed in one game alone: what is within games stays
    counts[1, , ] <- counts[1, sample(n[[2]]), ]
    within <- !startsWith(index_names, "gasi")
    expect_equal(indices_of(counts)[within], indices_of(turned)[within], tolerance = 1e-7)
  })
})

test_that("a cell's index within games is the mean over its games, and so over parts of it", {
  for_any_counts(function(counts) {
    first <- seq_len(dim(counts)[[1]]) <= 2
    part <- function(which) indices_of(counts[which, , , drop = FALSE])[c("si", "mutual_information_bits")]
    if (!all(first)) {
      weights <- c(sum(first), sum(!first))
      whole <- (part(first) * weights[[1]] + part(!first) * weights[[2]]) / sum(weights)
      expect_equal(part(rep(TRUE, length(first))), whole)
    }
  })
})

test_that("the information of two classes taken as one is less by what tells them apart", {
  for_any_counts(function(counts) {
    if (dim(counts)[[3]] > 1) {
      merged <- counts[, , -1, drop = FALSE]
      merged[, , 1] <- counts[, , 1] + counts[, , 2]
      apart <- counts[, , 1:2, drop = FALSE]
      share <- rowSums(apart) / rowSums(counts)
      inside <- ifelse(share > 0, information_bits(apart), 0)
      expect_equal(information_bits(counts), information_bits(merged) + share * inside)
    }
  })
})

test_that("of games with no group and no class in common, pooled, information adds up to that of telling them apart", {
  withr::local_seed(4)
  one <- matrix(sample(1:6, 6), 2)
  other <- matrix(sample(1:12, 12), 3)
  pooled <- rbind(cbind(one, matrix(0, 2, 4)), cbind(matrix(0, 3, 3), other))
  of <- function(counts) indices_of(array(counts, c(1, dim(counts))))[["mutual_information_bits"]]
  share <- c(sum(one), sum(other)) / sum(pooled)
  expect_equal(of(pooled), sum(plogp(share)) + share[[1]] * of(one) + share[[2]] * of(other))
})

test_that("GASI is the mean over pairs of games, whatever distributions they share", {
  for_any_counts(function(counts) {
    shares <- counts / c(apply(counts, 1:2, sum))
    of_group <- vapply(seq_len(dim(counts)[[2]]), function(g) {
      p <- matrix(shares[, g, ], nrow = dim(counts)[[1]])
      p <- p[!is.nan(p[, 1]), , drop = FALSE]
      apart <- function(k) sqrt(divergence_of(p[k[[1]], ], p[k[[2]], ]))
      if (nrow(p) < 2) NA_real_ else mean(utils::combn(nrow(p), 2, apart))
    }, 1)
    wanted <- mean(of_group, na.rm = TRUE)
    expect_equal(indices_of(counts)[["gasi"]], if (is.nan(wanted)) NA_real_ else wanted, tolerance = 1e-6)
  })
})

test_that("a game that counts twice is two games, but makes no pair with itself", {
  withr::local_seed(3)
  counts <- some_counts(4, 3, 3) + 1
  twice <- counts[c(1, 1, 2, 3, 4), , , drop = FALSE]
  found <- weighted_indices(measured_games(counts), rbind(c(2, 1, 1, 1)))[1, ]
  within <- !startsWith(index_names, "gasi")
  expect_equal(found[within], indices_of(twice)[within])
  n_pairs <- choose(5, 2)
  expect_equal(found[["gasi"]] * (n_pairs - 1), indices_of(twice)[["gasi"]] * n_pairs)
})

test_that("draws some at a time are the draws all at once", {
  draw <- function() stats::runif(2)
  at_once <- with_seed(1, measured_draws(5, 1, draw, function(weights) weights))
  expect_equal(with_seed(1, measured_draws(5, 1e6, draw, function(weights) weights)), at_once)
  expect_equal(dim(at_once), c(5, 2))
})
