# What fit_crossed() finds in a balanced study, in closed form: thousands of studies in seconds. test-fit_crossed.R
# holds it next to fit_crossed() itself, and so does bench/truth.R in each run.
#
# Every word is asked in every wording and condition, as often. Then REML has strata with a mean square each, whose
# expectations are linear in the variances: trials within a combination, combinations, and four that vary at least as
# much as combinations, the effects and the means of words and of wordings. Variances of 0 or more are means
# squares in that order, so that REML is their isotonic regression (Robertson, Wright & Dykstra 1988, chapter 1), and
# Kenward and Roger's degrees of freedom are Satterthwaite's of the result.

# `cells`: an array word × wording × condition of means over `n_repetitions` answers; `within`: the sum of squares
# around them. A numeric vector: estimate, std_error, df, and n_zero, how many of the two variances of the effect are
# 0.
balanced_effect <- function(cells, n_repetitions, within) {
  n_words <- dim(cells)[[1]]
  n_wordings <- dim(cells)[[2]]
  slope <- cells[, , 2] - cells[, , 1]
  mean <- (cells[, , 2] + cells[, , 1]) / 2
  scales <- c(slope = n_repetitions / 2, mean = 2 * n_repetitions)
  squares <- function(values, scale) {
    by_word <- rowMeans(values) - mean(values)
    by_wording <- colMeans(values) - mean(values)
    left <- values - mean(values) - outer(by_word, by_wording, `+`)
    scale * c(n_wordings * sum(by_word^2), n_words * sum(by_wording^2), sum(left^2))
  }
  of_slope <- squares(slope, scales[["slope"]])
  of_mean <- squares(mean, scales[["mean"]])
  df <- c(word = n_words - 1, wording = n_wordings - 1, word_mean = n_words - 1, wording_mean = n_wordings - 1)
  strata <- c(of_slope[1:2], of_mean[1:2]) / df
  df_cell <- 2 * (n_words - 1) * (n_wordings - 1)
  df_within <- 2 * n_words * n_wordings * (n_repetitions - 1)
  lambda <- in_tree_order(strata, df, (of_slope[[3]] + of_mean[[3]]) / df_cell, df_cell, within, df_within)
  total <- lambda[[1]] + lambda[[2]] - lambda[[5]]
  df_of_total <- total^2 / sum(lambda[c(1, 2, 5)]^2 / c(df[1:2], df_cell))
  c(
    estimate = mean(slope), std_error = sqrt(2 * total / (n_words * n_wordings * n_repetitions)), df = df_of_total,
    n_zero = sum(lambda[1:2] <= lambda[[5]] * (1 + 1e-9))
  )
}

# The mean squares `above`, none of which may be less than that of combinations, which may not be less than that within
# them (`within`: a sum of squares, 0 with no degrees of freedom). Pools what is the wrong way round.
in_tree_order <- function(above, df, cell, df_cell, within, df_within) {
  sums <- cell * df_cell
  weight <- df_cell
  is_pooled <- rep(FALSE, length(above))
  within_is_pooled <- FALSE
  repeat {
    level <- sums / weight
    low <- which(!is_pooled & above < level)
    if (df_within > 0 && !within_is_pooled && within / df_within > level) {
      within_is_pooled <- TRUE
      sums <- sums + within
      weight <- weight + df_within
    } else if (length(low) > 0) {
      lowest <- low[[which.min(above[low])]]
      is_pooled[[lowest]] <- TRUE
      sums <- sums + above[[lowest]] * df[[lowest]]
      weight <- weight + df[[lowest]]
    } else {
      return(c(ifelse(is_pooled, level, above), level))
    }
  }
}

# One balanced study, a repetition after the other: what balanced_effect() finds after each number of `looks`, one row a
# look. `variances` as of simulate_crossed_trials(), and `combination`.
simulate_balanced_effects <- function(n_words, n_wordings, looks, effect, variances) {
  drawn <- function(n, name) stats::rnorm(n, sd = sqrt(if (is.null(variances[[name]])) 0 else variances[[name]]))
  slope <- outer(drawn(n_words, "word"), effect + drawn(n_wordings, "wording"), `+`)
  mean <- outer(drawn(n_words, "word_intercept"), drawn(n_wordings, "wording_intercept"), `+`)
  dims <- c(n_words, n_wordings, 2)
  truth <- array(c(mean - slope / 2, mean + slope / 2), dims) + drawn(prod(dims), "combination")
  sums <- squares <- array(0, dims)
  found <- matrix(NA_real_, length(looks), 4, dimnames = list(NULL, c("estimate", "std_error", "df", "n_zero")))
  for (n in seq_len(max(looks))) {
    answers <- truth + drawn(prod(dims), "residual")
    sums <- sums + answers
    squares <- squares + answers^2
    if (n %in% looks) found[match(n, looks), ] <- balanced_effect(sums / n, n, sum(squares - sums^2 / n))
  }
  found
}
