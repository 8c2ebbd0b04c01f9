#' Draw a figure by its name
#'
#' The one door to all figures, for callers that hold them as data: the Python bridge, scripts, and figures that are
#' drawn from one table of the database. `analyze figures` in the shell draws those that the data of a study allow, from
#' their own tables.
#'
#' @param name the name of a function of this package, such as `"plot_effect_sizes"`, or one of
#'   \describe{
#'     \item{of trials}{`"plot_tokens"`, `"plot_token_steps"`, `"plot_residuals"`.}
#'     \item{of games}{`"plot_success"` (view `allocation_game_indices`), `"plot_exploration"`
#'       (`allocation_exploration`), `"plot_learning_curves"` (`allocation_learning_curves`), `"plot_elicited_rates"`
#'       (`elicited_rates`), `"plot_learned_parameters"` (`learner_parameters`), `"plot_replayed_curves"`
#'       (`replayed_curves`), `"plot_families"` (of [game_indices()], with `family` and `order`, the place in it),
#'       `"plot_controlled_indices"` (of [controlled_indices()]).}
#'     \item{of attributes of profiles}{`"plot_marginal_means"` (of [marginal_means()]), `"plot_amce"` (of [amce()]),
#'       `"plot_impact_ratios"` (of [impact_ratio()]), `"plot_interactions"` (of [amie()]),
#'       `"plot_paired_differences"` (of the engine `paired`: versions against a baseline), `"plot_ratings"` (a row per
#'       `level` and point of the scale, `category`: `n` ratings, stacked around the middle).}
#'     \item{of a model and people}{`"plot_alike"`, `"plot_alike_spread"`, `"plot_alike_order"`,
#'       `"plot_alike_range"`, `"plot_alike_personas"` (of [alike()], or of its tables).}
#'     \item{of other tables}{`"plot_refusals"` (view `refusals_by_condition`), `"plot_first_options"` (of
#'       `run_check("check_first_option", ...)$rows`), `"plot_permutations"` (of [permutation_test()]),
#'       `"plot_topic_prevalence"` (of [fit_stm()]), `"plot_search_k"` (table `topic_searches`),
#'       `"plot_specifications"` (of `analyze sensitivity --format csv`), `"plot_retest"` (of [retest_reliability()]),
#'       `"plot_successor"` (of [compare_successor()]), `"plot_watch"` (of [watch_shifts()]), `"plot_atlas"` (of
#'       [meta_analysis()], with `released` and `maker`),
#'       `"plot_family_differences"` (view `bayes_ratios`).}
#'   }
#' @param data a data frame, or a fit.
#' @inherit plot_effect_sizes params return
#' @param ... `width`, `height`, `title`, `subtitle`, `order`, `highlight`, `dpi`, as all figures take them: see
#'   [plot_effect_sizes()].
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' draw_figure("plot_tokens", simulate_trials())
draw_figure <- function(name, data, file = NULL, ...) {
  check_arguments()
  known <- ls(environment(draw_figure), pattern = "^plot_")
  if (!name %in% known) {
    stop_with(sprintf("There is no figure %s.", quoted(name)), sprintf("Figures there are: %s.", toString(known)))
  }
  do.call(name, list(data, file = file, ...), quote = TRUE)
}
