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
  empty <- data.frame(
    n = integer(), n_points = integer(), n_used = integer(), never_used = character(), share_lowest = double(),
    share_highest = double(), commonest = double(), share_commonest = double(), n_respondents = integer(),
    n_same = integer()
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
