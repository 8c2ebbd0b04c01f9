#' Agreement and shift of later occasions
#'
#' For each model and later occasion Cohen's kappa of the answers, the intraclass correlation of the measure, and how
#' far its mean has moved, each with its 95 % interval: a panel each.
#'
#' @param data what [retest_reliability()] returned, all tests together: `model`, `occasion`, `measure` and its columns.
#'   Rows of single tests (`test` is not missing) are left out. Used if present: `model_label` to show, `model_no` to
#'   order by, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_retest <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- retest_to_draw(figure_rows(data))
  n_panels <- nlevels(rows$panel)
  occasions <- levels(rows$occasion_shown)
  plot <- at_height(rows) +
    forest(rows, "occasion_shown", rev(levels(rows$model_shown))) +
    panels_by("panel", min(n_panels, 3), scales = "free_x") +
    one_legend(ncol = legend_columns(occasions, inches_or(width, 9))) +
    figure_theme() +
    ggplot2::theme(panel.spacing.x = ggplot2::unit(18, "pt")) # or the numbers of neighbours touch
  finish_figure(
    plot, file, retest_in_words(rows), width, height, 9,
    ceiling(n_panels / 3) * (1 + .13 * max(nlevels(rows$model_shown) * (length(occasions) + 2), 8)) + 1,
    title = "Is it the same on another occasion?",
    subtitle = "The same trials again. 1: the same answers, the same order of trials; a shift of 0: the same mean.",
    caption = source_note(rows), x = "With 95 % interval"
  )
}

retest_to_draw <- function(data) {
  needed <- c(
    "model", "occasion", "measure", "kappa", "kappa_low", "kappa_high", "icc", "icc_low", "icc_high", "shift_d",
    "shift_low", "shift_high", "sd_first"
  )
  if (is.data.frame(data) && !is.null(data$test)) data <- data[is.na(data$test), , drop = FALSE]
  data <- rows_to_draw(
    data, needed, !is.na(data$kappa) | !is.na(data$icc) | !is.na(data$shift_d), "occasions", "row with an agreement",
    needed[1:3], "a model has more than one row for an occasion",
    "Keep the rows of one source, study version and variant."
  )
  measures <- gsub("_", " ", as.character(data$measure), fixed = TRUE)
  kappa <- if (length(unique(measures)) > 1) "Kappa of answers (%s)" else "Kappa of answers"
  names <- c(kappa, "Intraclass correlation of %s", "Shift of %s, in SD")
  panels <- unlist(lapply(unique(measures), function(measure) gsub("%s", measure, names, fixed = TRUE)))
  part <- function(number, at, low, high) {
    panel <- mapply(gsub, "%s", measures, names[[number]], fixed = TRUE)
    cbind(data, panel = factor(panel, panels), at = at, low = low, high = high)
  }
  rows <- rbind(
    part(1, data$kappa, data$kappa_low, data$kappa_high), part(2, data$icc, data$icc_low, data$icc_high),
    part(3, data$shift_d, data$shift_low / data$sd_first, data$shift_high / data$sd_first)
  )
  rows <- with_shown(rows[!is.na(rows$at), , drop = FALSE], "model")
  rows$panel <- droplevels(rows$panel)
  occasions <- sprintf("occasion %d", as.integer(rows$occasion))
  rows$occasion_shown <- factor(occasions, unique(occasions[order(rows$occasion)]))
  rows$height <- heights_of(rows$model_shown, rows$occasion_shown)
  rows
}

retest_in_words <- function(rows) {
  said <- vapply(levels(rows$panel), function(panel) {
    at <- rows$at[rows$panel == panel]
    sprintf("%s: from %.2f to %.2f.", panel, min(at), max(at))
  }, "")
  alt_text(
    sprintf("Agreement with the first occasion for %s", counted_shown(rows, c("model", "occasion"))),
    notes = c(said, source_note(rows))
  )
}
