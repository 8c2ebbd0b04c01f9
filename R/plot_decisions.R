#' Decisions with the usual association, with their intervals
#'
#' The share of decisions in which each group gets what usually goes with it, by test and model, with Wilson's 95 %
#' interval; .5 is no bias. Conversations without a decision (undecided, refused, cut off) are in no share, and are
#' counted in the caption.
#'
#' @param data a data frame with one row per model and test, such as the view `decision_bias` of the database: `model`,
#'   `test`, `share_expected`, `n_decided` and `n_conversations`. Used if present: `model_label` and `test_label` to
#'   show, `model_no` and `test_no` to order by, `source`.
#' @inherit plot_effect_sizes params return
#' @source Bai et al. (2025), figure 3.
#' @noRd
plot_decisions <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- decisions_to_draw(figure_rows(data))
  association_forest(rows, of_decisions, file, width, height, ggplot2::coord_cartesian(xlim = c(0, 1)))
}

of_decisions <- list(
  name = "Share of decisions", what = "share", middle = .5, reach = .5, below = "below",
  note = function(rows) undecided_note(rows), title = "Do decisions go with the usual association?",
  subtitle = "Right of .5: group b gets attribute b more often than not; left: less often.",
  x = "Share of decisions with Wilson's 95 % interval"
)

decisions_to_draw <- function(data) {
  rows <- rows_by_test(data, c("share_expected", "n_decided", "n_conversations"), "decisions", "row with a decision")
  ends <- wilson(rows$share_expected * rows$n_decided, rows$n_decided)
  with_intervals(rows, rows$share_expected, ends$rate_low, ends$rate_high)
}

undecided_note <- function(rows) {
  n <- sum(rows$n_conversations)
  sprintf("%s of %s have no decision.", format(n - sum(rows$n_decided), big.mark = ","), counted(n, "conversation"))
}
