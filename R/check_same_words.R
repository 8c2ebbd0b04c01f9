#' What is the effect at each word?
#'
#' The difference of the two conditions at each word, as wide as it is over the wordings in which the word was asked in
#' both. Words are compared within wordings: what a wording does to the effect at all words is in none of them.
#'
#' @inheritParams check_skew
#' @param data a data frame with one row per trial: `item`, `wording`, the outcome and the contrast; used if present:
#'   `group`, that a word is in (one in two groups is two words).
#' @param levels the two conditions, the reference first; or a named list that has them.
#' @return A data frame with one row per group and word: `item`, `group` (`""`: none), `estimate` (second condition less
#'   first, units of the outcome), `std_error` over wordings (of the differences of this word, without what is alike at
#'   all words; `NA` where no word was asked in two wordings), `n` wordings; `status`, `messages`.
#' @noRd
check_effects_by_word <- function(data, by = NULL, outcome = "tokens", contrast = "condition", levels = NULL) {
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to = "compare words")
  if (is.null(data$group)) data$group <- rep("", nrow(data))
  empty <- columns_of("item:text group:text estimate std_error n:whole")
  check_each_group(data, by, c(outcome, contrast, "item", "wording"), empty, function(rows) {
    effects_by_word(rows, outcome, contrast, levels)
  })
}

effects_by_word <- function(rows, outcome, contrast, levels) {
  rows <- rows[as.character(rows[[contrast]]) %in% levels, , drop = FALSE]
  group <- as.character(rows$group)
  words <- unique(data.frame(item = as.character(rows$item), group = ifelse(is.na(group), "", group)))
  word <- match(word_keys(rows), word_keys(words))
  wording <- match(rows$wording, sort(unique(rows$wording), method = "radix"))
  means_of <- function(level) {
    is_of <- rows[[contrast]] == level
    keys <- list(factor(word[is_of], seq_len(nrow(words))), factor(wording[is_of], seq_len(max(wording))))
    tapply(as.double(rows[[outcome]][is_of]), keys, mean)
  }
  difference <- means_of(levels[[2]]) - means_of(levels[[1]])
  n <- rowSums(!is.na(difference))
  if (all(n == 0)) {
    stop_with(
      sprintf("Can't compare words: none was asked in one wording in both of %s.", quoted(levels)),
      "An effect at a word is a difference within wordings."
    )
  }
  fitted <- additive_fit(difference[n > 0, , drop = FALSE])
  frame_of(
    item = words$item[n > 0], group = words$group[n > 0], estimate = fitted$estimate, std_error = fitted$std_error,
    n = as.integer(n[n > 0])
  )
}

word_keys <- function(rows) paste(ifelse(is.na(rows$group), "", as.character(rows$group)), rows$item, sep = "\037")

# Effects of rows next to those of columns, which add up to 0, by least squares; standard errors from the squares that
# are left in each row. Their mean is right whatever the rows' variances where nothing is missing.
additive_fit <- function(values) {
  is_known <- !is.na(values)
  row <- row(values)[is_known]
  column <- factor(col(values)[is_known])
  x <- outer(row, seq_len(nrow(values)), `==`) + 0
  if (nlevels(column) > 1) x <- cbind(x, stats::contr.sum(nlevels(column))[as.integer(column), , drop = FALSE])
  fit <- stats::lm.fit(x, values[is_known])
  n <- tabulate(row, nrow(values))
  df <- length(row) - fit$rank
  left <- as.vector(rowsum(fit$residuals^2, row))
  list(
    estimate = unname(fit$coefficients[seq_len(nrow(values))]),
    std_error = if (df > 0) sqrt(left / n * length(row) / df / n) else rep(NA_real_, nrow(values))
  )
}

