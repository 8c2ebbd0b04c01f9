# Standard errors and degrees of freedom over words and wordings of models without random effects, from how each row
# moves the estimates: sandwich estimators, clustered in one or two ways.
#
# In one way, with G clusters: G / (G - 1) times the sum over clusters of the squared sum of changes (Liang & Zeger
# 1986,
# with the usual correction). In two ways: that of the first, plus that of the second, less that of what they share
# (Cameron, Gelbach & Miller 2011), and at least the larger of the two. Degrees of freedom are capped_df().

# `changes`: a matrix, a row a row of the data and a column a coefficient: the change of the estimate that the row
# makes.
# `clusters`: a list of one or two vectors of the same length. One row a coefficient: `std_error`, `df`.
clustered_error <- function(changes, clusters) {
  variance_of <- function(codes) {
    n <- length(unique(codes))
    n / (n - 1) * colSums(rowsum(changes, codes)^2)
  }
  alone <- vapply(clusters, variance_of, double(ncol(changes)))
  alone <- matrix(alone, ncol(changes))
  variance <- alone[, 1]
  if (length(clusters) == 2) {
    shared <- variance_of(paste(clusters[[1]], clusters[[2]], sep = "\037"))
    variance <- pmax(rowSums(alone) - shared, alone[, 1], alone[, 2])
  }
  frame_of(
    std_error = sqrt(variance),
    df = rep(capped_df(vapply(clusters, function(codes) length(unique(codes)), 1L)), ncol(changes))
  )
}

# The clusters of the rows by these names ("item", or "group:item"), without those of which there are fewer than three,
# which say nothing of others; a message names them. `to`: ends "Can't …".
clusters_of <- function(rows, names, to) {
  codes <- lapply(stats::setNames(names, names), function(name) {
    columns <- strsplit(name, ":", fixed = TRUE)[[1]]
    group_codes(rows, columns)
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
    warning(sprintf(
      paste(
        "%d clusters (\"%s\") are fewer than %d: standard errors over them (%s) are too small.",
        "A random effect of %s: %s."
      ),
      n_clusters, names(clusters), fewest_clusters, regression$clustered_as, names(clusters), regression$mixed
    ), call. = FALSE)
    return(FALSE)
  }
  reason <- if (max(table(clusters[[1]])) > largest_cluster) {
    sprintf("some have more than %s rows, which takes too long", format(largest_cluster, big.mark = ","))
  } else if (!suppressMessages(requireNamespace("clubSandwich", quietly = TRUE))) { # it tells of methods of sandwich
    "the R package \"clubSandwich\" is not installed"
  }
  if (!is.null(reason)) {
    warning(sprintf(
      "%d clusters (\"%s\") are fewer than %d: standard errors over them (%s) are too small. CR2 would hold: %s.",
      n_clusters, names(clusters), fewest_clusters, regression$clustered_as, reason
    ), call. = FALSE)
  }
  is.null(reason)
}

# One row a coefficient: `std_error`, `df`, `method`.
reduced_bias_error <- function(model, codes) {
  found <- clubSandwich::coef_test(model, vcov = "CR2", cluster = codes, test = "Satterthwaite")
  frame_of(std_error = found$SE, df = found$df_Satt, method = rep("CR2", nrow(found)))
}
