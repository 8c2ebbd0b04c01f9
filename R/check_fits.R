#' Which results are left after correcting for the number of tests?
#'
#' Adjusts the p values of each group (the ten tests of one model) by Holm's method, which keeps the chance of any false
#' finding at `alpha`, and by Benjamini and Hochberg's, which keeps the expected share of false findings there.
#'
#' @param data a data frame with one row per test and the column `p_value`. A missing p takes no part.
#' @param by names of the columns that define the groups that are corrected together.
#' @param alpha the level of significance.
#' @return `estimates` with the columns `n_tests` (tests corrected together), `p_holm`, `p_bh`, `is_significant`,
#'   `is_significant_holm` and `is_significant_bh`.
#' @noRd
check_corrections <- function(data, by = NULL, alpha = .05) {
  check_columns(data, c(by, "p_value"), to = "correct for the number of tests")
  check_arguments()
  p <- data$p_value
  codes <- group_codes(data, by)
  adjusted <- function(method) stats::ave(p, codes, FUN = function(values) stats::p.adjust(values, method))
  data$n_tests <- as.integer(stats::ave(as.double(!is.na(p)), codes, FUN = sum))
  data$p_holm <- adjusted("holm")
  data$p_bh <- adjusted("BH")
  data$is_significant <- is_significant(p, alpha)
  data$is_significant_holm <- is_significant(data$p_holm, alpha)
  data$is_significant_bh <- is_significant(data$p_bh, alpha)
  as_plain_rows(data)
}

#' Does one prompt decide a result?
#'
#' Sets the coefficients of `fit_leave_one_out()` next to that of all rows. Cook's distance is that of the one
#' coefficient: the squared change of the estimate, in squared standard errors of the whole.
#'
#' @param data the `estimates` of `fit_leave_one_out()`.
#' @param by names of the columns that define the groups.
#' @param alpha the level of significance.
#' @return A data frame with one row per group and level left out: `left_out`; `estimate_all` and `p_all`, of all rows;
#'   `estimate` and `p_value` without it; `change`, the one minus the other, in units of the outcome; `cooks_distance`;
#'   `is_influential` (Cook's distance above 4 / number of levels, the usual mark); `changes_sign`; and
#'   `changes_conclusion`: the effect is significant, or of another sign while significant, in only one of the two;
#'   `status` ("ok", "failed") and `messages`. A group without an estimate of all rows, or without any other, is one row
#'   without numbers that says so.
#' @noRd
check_influence <- function(data, by = NULL, alpha = .05) {
  check_columns(data, c(by, "term", "estimate", "std_error", "p_value"), to = "check influence")
  check_arguments()
  empty <- columns_of(
    "left_out:text estimate_all p_all estimate p_value change cooks_distance is_influential:flag changes_sign:flag",
    "changes_conclusion:flag"
  )
  check_each_group(data, by, "term", empty, function(rows) {
    all_rows <- rows[rows$term == "all", ]
    others <- rows[startsWith(rows$term, "without "), , drop = FALSE]
    if (nrow(all_rows) != 1 || nrow(others) == 0) {
      stop_with("Can't check influence: each group must have one term \"all\" and others that begin with \"without\".")
    }
    change <- others$estimate - all_rows$estimate
    cooks_distance <- (change / all_rows$std_error)^2
    data.frame(
      left_out = sub("^without ", "", others$term),
      estimate_all = all_rows$estimate, p_all = all_rows$p_value, estimate = others$estimate, p_value = others$p_value,
      change = change, cooks_distance = cooks_distance, is_influential = cooks_distance > 4 / nrow(others),
      changes_sign = sign(others$estimate) != sign(all_rows$estimate),
      changes_conclusion = conclusion(others$estimate, others$p_value, alpha) !=
        conclusion(all_rows$estimate, all_rows$p_value, alpha)
    )
  })
}

# What one concludes of an effect: 1 and -1 are significant ones of that sign, 0 is none shown, NA is no answer.
conclusion <- function(estimate, p_value, alpha) sign(estimate) * is_significant(p_value, alpha)

#' Does taking words for a sample change the conclusion?
#'
#' Compares the condition effects of two fits of the same cells: the paper's, and one with a random effect
#' of the word, such as `(1 | item)` (words differ) or `(1 | item) + (1 | item:condition)` (the effect differs from word
#' to word, so that its standard error tells how it would come out with other words).
#'
#' @param data the `estimates` of [fit_lme4()] with the paper's formula.
#' @param with_words those of the fit with the word in it.
#' @inheritParams check_influence
#' @return A data frame with one row per group: `term`, the condition effect; `estimate`, `std_error` and `p_value` with
#'   the paper's formula; `estimate_words`, `std_error_words` and `p_words` with the word; `std_error_ratio`, the second
#'   over the first; `changes_sign`; and `changes_conclusion` (significant, or of another sign, in only one of the two).
#'   A group whose second fit failed has no second numbers.
#' @noRd
check_word_effects <- function(data, with_words, by = NULL, alpha = .05) {
  for (frame in list(data, with_words)) {
    check_columns(frame, c(by, "term", "estimate", "std_error", "p_value"), to = "compare the fits")
  }
  check_arguments()
  paper <- data[data$term != "intercept", , drop = FALSE]
  keys <- c(by, "term")
  codes <- group_codes(rbind(paper[keys], with_words[keys]), keys)
  matched <- with_words[match(codes[seq_len(nrow(paper))], codes[-seq_len(nrow(paper))]), , drop = FALSE]
  cbind(
    paper[c(keys, "estimate", "std_error", "p_value")],
    data.frame(
      estimate_words = matched$estimate, std_error_words = matched$std_error, p_words = matched$p_value,
      std_error_ratio = matched$std_error / paper$std_error,
      changes_sign = sign(matched$estimate) != sign(paper$estimate),
      changes_conclusion = conclusion(matched$estimate, matched$p_value, alpha) !=
        conclusion(paper$estimate, paper$p_value, alpha)
    ),
    row.names = NULL
  )
}

