#' Intraclass correlations of single ratings
#'
#' How much of the variance of ratings lies between the targets, rather than between the ratings of one target: Shrout
#' and Fleiss's three coefficients for a single rating. Where answers to the same trials on two days are compared,
#' trials are the targets and days the raters.
#'
#' @param ratings a numeric matrix or data frame, one row per target and one column per rater; rows with a missing
#'   rating are left out.
#' @param alpha 1 minus the level of the intervals.
#' @return A data frame of three rows: `type`, `estimate`, `conf_low`, `conf_high`, the F `statistic` of the test
#'   against 0 with `df1`, `df2` and `p_value`, `n` targets and `k` raters. `type` is `"one_way"` (ICC(1,1): raters
#'   differ from target to target), `"agreement"` (ICC(2,1), McGraw and Wong's (A,1): a rater who gives more than
#'   another disagrees with that one) or `"consistency"` (ICC(3,1): what raters give more or less throughout doesn't
#'   count). `NA` if ratings don't vary.
#' @source Shrout & Fleiss (1979), Intraclass correlations: uses in assessing rater reliability, Psychological Bulletin
#'   86(2), 420-428; McGraw & Wong (1996), Psychological Methods 1(1), 30-46, for the interval of ICC(A,1).
#' @seealso [retest_reliability()]
#' @export
#' @examples
#' # six targets, four judges: the table of Shrout and Fleiss
#' judges <- data.frame(
#'   judge_1 = c(9, 6, 8, 7, 10, 6), judge_2 = c(2, 1, 4, 1, 5, 2), judge_3 = c(5, 3, 6, 2, 6, 4),
#'   judge_4 = c(8, 2, 8, 6, 9, 7)
#' )
#' intraclass_correlation(judges)
intraclass_correlation <- function(ratings, alpha = .05) {
  check_arguments()
  ratings <- if (is.data.frame(ratings)) as.matrix(ratings) else ratings
  if (!is.matrix(ratings) || !is.numeric(ratings) || ncol(ratings) < 2) {
    stop_with("Can't correlate ratings: they must be numbers, in two columns or more.")
  }
  ratings <- ratings[stats::complete.cases(ratings), , drop = FALSE]
  if (nrow(ratings) < 2) {
    stop_with(sprintf("Can't correlate ratings: at least two targets are needed, and there is %d.", nrow(ratings)))
  }
  squares <- mean_squares(ratings)
  if (squares$between + squares$within == 0) squares[] <- NA_real_
  cbind(
    rbind(
      icc_by_f("one_way", squares$within, squares$n * (squares$k - 1), squares, alpha), agreement_icc(squares, alpha),
      consistency_icc(squares, alpha)
    ),
    n = nrow(ratings), k = ncol(ratings)
  )
}

# Mean squares of a two-way analysis of variance without replication, with their degrees of freedom.
mean_squares <- function(ratings) {
  n <- nrow(ratings)
  k <- ncol(ratings)
  total <- sum((ratings - mean(ratings))^2)
  between <- k * sum((rowMeans(ratings) - mean(ratings))^2)
  raters <- n * sum((colMeans(ratings) - mean(ratings))^2)
  list(
    between = between / (n - 1), within = (total - between) / (n * (k - 1)), raters = raters / (k - 1),
    error = max(total - between - raters, 0) / ((n - 1) * (k - 1)), n = n, k = k
  )
}

consistency_icc <- function(squares, alpha) {
  icc_by_f("consistency", squares$error, (squares$n - 1) * (squares$k - 1), squares, alpha)
}

# Both coefficients are (F - 1) / (F + k - 1), and so are the ends of their intervals.
icc_by_f <- function(type, error, df2, squares, alpha) {
  statistic <- squares$between / error
  df1 <- squares$n - 1
  of_f <- function(f) if (is.na(f)) NA_real_ else if (is.infinite(f)) 1 else (f - 1) / (f + squares$k - 1)
  data.frame(
    type = type, estimate = of_f(statistic), conf_low = of_f(statistic / stats::qf(1 - alpha / 2, df1, df2)),
    conf_high = of_f(statistic * stats::qf(1 - alpha / 2, df2, df1)), statistic = statistic, df1 = df1, df2 = df2,
    p_value = stats::pf(statistic, df1, df2, lower.tail = FALSE)
  )
}

agreement_icc <- function(squares, alpha) {
  row <- consistency_icc(squares, alpha)
  row$type <- "agreement"
  between <- squares$between
  error <- squares$error
  n <- squares$n
  k <- squares$k
  row$estimate <- (between - error) / (between + (k - 1) * error + k * (squares$raters - error) / n)
  if (is.na(row$estimate) || row$estimate == 1) {
    row[c("conf_low", "conf_high")] <- row$estimate
    return(row)
  }
  # of the mixture of mean squares that ICC(A,1) has in its denominator
  odds <- k * row$estimate / (n * (1 - row$estimate))
  parts <- c(odds * squares$raters, (1 + odds * (n - 1)) * error)
  df <- sum(parts)^2 / sum(parts^2 / c(k - 1, (n - 1) * (k - 1)))
  low <- stats::qf(1 - alpha / 2, n - 1, df)
  high <- stats::qf(1 - alpha / 2, df, n - 1)
  of_raters <- k * squares$raters + (k * n - k - n) * error
  row$conf_low <- n * (between - low * error) / (low * of_raters + n * between)
  row$conf_high <- n * (high * between - error) / (of_raters + n * high * between)
  row
}
