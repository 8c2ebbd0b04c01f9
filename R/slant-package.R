#' slant: measures how language models lean
#'
#' The R side of slant. It reads what the collector kept (a DuckDB file, or an export as CSV or Parquet), fits the
#' models of the papers, and draws their figures. Every function takes and returns data frames.
#'
#' - Ask: [collect_trials()] runs the collector.
#' - Read: [open_trials()], [close_trials()], [read_trials()], [stored_fits()], [read_fit()]; to try things:
#'   [simulate_trials()].
#' - Fit: [fit_lme4()], [effect_size()], [welch_test()], [step_sensitivity()], [fit_leave_one_out()]; by name,
#'   [run_fit()]. As the paper prints it: [mixed_model_table()].
#' - In other ways: [fit_specification()], [trimmed_difference()], [median_difference()], [glmer_effects()],
#'   [plot_specifications()].
#' - Topics: [fit_stm()], or in steps [topic_texts()], [prepare_topics()], [fit_topics()], [topic_effects()];
#'   [search_topics()] for their number, [read_topics()] to open a fit again.
#' - Check: [check_residuals()], [check_influence()], [check_variance_shares()], [check_word_effects()],
#'   [check_corrections()], [check_equivalence()], [check_token_limits()], [check_option_order()], [check_refusals()],
#'   [check_skew()]; of forced choices and games [check_first_option()], [check_order_effect()],
#'   [check_missing_answers()], [check_missing_bounds()], [check_left_out()], [check_separation()],
#'   [check_games_ended()], [check_game_influence()], [check_answer_lengths()].
#' - Draw: [plot_effect_sizes()], [plot_tokens()], [plot_token_steps()], [plot_refusals()], [plot_topic_prevalence()],
#'   [plot_first_options()],
#'   [plot_search_k()], [plot_residuals()].
#' - Interference: [fit_forced_choice()], or any logistic mixed model with [fit_brms()]; [block_effects()] of a
#'   fit; [permutation_test()], [permute_blocks()], [refit_permutation()], [summarise_permutations()];
#'   [plot_compliance()], [plot_block_contrasts()], [plot_predictive_checks()], [plot_permutations()].
#' - Known interference, found again: [simulate_forced_choice()], [forced_choice_parameters()], [true_contrasts()],
#'   [recover_contrasts()], [interval_coverage()], [plot_recovery()].
#' - Games: [game_indices()], [matrix_indices()], [random_level()], [compare_games()], [rank_ordered()]; what the
#'   indices measure: [simulate_structured_games()], [controlled_indices()]; drawn: [plot_stratification()],
#'   [plot_families()], [plot_success()], [plot_elicited_rates()], [plot_allocations()], [plot_controlled_indices()],
#'   [plot_learning_curves()], [plot_exploration()].
#' - Below them: [checked_formula()], [checked_prior()], [brms_parts()], [compiled_model()], [with_conditions()].
#'
#' The files work without being installed, too: `for (file in list.files("R", full.names = TRUE)) source(file)`.
#'
#' @keywords internal
"_PACKAGE"
