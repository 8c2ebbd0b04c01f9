#' How long are answers, and do they grow or shrink along a game?
#'
#' A model whose answers shorten as a conversation grows may have stopped to think, or lost what came before.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer.
#' @param length name of the column with the length of the answer, in tokens; NA if it was not counted.
#' @param place name of the column with the place of the answer in its conversation: the round.
#' @return A data frame with one row per group and condition: `condition`; `n`; `median_length`, `mean_length` and
#'   `largest` (tokens); and of all conditions of the group `first_quarter` and `last_quarter`, the median length in the
#'   first and the last quarter of the rounds, and `trend`, Spearman's rank correlation of length and round (NA if
#'   all lengths are alike); `status`, `messages`.
#' @references Spearman, C. (1904). The proof and measurement of association between two things. American Journal of
#'   Psychology, 15, 72-101.
#' @noRd
check_answer_lengths <- function(data, by = NULL, length = "output_tokens", place = "round", contrast = "condition",
                                 levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(length, place), to = "check lengths")
  empty <- data.frame(
    condition = character(), n = integer(), median_length = double(), mean_length = double(), largest = double(),
    first_quarter = double(), last_quarter = double(), trend = double()
  )
  check_each_group(data, by, c(length, place, contrast), empty, function(rows) {
    lengths <- as.double(rows[[length]])
    places <- as.double(rows[[place]])
    limits <- stats::quantile(places, c(.25, .75), names = FALSE)
    varies <- stats::var(lengths) > 0 && stats::var(places) > 0
    along <- data.frame(
      first_quarter = stats::median(lengths[places <= limits[[1]]]),
      last_quarter = stats::median(lengths[places >= limits[[2]]]),
      trend = if (varies %in% TRUE) stats::cor(lengths, places, method = "spearman") else NA_real_
    )
    by_condition(rows, contrast, levels, function(of_condition) {
      own <- as.double(of_condition[[length]])
      cbind(data.frame(
        n = nrow(of_condition), median_length = stats::median(own), mean_length = mean(own), largest = max(own)
      ), along)
    })
  })
}
