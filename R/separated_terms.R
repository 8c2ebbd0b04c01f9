# Separation: does a model of yes and no have finite estimates? Decided in its own design matrix.
#
# With the rows of x signed by their answer, the likelihood rises without end along a direction d if no row has
# x d < 0 and one has x d > 0. Konis (2007) finds d by a linear programme. Its dual needs no solver: no such d is there
# exactly if weights of 1 or more make the signed rows sum to 0 (Stiemke's lemma). Non-negative least squares seeks
# them; what is left of the sum is 0, or itself such a direction. Rows that it tells apart are set aside, until none is.

# The coefficients of `x` (a design matrix, whose aliased columns are left out) without finite estimate for `y` (0 and
# 1), and the rows that
# are predicted without error. Coefficients are finite if they are a combination of the rows that are left (Geyer 2009).
separated_coefficients <- function(x, y) {
  all <- qr(x)
  x <- x[, sort(all$pivot[seq_len(all$rank)]), drop = FALSE]
  basis <- qr(x)
  signed <- (2 * y - 1) * qr.Q(basis) * sqrt(nrow(x))
  left <- seq_along(y)
  repeat {
    direction <- unbalanced_direction(signed[left, , drop = FALSE])
    if (is.null(direction)) break
    gain <- drop(signed[left, , drop = FALSE] %*% direction)
    left <- left[gain <= 1e-7 * max(gain)]
    if (length(left) == 0) break
  }
  free <- if (length(left) < length(y)) backsolve(qr.R(basis), null_space(signed[left, , drop = FALSE]))
  scale <- apply(abs(x), 2, max)[basis$pivot]
  is_infinite <- if (is.null(free)) FALSE else rowSums(abs(free * scale)) > 1e-7 * max(abs(free * scale))
  list(names = colnames(x)[sort(basis$pivot[is_infinite])], rows = setdiff(seq_along(y), left))
}

# What is left of the sum of these rows, each with a weight of 1 or more; NULL if nothing is.
unbalanced_direction <- function(rows) {
  total <- colSums(rows)
  rest <- total + drop(crossprod(rows, non_negative_weights(t(rows), -total)))
  if (sqrt(sum(rest^2)) > 1e-6) rest / sqrt(sum(rest^2))
}

# The weights w >= 0 for which a w is nearest to b (Lawson & Hanson 1974, chapter 23).
non_negative_weights <- function(a, b) {
  weights <- double(ncol(a))
  is_free <- logical(ncol(a))
  for (step in seq_len(30 * nrow(a) + 30)) {
    gradient <- drop(crossprod(a, b - a %*% weights))
    gradient[is_free] <- -Inf
    if (max(gradient) <= 1e-9 * max(1, sqrt(sum(b^2)))) break
    is_free[[which.max(gradient)]] <- TRUE
    repeat {
      best <- double(ncol(a))
      best[is_free] <- qr.coef(qr(a[, is_free, drop = FALSE]), b)
      best[is.na(best)] <- 0
      is_negative <- is_free & best <= 0
      if (!any(is_negative)) break
      step_to <- min(weights[is_negative] / (weights[is_negative] - best[is_negative]))
      weights <- weights + step_to * (best - weights)
      is_free <- is_free & weights > 1e-12
      weights[!is_free] <- 0
    }
    weights <- best
  }
  weights
}

# An orthonormal basis of the directions in which no row has a part.
null_space <- function(rows) {
  if (nrow(rows) == 0) {
    return(diag(ncol(rows)))
  }
  parts <- svd(rows, nu = 0, nv = ncol(rows))
  rank <- sum(parts$d > 1e-7 * max(parts$d, 1e-300))
  parts$v[, seq_len(ncol(rows)) > rank, drop = FALSE]
}

# Names the terms of a formula that separate a yes or no, and returns the coefficients without finite estimate. Random
# effects don't matter: at each of their values the likelihood rises along the same direction. `say`: warning() or
# message(); `then` ends the sentence.
warn_of_separation <- function(formula, data, outcome, say = warning, then = "without finite estimate") {
  fixed <- stats::delete.response(stats::terms(without_random_terms(formula)))
  if (length(outcome) != 1) {
    return(character())
  }
  frame <- stats::model.frame(fixed, data, na.action = stats::na.pass)
  frame[[".answer"]] <- as.integer(data[[outcome]] == 1)
  codes <- do.call(paste, unname(lapply(frame, function(column) match(column, unique(column)))))
  is_used <- stats::complete.cases(frame)
  distinct <- which(!duplicated(codes) & is_used)
  x <- stats::model.matrix(fixed, frame[distinct, , drop = FALSE])
  y <- frame[[".answer"]][distinct]
  of_column <- attr(x, "assign")
  found <- separated_coefficients(x, y)
  if (length(found$names) == 0) {
    return(character())
  }
  labels <- attr(fixed, "term.labels")
  involved <- setdiff(unique(of_column[colnames(x) %in% found$names]), 0)
  alone <- Filter(function(term) {
    length(separated_coefficients(x[, of_column %in% c(0, term), drop = FALSE], y)$rows) > 0
  }, involved)
  order <- attr(fixed, "order")[alone]
  alone <- alone[order == min(order, Inf)] # an interaction separates where its factor does
  n <- sum(codes[is_used] %in% codes[distinct][found$rows])
  is_complete <- n == sum(is_used)
  by <- if (length(alone) > 0) alone else involved
  text <- sprintf(
    "%s separation%s: \"%s\" is predicted without error in %s %s; %s: %s.",
    if (is_complete) "Complete" else "Quasi-complete",
    if (length(by) == 0) "" else sprintf(" by %s%s", quoted(labels[by]), if (length(alone) == 0) " together" else ""),
    outcome, if (is_complete) "all" else sprintf("%d of", n), counted(sum(is_used), "row"), then,
    if (is_complete) "all coefficients" else quoted(found$names)
  )
  if (identical(say, warning)) warning(text, call. = FALSE) else say(text)
  found$names
}
