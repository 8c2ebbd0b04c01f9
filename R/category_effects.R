# What a level of a factor does to each point of a scale: in place of log odds, which few people read, the difference
# in the probability of the point, averaged over the rows as they are otherwise.

# `covariance`: of the coefficients over clusters, or NULL for independent rows. One row a level and point.
category_effects <- function(model, rows, covariance = NULL) {
  if (is.null(covariance)) covariance <- stats::vcov(model)
  terms <- stats::delete.response(stats::terms(model))
  factors <- Filter(function(name) is.factor(rows[[name]]), all.vars(terms))
  parts <- lapply(factors, function(name) {
    listed <- levels(rows[[name]])
    of_level <- lapply(listed, function(level) {
      rows[[name]] <- as_constant(rows[[name]], level)
      point_shares(stats::model.matrix(terms, rows)[, names(model$beta), drop = FALSE], model)
    })
    do.call(rbind, Map(function(level, shares) {
      gradient <- shares$gradient - of_level[[1]]$gradient
      std_error <- sqrt(pmax(0, rowSums((gradient %*% covariance) * gradient)))
      estimate <- shares$share - of_level[[1]]$share
      n <- length(estimate)
      frame_of(
        term = rep(level_terms(name, level), n), attribute = rep(name, n), level = rep(level, n),
        reference = rep(listed[[1]], n), category = model$y.levels, estimate = estimate, std_error = std_error,
        conf_low = estimate - stats::qnorm(.975) * std_error, conf_high = estimate + stats::qnorm(.975) * std_error
      )
    }, listed[-1], of_level[-1]))
  })
  none <- frame_of(
    term = character(), attribute = character(), level = character(), reference = character(), category = character(),
    estimate = double(), std_error = double(), conf_low = double(), conf_high = double()
  )
  as_plain_rows(do.call(rbind, c(list(none), unname(parts))))
}

# A factor of one level everywhere, with its levels and contrasts as they were.
as_constant <- function(factor, level) {
  factor[] <- level
  factor
}

# The mean probability of each point over the rows of a model matrix, and its gradient (thresholds, then coefficients).
point_shares <- function(x, model) {
  alpha <- unname(model$alpha)
  eta <- as.vector(x %*% model$beta)
  n <- length(eta)
  below <- cbind(0, vapply(alpha, function(threshold) stats::plogis(threshold - eta), double(n)), 1)
  density <- cbind(0, vapply(alpha, function(threshold) stats::dlogis(threshold - eta), double(n)), 0)
  points <- seq_len(length(alpha) + 1)
  gradient <- t(vapply(points, function(point) {
    of_alpha <- double(length(alpha))
    if (point <= length(alpha)) of_alpha[[point]] <- mean(density[, point + 1])
    if (point > 1) of_alpha[[point - 1]] <- of_alpha[[point - 1]] - mean(density[, point])
    c(of_alpha, -colMeans((density[, point + 1] - density[, point]) * x))
  }, double(length(alpha) + ncol(x))))
  list(share = colMeans(below[, points + 1, drop = FALSE] - below[, points, drop = FALSE]), gradient = gradient)
}
