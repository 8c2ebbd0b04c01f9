#' D of each model in each test, with its interval
#'
#' The mean of D over answers with its 95 % t interval, by test and model: how far words go to the groups of the usual
#' association (1: all of them, 0: as often to the other group, -1: all crossed). Answers without a D (refused, cut off,
#' all words to one group) are in no mean, and are counted in the caption.
#'
#' @param data a data frame with one row per model and test, such as the view `pairing_bias` of the database: `model`,
#'   `test`, `mean_d`, `sd_d`, `n_d` and `n_trials`. Used if present: `model_label` and `test_label` to show,
#'   `model_no` and `test_no` to order by, `source`.
#' @inherit plot_effect_sizes params return
#' @source Bai et al. (2025), equation 1 and figure 2.
#' @noRd
plot_bias <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  association_forest(bias_to_draw(figure_rows(data)), of_bias, file, width, height)
}

# Dots of tests and models, and what they are `of`: what a forest and a heat map say of it.
association_forest <- function(rows, of, file, width, height, ...) {
  legend <- one_legend(ncol = legend_columns(levels(rows$model_shown), inches_or(width, 9)))
  words <- alt_text(
    sprintf("%s with 95 %% intervals for %s", of$name, counted_shown(rows, c("test", "model"))),
    notes = c(apart_in_words(rows, of$what, of$middle, of$below), source_note(rows), of$note(rows))
  )
  finish_figure(
    forest_by_test(rows, legend, of$middle, ...), file, words, width, height, 9, inches_by_test(rows),
    title = given_title(rows, of$title), subtitle = of$subtitle, caption = c(source_note(rows), of$note(rows)), x = of$x
  )
}

of_bias <- list(
  name = "Mean of D", what = "mean", middle = 0, reach = 1, below = "below 0", note = function(rows) no_d_note(rows),
  title = "Do words go to the groups of the usual association?",
  subtitle = "Right of 0: more often than to the other group; left: the association is crossed.",
  x = "Mean of D with 95 % t interval over answers"
)

bias_to_draw <- function(data) {
  rows <- rows_by_test(data, c("mean_d", "sd_d", "n_d", "n_trials"), "D", "row with a mean of D")
  half_width <- t_half_width(rows$sd_d, rows$n_d)
  with_intervals(rows, rows$mean_d, rows$mean_d - half_width, rows$mean_d + half_width)
}

no_d_note <- function(rows) {
  n <- sum(rows$n_trials)
  sprintf("%s of %s have no D.", format(n - sum(rows$n_d), big.mark = ","), counted(n, "answer"))
}
