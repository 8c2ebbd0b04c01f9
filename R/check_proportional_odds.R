#' Does a level shift ratings alike at every point of the scale?
#'
#' A cumulative model has one effect for all thresholds of the scale. Each attribute in turn gets an effect for each
#' threshold (`ordinal::clm(nominal = )`). With many ratings the test finds any departure, and with few ratings chance
#' makes large ones: what counts is `largest_gap`, by how much the probability of a point then differs from what the
#' model with one effect says, where the test finds a departure, too. Neighbouring points that fewer than five ratings
#' of a level reach are merged first; where fewer than three are left, nothing is tested.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per rating.
#' @param outcome name of the column with the ratings.
#' @param attributes names of the columns with groups of the ratings.
#' @param levels a list by attribute of its levels, the reference first, and of the rating, its points.
#' @param cluster name of the column with what ratings have in common, or `NULL`.
#' @return A data frame with one row per group and attribute: `attribute`; `n`; `chi_squared`, `df`, `p_value` of the
#'   likelihood ratio test, over clusters of Brant's with an F distribution; `largest_gap` (a difference of
#'   probabilities, 0 to 1) with the `level` and the `category` where it is; `n_points` that were told apart; `p_holm`,
#'   of all attributes of the group; `detectable`, a gap that would be found about four times in five; `status`,
#'   `messages`.
#' @source Christensen (2022), R package ordinal (`nominal_test()`); Brant (1990), Biometrics 46, 1171-1178.
#' @noRd
check_proportional_odds <- function(data, attributes, by = NULL, outcome = "rating", levels = NULL, cluster = NULL) {
  need_package("ordinal", "compare effects at the points of a scale")
  empty <- data.frame(
    attribute = character(), n = integer(), chi_squared = double(), df = double(), p_value = double(),
    largest_gap = double(), level = character(), category = character(), n_points = integer(), p_holm = double(),
    detectable = double()
  )
  known <- listed_levels(data, attributes, levels[intersect(names(levels), attributes)])
  check_each_group(data, by, c(outcome, attributes, cluster), empty, function(rows) {
    codes <- if (!is.null(cluster)) group_codes(rows, cluster)
    rows <- rows[c(outcome, attributes)]
    # predictions depend on no coding, and ordinal warns of contrasts that are set
    for (name in attributes) rows[[name]] <- factor(as.character(rows[[name]]), known[[name]])
    rated <- rated_points(rows[[outcome]], outcome, levels[[outcome]])
    found <- do.call(rbind, lapply(attributes, function(name) {
      rows[[outcome]] <- merged_points(rated, rows[[name]])
      if (nlevels(rows[[outcome]]) < 3) {
        message(sprintf("Not tested for \"%s\": too few ratings at most points.", name))
        return(untested_odds(name, rows, outcome))
      }
      odds_of_attribute(name, rating_model(rows, outcome, attributes), rows, outcome, attributes, codes)
    }))
    found$p_holm <- stats::p.adjust(found$p_value, "holm")
    found
  })
}

fewest_ratings <- 5L

# Points joined with the next one while fewer ratings than these reach them at a level.
merged_points <- function(rated, groups) {
  repeat {
    fewest <- apply(table(rated, droplevels(groups)), 1, min)
    if (nlevels(rated) < 3 || all(fewest >= fewest_ratings)) {
      return(rated)
    }
    at <- which.min(fewest)
    joined <- if (at == 1) 2 else if (at == nlevels(rated)) at - 1 else at + c(-1, 1)[which.min(fewest[at + c(-1, 1)])]
    pair <- sort(c(at, joined))
    levels(rated)[pair] <- paste(levels(rated)[pair], collapse = " to ")
  }
}

untested_odds <- function(name, rows, outcome) {
  frame_of(
    attribute = name, n = nrow(rows), chi_squared = NA_real_, df = NA_real_, p_value = NA_real_,
    largest_gap = NA_real_, level = NA_character_, category = NA_character_, n_points = nlevels(rows[[outcome]]),
    p_holm = NA_real_, detectable = NA_real_
  )
}

