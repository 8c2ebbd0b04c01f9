#' slant: measures how language models lean
#'
#' The R side of slant. It reads what the collector kept (a DuckDB file, or an export as CSV or Parquet), fits the
#' models of the papers, and draws their figures. Every function takes data frames as `data`, and gives data frames.
#'
#' - Ask: [collect_trials()] runs the collector.
#' - Read: [open_trials()], [close_trials()], [read_trials()]; what `analyze` kept: [stored_fits()], [read_fit()],
#'   [read_topics()]; readers' notes: [read_notes()]; coded texts:
#'   [agreement()], [code_drift()], [coder_errors()], [fit_dsl()], [fit_ppi()]. To try things: [simulate_trials()],
#'   [simulate_forced_choice()].
#' - Fit: [fit_lme4()], [fit_lm()], [fit_logistic()], [fit_clm()], [fit_crossed()], [effect_size()],
#'   [fit_forced_choice()], [fit_brms()], [fit_stm()]; any engine by its name, [run_fit()]. What they
#'   return: [slant_fit]. As the paper prints it: [mixed_model_table()].
#' - Check and test: [run_check()], [permutation_test()]. Plan: [plan_power()], [plot_power()]. Pool effects
#'   over tests and models: [meta_analysis()], [plot_forest()]; whether measures agree: [convergent_validity()],
#'   [plot_validity()]; the same trials on another day: [retest_reliability()], [intraclass_correlation()].
#' - Attributes of profiles (vignettes, conjoint, audits): [marginal_means()], [mean_contrasts()], [amce()], [amie()],
#'   [impact_ratio()]; people's slips taken out: [corrected_choices()]. Questionnaires: [scale_reliability()]. A model
#'   compared with people: [alike()]; with its successor: [compare_successor()]; with itself, every month:
#'   [watch_shifts()].
#' - Games: [game_indices()], [compare_games()], [rank_ordered()]; what the indices measure:
#'   [simulate_structured_games()], [controlled_indices()].
#' - Known interference, found again: [forced_choice_parameters()], [true_contrasts()], [recover_contrasts()],
#'   [interval_coverage()]; is a sampler right? [calibrate()].
#' - Draw: [plot_effect_sizes()]; forced choices [plot_compliance()], [plot_condition_contrasts()],
#'   [plot_predictive_checks()], [plot_recovery()], [plot_calibration()]; games [plot_stratification()],
#'   [plot_allocations()]; these and all others by their names, [draw_figure()].
#' - Pass on: [replay()] an archive of `analyze seal`.
#'
#' The files work without being installed, too: `for (file in list.files("R", full.names = TRUE)) source(file)`.
#'
#' @keywords internal
"_PACKAGE"