#' Do models have the bias at the same words?
#'
#' A test gives every model one number, and compares them as if it were the same one. If what makes it up is at other
#' words in each model, it is not. Correlates the effects at words ([check_effects_by_word()]) between models in each
#' test: as they are, and those of the true effects, without the error over wordings, which makes the plain correlation
#' too small. Errors of two models are taken as independent.
#'
#' @inheritParams check_effects_by_word
#' @param by names of the columns that define the groups, without `model` and `test`.
#' @param alpha 1 minus the level of the intervals.
#' @return A data frame with one row per group, test and pair of models: `model`, `test`, `other_model`, `n_words` that
#'   both have; `correlation` (Pearson's) with `p_value` (two-sided: of 1,999 orders of the words of one model, how many
#'   correlate as much); `reliability` of the effects at words in `model` and in `other_model` (the share of the
#'   variance between words that is no error, 0 or more); `corrected`, the correlation of the true effects (`NA` where
#'   those of a model vary no more than error explains), with the fiducial interval `conf_low` to `conf_high`;
#'   `within_groups`, the same of what words of one group differ by (`NA` where there is one group); and of all models
#'   of the test together, `mean_correlation` of the pairs that share words, with `p_test` (one-sided: how often models
#'   agree as much whose words are in random order); `status`, `messages`. Tests of one model have no row.
#' @source Spearman (1904), The proof and measurement of association between two things, American Journal of Psychology
#'   15, 72-101 (the correction); [convergent_validity()] (its interval).
#' @noRd
check_same_words <- function(data, by = NULL, outcome = "tokens", contrast = "condition", levels = NULL, alpha = .05) {
  check_arguments()
  check_columns(data, c(by, "model", "test"), to = "compare words")
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to = "compare words")
  if (is.null(data$group)) data$group <- rep("", nrow(data))
  by_test <- c(by, "test")
  n_models <- stats::ave(match(data$model, unique(data$model)), group_codes(data, by_test), FUN = function(codes) {
    length(unique(codes))
  })
  empty <- columns_of(
    "model:text other_model:text n_words:whole correlation p_value reliability other_reliability corrected conf_low",
    "conf_high within_groups mean_correlation p_test"
  )
  columns <- c("model", outcome, contrast, "item", "wording")
  found <- check_each_group(data[n_models > 1, , drop = FALSE], by_test, columns, empty, function(rows) {
    effects <- lapply(group_rows(rows, "model"), function(of_model) {
      effects_by_word(rows[of_model, , drop = FALSE], outcome, contrast, levels)
    })
    pairs <- utils::combn(names(effects), 2, simplify = FALSE)
    of_pairs <- lapply(pairs, function(pair) correlated_words(effects[[pair[[1]]]], effects[[pair[[2]]]], alpha))
    unreliable <- Filter(function(model) isTRUE(reliability_of(effects[[model]]) <= 0), names(effects))
    if (length(unreliable) > 0) {
      message(sprintf(
        "Effects at words vary no more than error explains in %s: they have no corrected correlation.",
        toString(unreliable)
      ))
    }
    names <- do.call(rbind, pairs)
    cbind(
      frame_of(model = names[, 1], other_model = names[, 2]), stacked(of_pairs), agreement_of_all(effects)
    )
  })
  found[c(by, "model", "test", setdiff(names(found), c(by, "model", "test")))]
}

n_orders_of_words <- 1999
fewest_words <- 4

correlated_words <- function(one, other, alpha) {
  place <- match(word_keys(one), word_keys(other))
  x <- one[!is.na(place), , drop = FALSE]
  y <- other[place[!is.na(place)], , drop = FALSE]
  units <- frame_of(
    model = seq_len(nrow(x)), test = rep(1L, nrow(x)), x = x$estimate, y = y$estimate, x_error = x$std_error,
    y_error = y$std_error
  )
  result <- frame_of(n_words = nrow(x), reliability = reliability_of(x), other_reliability = reliability_of(y))
  if (nrow(x) < fewest_words || !varies(units$x) || !varies(units$y)) {
    return(result)
  }
  result$correlation <- stats::cor(units$x, units$y)
  orders <- with_seed(1, replicate(n_orders_of_words, sample.int(nrow(x))))
  reordered <- stats::cor(matrix(units$x[orders], nrow(x)), units$y)
  result$p_value <- mean(abs(c(result$correlation, reordered)) >= abs(result$correlation) - 1e-9)
  if (!anyNA(units)) {
    found <- suppressWarnings(level_correlations(units, alpha))
    result[c("corrected", "conf_low", "conf_high")] <- found["corrected", ]
    if (is.na(result$corrected)) result[c("conf_low", "conf_high")] <- NA_real_
    groups <- unique(x$group)
    if (length(groups) > 1 && nrow(x) - length(groups) >= fewest_words) {
      units$test <- match(x$group, groups)
      result$within_groups <- suppressWarnings(level_correlations(units, alpha))["within_cells", 1]
    }
  }
  result
}

reliability_of <- function(effects) {
  variance <- if (nrow(effects) > 1) stats::var(effects$estimate) else 0
  if (!isTRUE(variance > 0)) NA_real_ else max(0, 1 - mean(effects$std_error^2) / variance)
}

# The mean correlation over the pairs of models that share words, and how often it is as large where the words of each
# model are in random order.
agreement_of_all <- function(effects) {
  words <- unique(unlist(lapply(effects, word_keys)))
  orders <- with_seed(1, lapply(effects, function(rows) {
    values <- matrix(NA_real_, length(words), 1 + n_orders_of_words)
    random <- replicate(n_orders_of_words, sample.int(nrow(rows)))
    values[match(word_keys(rows), words), ] <- cbind(rows$estimate, matrix(rows$estimate[random], nrow(rows)))
    values
  }))
  of_pairs <- do.call(cbind, lapply(utils::combn(orders, 2, simplify = FALSE), function(pair) {
    shared <- !is.na(pair[[1]][, 1] + pair[[2]][, 1])
    x <- pair[[1]][shared, , drop = FALSE]
    y <- pair[[2]][shared, , drop = FALSE]
    if (sum(shared) >= fewest_words && varies(x[, 1]) && varies(y[, 1])) {
      x <- sweep(x, 2, colMeans(x))
      y <- sweep(y, 2, colMeans(y))
      length <- sqrt(colSums(x^2) * colSums(y^2))
      # a column without variance, as a random choice of words may be, has no relation
      ifelse(length > 0, colSums(x * y) / length, 0)
    }
  }))
  if (is.null(of_pairs)) {
    return(frame_of(mean_correlation = NA_real_, p_test = NA_real_))
  }
  means <- rowMeans(of_pairs)
  frame_of(mean_correlation = means[[1]], p_test = mean(means >= means[[1]] - 1e-9))
}
