#' What is found again of known parameters
#'
#' For each model and test, the estimates and 95 % intervals of many simulated data sets against the truth. Where the
#' truth differs between data sets (drawn from the prior), it is on the horizontal axis, and intervals should cross the
#' diagonal; where it is the same in all (fixed values), data sets are put in the order of their estimates, and
#' intervals should cross the dashed line. Each panel says how many do.
#'
#' @param data a data frame with one row per data set, model and test, such as [recover_contrasts()]:
#'   `data_set`, `model`, `test`, `truth`, `estimate`, `conf_low`, `conf_high` (differences of probabilities). Used
#'   if present: `model_label`, `test_label`, `source`, `is_converged` (the caption counts fits that did not).
#' @inherit plot_effect_sizes params return
#' @seealso [interval_coverage()] for the numbers.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' recovered <- data.frame(
#'   data_set = 1:50, model = "claude-sonnet-4", test = "gender_career", truth = seq(-.1, .3, length.out = 50),
#'   source = "simulated"
#' )
#' recovered$estimate <- recovered$truth + .02 * sin(1:50)
#' recovered <- transform(recovered, conf_low = estimate - .018, conf_high = estimate + .018)
#' plot_recovery(recovered)
plot_recovery <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- recovery_to_draw(figure_rows(data))
  is_fixed <- all(tapply(rows$truth, rows$panel, function(truths) length(unique(truths)) == 1))
  n_columns <- columns_within(width, nlevels(rows$test_shown), each_in = 2, margin_in = .6)
  finish_figure(
    recovery_panels(rows, is_fixed, n_columns), file, recovery_in_words(rows), width, height, 9,
    1.9 + 2.1 * ceiling(nlevels(rows$panel) / n_columns),
    title = paste(
      "Is a known interference found again?", if (is_fixed) "Fixed truths" else "Truths drawn from the prior"
    ),
    subtitle = "Number of data sets whose 95 % interval holds the truth, by model and test.",
    caption = c(source_note(rows), coverage_note(rows)),
    x = if (is_fixed) "Data sets, in the order of their estimates" else with_delta("P (median word)", "True "),
    y = with_delta("P, 95 % interval", "Estimated ")
  )
}

recovery_to_draw <- function(recovered) {
  needed <- c("data_set", "model", "test", "truth", "estimate", "conf_low", "conf_high")
  rows <- rows_to_draw(
    recovered, needed, !is.na(recovered$estimate), "recovery", "row with an estimate", needed[1:3],
    "a data set has more than one row for a model and test"
  )
  rows <- with_known_labels(with_known_labels(rows, "model", example_models()), "test", example_tests())
  rows <- with_shown(rows, c("model", "test"))
  verdicts <- c("interval holds the truth", "interval misses it")
  rows$holds <- holds_truth(rows)
  rows$verdict <- factor(ifelse(rows$holds, verdicts[[1]], verdicts[[2]]), levels = verdicts)
  rows <- rows[order(rows$model_shown, rows$test_shown, rows$estimate), ]
  cell <- paste(rows$model_shown, rows$test_shown, sep = ", ")
  cell <- factor(cell, levels = unique(cell))
  counts <- sprintf("%s: %d of %d", levels(cell), tapply(rows$holds, cell, sum), table(cell))
  rows$panel <- factor(cell, levels = levels(cell), labels = counts)
  rows$place <- stats::ave(rows$estimate, rows$panel, FUN = seq_along)
  with_intervals(rows)
}

recovery_panels <- function(rows, is_fixed, n_columns) {
  rows$x <- if (is_fixed) rows$place else rows$truth
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$x)) +
    (if (is_fixed) {
      ggplot2::geom_line(ggplot2::aes(y = .data$truth), colour = "grey35", linetype = "dashed")
    } else {
      ggplot2::geom_abline(colour = "grey35", linetype = "dashed", linewidth = .4)
    }) +
    curves(rows, "verdict", size = if (is_fixed) 1 else 1.2, bar_width = .4, is_joined = FALSE) +
    panels_by("panel", n_columns, scales = if (is_fixed) "free_y" else "fixed") +
    colours_and_shapes(2) +
    figure_theme() +
    panels_of_tests() +
    grid_of_numbers()
}

coverage_note <- function(rows) {
  all <- interval_coverage(rows, by = character())
  n_doubtful <- if ("is_converged" %in% names(rows)) length(unique(rows$data_set[!rows$is_converged])) else 0
  c(
    sprintf(
      "%s, one fit each; of %s, %.1f %% hold the truth.", counted(length(unique(rows$data_set)), "data set"),
      counted(all$n, "interval"), 100 * all$coverage
    ),
    if (n_doubtful > 0) sprintf("Not converged: %s.", counted(n_doubtful, "fit"))
  )
}

recovery_in_words <- function(rows) {
  alt_text(
    "Estimates of \u0394P with 95 % intervals against the truth", "Intervals that hold it", levels(rows$panel),
    coverage_note(rows), source_note(rows)
  )
}

# Simulated models and tests have their names also where the rows come straight from recover_contrasts().
with_known_labels <- function(rows, id, known) {
  label <- paste0(id, "_label")
  if (!label %in% names(rows)) {
    names <- as.character(rows[[id]])
    rows[[label]] <- ifelse(names %in% names(known), known[names], names)
  }
  rows
}
