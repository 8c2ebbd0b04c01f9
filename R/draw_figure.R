#' Draw a figure by its name
#'
#' The one door to all figures, for callers that hold them as data: the Python bridge, and scripts. `analyze figures`
#' in the shell draws those that the data of a study allow, from their own tables.
#'
#' @param name `"plot_effect_sizes"`, for instance: the name of a function of this package, or of one that is drawn
#'   from a table of the database alone: `"plot_tokens"`, `"plot_refusals"`, `"plot_residuals"`, `"plot_token_steps"`
#'   (of trials), `"plot_first_options"` (of `run_check("check_first_option", ...)$rows`), `"plot_permutations"` (of
#'   [permutation_test()]), `"plot_topic_prevalence"` (of [fit_stm()]), `"plot_search_k"`, `"plot_specifications"`.
#' @param data a data frame, or a fit.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' draw_figure("plot_tokens", simulate_trials())
draw_figure <- function(name, data, file = NULL, width = NULL, height = NULL) {
  known <- figure_functions()
  if (!name %in% known) {
    stop_with(sprintf("There is no figure %s.", quoted(name)), sprintf("Figures there are: %s.", toString(known)))
  }
  do.call(name, list(data, file = file, width = width, height = height), quote = TRUE)
}

figure_functions <- function() ls(environment(draw_figure), pattern = "^plot_")
