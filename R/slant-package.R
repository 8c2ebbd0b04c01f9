#' slant: measures how language models lean
#'
#' The R side of slant. It reads what the collector kept (a DuckDB file, or an export as CSV or Parquet), fits the
#' models of the papers, and draws their figures. Every function takes and returns data frames.
#'
#' - Read: [open_trials()], [read_trials()], [stored_fits()]; to try things: [simulate_trials()].
#' - Fit: [fit_lme4()], [effect_size()]; by name, [run_fit()]. As the paper prints it: [mixed_model_table()].
#' - Draw: [plot_effect_sizes()], [plot_tokens()].
#' - Below them: [checked_formula()], [with_conditions()].
#'
#' The files work without being installed, too: `for (file in list.files("R", full.names = TRUE)) source(file)`.
#'
#' @keywords internal
"_PACKAGE"