rating_model <- function(rows, outcome, attributes, nominal = NULL) {
  one_effect <- setdiff(attributes, nominal)
  formula <- stats::reformulate(if (length(one_effect) > 0) one_effect else "1", outcome)
  environment(formula) <- list2env(list(rows = rows, model.frame = stats::model.frame), parent = baseenv())
  if (is.null(nominal)) {
    return(ordinal::clm(formula, data = rows))
  }
  each_threshold <- stats::reformulate(nominal)
  environment(each_threshold) <- environment(formula)
  # the call is kept in the model, and asked when it predicts
  eval(bquote(ordinal::clm(.(formula), nominal = .(each_threshold), data = rows)), environment(formula))
}

odds_of_attribute <- function(name, model, rows, outcome, attributes, codes = NULL) {
  free <- rating_model(rows, outcome, attributes, name)
  chi_squared <- as.numeric(2 * (stats::logLik(free) - stats::logLik(model)))
  df <- as.double(attr(stats::logLik(free), "df") - attr(stats::logLik(model), "df"))
  gaps <- vapply(levels(rows[[name]]), function(level) {
    at <- rows[setdiff(names(rows), outcome)]
    at[[name]] <- as_constant(at[[name]], level)
    colMeans(stats::predict(free, at, type = "prob")$fit) - colMeans(stats::predict(model, at, type = "prob")$fit)
  }, double(nlevels(rows[[outcome]])))
  worst <- arrayInd(which.max(abs(gaps)), dim(gaps))
  p_value <- stats::pchisq(chi_squared, df, lower.tail = FALSE)
  # no gap of that level and point is known apart from the test: one whose square is as much larger as the test's would
  # have to be
  detectable <- min(1, abs(gaps[worst]) * sqrt(noncentrality_of_squares(df) / max(chi_squared, df)))
  if (!is.null(codes)) p_value <- clustered_brant(name, rows, outcome, attributes, codes, p_value)
  frame_of(
    attribute = name, n = nrow(rows), chi_squared = chi_squared, df = df, p_value = p_value,
    largest_gap = abs(gaps[worst]), level = levels(rows[[name]])[[worst[[2]]]],
    category = levels(rows[[outcome]])[[worst[[1]]]], n_points = nlevels(rows[[outcome]]), p_holm = NA_real_,
    detectable = detectable
  )
}

# Brant's test over clusters: a logistic regression at each threshold, and whether an attribute has one effect in all.
# NA where there are too few clusters for it; without repeated ones it is at least the likelihood ratio test's p.
clustered_brant <- function(name, rows, outcome, attributes, codes, p_value) {
  x <- stats::model.matrix(stats::reformulate(attributes), rows)
  of_term <- attr(x, "assign") == match(name, attributes)
  rated <- as.integer(rows[[outcome]])
  each <- lapply(seq_len(nlevels(rows[[outcome]]) - 1), function(threshold) {
    fit <- suppressWarnings(stats::glm.fit(x, as.integer(rated > threshold), family = stats::binomial()))
    weights <- fit$weights
    inverse <- tryCatch(chol2inv(chol(crossprod(x, x * weights))), error = function(e) NULL)
    if (is.null(inverse)) {
      return(NULL)
    }
    changes <- (x * (as.integer(rated > threshold) - fit$fitted.values)) %*% inverse
    list(effect = fit$coefficients[of_term], changes = changes[, of_term, drop = FALSE])
  })
  if (any(lengths(each) == 0)) {
    return(NA_real_)
  }
  n_effects <- sum(of_term)
  n <- length(each)
  apart <- kronecker(cbind(-1, diag(n - 1)), diag(n_effects))
  sums <- rowsum(do.call(cbind, lapply(each, `[[`, "changes")), codes)
  n_clusters <- nrow(sums)
  q <- nrow(apart)
  if (n_clusters <= q + 1) {
    return(NA_real_)
  }
  covariance <- apart %*% (crossprod(sums) * n_clusters / (n_clusters - 1)) %*% t(apart)
  difference <- drop(apart %*% unlist(lapply(each, `[[`, "effect")))
  wald <- tryCatch(drop(difference %*% solve(covariance, difference)), error = function(e) NA_real_)
  found <- stats::pf(wald * (n_clusters - q) / (q * (n_clusters - 1)), q, n_clusters - q, lower.tail = FALSE)
  max(found, p_value)
}