#' How much of the variance is by prompt and by word?
#'
#' Shares of the variance components of a model with random intercepts, such as
#' `tokens ~ condition + (1 | wording) + (1 | item)`: what the condition leaves unexplained adds up to 1.
#'
#' @param data the `variances` of [fit_lme4()].
#' @param by names of the columns that define the groups.
#' @return A data frame with one row per group and variance component: `group`, `variance` (in squared units of the
#'   outcome), `share` (0 to 1).
#' @noRd
check_variance_shares <- function(data, by = NULL) {
  check_columns(data, c(by, "group", "term", "variance"), to = "share out the variance")
  if (any(!data$term %in% c("intercept", "residual"))) {
    stop_with(
      "Can't share out the variance: the model has random slopes.",
      "With them the variance is another one in each condition. Take a model like y ~ x + (1 | g) + (1 | h)."
    )
  }
  total <- stats::ave(data$variance, group_codes(data, by), FUN = sum)
  cbind(data[c(by, "group", "variance")], share = data$variance / total, row.names = NULL)
}

#' Are the residuals of a mixed model as it assumes?
#'
#' A linear mixed model takes its residuals for normal and equally spread. Token counts rarely are: they have a floor
#' and a long right tail. This says by how much, for each model; `plot_residuals()` draws it.
#'
#' @inheritParams fit_lme4
#' @param data a data frame with one row per trial; leave refusals out first, as the paper does.
#' @param contrast name of the fixed factor whose sides are compared for spread.
#' @return A data frame with one row per group:
#'   `n` rows; `residual_sd` in units of the outcome; `skewness` and `excess_kurtosis` of the residuals (both 0 if
#'   normal); `qq_correlation` with the normal quantiles (1 if normal); `share_beyond_3`, the share of residuals that
#'   are more than three standard deviations away (.0027 if normal); `largest`, the largest residual in standard
#'   deviations; `sd_ratio`, the residuals' standard deviation in the last level of `contrast` over that in the first;
#'   `spread_correlation`, Spearman's correlation of the absolute residual with the fitted value (0 if equally spread);
#'   `status` and `messages`.
#' @noRd
check_residuals <- function(data, formula = "tokens ~ condition + (1 | wording)", by = NULL,
                            levels = NULL, contrast = "condition") {
  levels <- if (is.null(levels)) stats::setNames(list(levels_of(data, contrast)), contrast) else levels
  maker <- model_maker(data, formula, levels)
  empty <- columns_of(
    "n:whole residual_sd skewness excess_kurtosis qq_correlation share_beyond_3 largest sd_ratio spread_correlation"
  )
  check_each_group(data, by, unique(c(maker$columns, contrast)), empty, function(rows) {
    model <- maker$fit(rows)
    residual <- unname(stats::residuals(model))
    standardised <- residual / stats::sigma(model)
    sides <- base::factor(as.character(rows[[contrast]]), levels = unlist(levels[[contrast]]))
    spread <- tapply(residual, sides, stats::sd)
    data.frame(
      n = length(residual), residual_sd = stats::sigma(model), skewness = skewness_of(residual),
      excess_kurtosis = mean((residual - mean(residual))^4) / mean((residual - mean(residual))^2)^2 - 3,
      qq_correlation = stats::cor(sort(residual), stats::qnorm(stats::ppoints(length(residual)))),
      share_beyond_3 = mean(abs(standardised) > 3), largest = max(abs(standardised)),
      sd_ratio = spread[[length(spread)]] / spread[[1]],
      spread_correlation = stats::cor(abs(residual), stats::fitted(model), method = "spearman")
    )
  })
}

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
#'   of all rows; `detectable`, a gap that would be found about four times in five; `status`,
#'   `messages`.
#' @source Christensen (2022), R package ordinal (`nominal_test()`); Brant (1990), Biometrics 46, 1171-1178.
#' @noRd
check_proportional_odds <- function(data, attributes, by = NULL, outcome = "rating", levels = NULL, cluster = NULL) {
  need_package("ordinal", "compare effects at the points of a scale")
  empty <- columns_of(
    "attribute:text n:whole chi_squared df p_value largest_gap level:text category:text n_points:whole",
    "detectable"
  )
  known <- listed_levels(data, attributes, levels[intersect(names(levels), attributes)])
  with_holm(check_each_group(data, by, c(outcome, attributes, cluster), empty, function(rows) {
    codes <- if (!is.null(cluster)) group_codes(rows, cluster)
    rows <- rows[c(outcome, attributes)]
    # predictions depend on no coding, and ordinal warns of contrasts that are set
    for (name in attributes) rows[[name]] <- factor(as.character(rows[[name]]), known[[name]])
    rated <- rated_points(rows[[outcome]], outcome, levels[[outcome]])
    stacked(lapply(attributes, function(name) {
      rows[[outcome]] <- merged_points(rated, rows[[name]])
      if (nlevels(rows[[outcome]]) < 3) {
        message(sprintf("Not tested for \"%s\": too few ratings at most points.", name))
        return(frame_of(attribute = name, n = nrow(rows), n_points = nlevels(rows[[outcome]]), p_value = NA_real_))
      }
      odds_of_attribute(name, rating_model(rows, outcome, attributes), rows, outcome, attributes, codes)
    }))
  }))
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
    category = levels(rows[[outcome]])[[worst[[1]]]], n_points = nlevels(rows[[outcome]]), detectable = detectable
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
