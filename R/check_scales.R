#' How is the scale used: which points never, how often its ends?
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per answer.
#' @param outcome name of the column with the ratings, whole numbers.
#' @param limits the lowest and the highest point of the scale, or the names of two columns that have them; `NULL` for
#'   those that were given.
#' @param respondent name of the column that tells respondents apart, or `NULL`.
#' @return A data frame with one row per group: `n` ratings; `n_points` of the scale; `n_used`, and `never_used` (text);
#'   `share_lowest` and `share_highest`; `commonest` point and its share; `n_respondents` with two answers or more, and
#'   `n_same` of them who gave the same answer always; `status`, `messages`.
#' @noRd
check_scale_use <- function(data, by = NULL, outcome = "rating", limits = NULL, respondent = NULL) {
  check_columns(data, respondent, to = "look at the use of a scale")
  empty <- columns_of(
    "n:whole n_points:whole n_used:whole never_used:text share_lowest share_highest commonest share_commonest",
    "n_respondents:whole n_same:whole"
  )
  check_each_group(data, by, c(outcome, if (is.character(limits)) limits), empty, function(rows) {
    ratings <- plain_numbers(rows[[outcome]], outcome)
    limits <- if (is.null(limits)) range(ratings) else limits_of_rows(rows, limits)
    check_answers_within(ratings, if (limits[[1]] == limits[[2]]) limits + c(0, 1) else limits)
    points <- seq(limits[[1]], limits[[2]])
    n <- tabulate(match(ratings, points), length(points))
    people <- if (!is.null(respondent)) split(ratings, as.character(rows[[respondent]]))
    people <- people[lengths(people) > 1]
    frame_of(
      n = length(ratings), n_points = length(points), n_used = sum(n > 0), never_used = toString(points[n == 0]),
      share_lowest = n[[1]] / length(ratings), share_highest = n[[length(n)]] / length(ratings),
      commonest = as.double(points[[which.max(n)]]), share_commonest = max(n) / length(ratings),
      n_respondents = if (is.null(respondent)) NA_integer_ else length(people),
      n_same = if (is.null(respondent)) NA_integer_ else sum(vapply(people, function(own) length(unique(own)) == 1, NA))
    )
  })
}

#' Is there agreement whatever is asked: do the halves of a scale differ?
#'
#' Items that are worded for a trait and items worded against it, turned round, have the same mean where answers are
#' about the trait. Who agrees with everything is high on the first and low on the second: half the difference is what
#' agreement adds to an answer. The mean of both halves is not moved by it.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per answer: `respondent`, `item`, `rating`.
#' @param keys see [scale_reliability()]; or the names of three columns of `data` that have scale, item and key of each
#'   answer.
#' @param limits see [scale_reliability()]; or the names of two columns.
#' @return A data frame with one row per group and scale: `scale`; `n` respondents who answered items of both kinds;
#'   `mean_positive` and `mean_negative`, of items with the keys 1 and -1, turned round (points of the scale);
#'   `balanced_mean`, of the two; `acquiescence`, half their difference, with `std_error`, `conf_low`, `conf_high` (95
#'   %, t over respondents), `p_value`, `detectable` (found by 80 % of such studies), `p_holm` of all rows; `status`,
#'   `messages`.
#' @source Cronbach (1946); Hinz et al. (2007).
#' @noRd
check_acquiescence <- function(data, keys, limits, by = NULL) {
  check_columns(data, c("respondent", "item", "rating", by), to = "look for acquiescence")
  columns <- if (is.character(keys)) keys
  limits <- unlist(limits)
  if (is.null(columns)) keys <- checked_keys(as_columns(keys), data)
  empty <- columns_of(
    "scale:text n:whole mean_positive mean_negative balanced_mean acquiescence std_error conf_low conf_high p_value",
    "detectable"
  )
  used <- unique(c("respondent", "item", "rating", columns, if (is.character(limits)) limits))
  with_holm(check_each_group(data, by, used, empty, function(rows) {
    limits <- limits_of_rows(rows, limits)
    check_answers_within(rows$rating, limits)
    if (!is.null(columns)) keys <- checked_keys(keys_of_rows(rows, columns[[1]], columns[[2]], columns[[3]]), rows)
    of_scales <- split(keys, factor(keys$scale, unique(keys$scale)))
    as_plain_rows(do.call(rbind, lapply(unname(of_scales), halves_of_scale, rows, limits)))
  }))
}

halves_of_scale <- function(keys, rows, limits) {
  rows <- rows[rows$item %in% keys$item, , drop = FALSE]
  key <- keys$key[match(rows$item, keys$item)]
  scored <- ifelse(key == 1, rows$rating, sum(limits) - rows$rating)
  means <- tapply(scored, list(as.character(rows$respondent), factor(key, c(1, -1))), mean)
  means <- means[stats::complete.cases(means), , drop = FALSE]
  half <- (means[, 1] - means[, 2]) / 2
  n <- length(half)
  if (n == 0) {
    stop_with(sprintf("Scale \"%s\" has no items of both keys that the same respondent answered.", keys$scale[[1]]))
  }
  std_error <- stats::sd(half) / sqrt(n)
  t <- mean(half) / std_error
  frame_of(
    scale = as.character(keys$scale[[1]]), n = n, mean_positive = mean(means[, 1]), mean_negative = mean(means[, 2]),
    balanced_mean = mean(means), acquiescence = mean(half), std_error = std_error,
    conf_low = mean(half) - stats::qt(.975, max(1, n - 1)) * std_error,
    conf_high = mean(half) + stats::qt(.975, max(1, n - 1)) * std_error,
    p_value = 2 * stats::pt(-abs(t), max(1, n - 1)), detectable = minimum_detectable_effect(std_error, n - 1)
  )
}
