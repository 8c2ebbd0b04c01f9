#' slant: measures how language models lean
#'
#' The R side of slant. It reads what the collector kept (a DuckDB file, or an export as CSV or Parquet), fits the
#' models of the papers, and draws their figures. Every function takes and returns data frames.
#'
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
#'   [check_skew()].
#' - Draw: [plot_effect_sizes()], [plot_tokens()], [plot_token_steps()], [plot_refusals()], [plot_topic_prevalence()],
#'   [plot_search_k()], [plot_residuals()].
#' - Below them: [checked_formula()], [with_conditions()].
#'
#' The files work without being installed, too: `for (file in list.files("R", full.names = TRUE)) source(file)`.
#'
#' @keywords internal
"_PACKAGE"
