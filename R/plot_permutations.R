#' Interference next to what arbitrary labels give
#'
#' For each model and test, the distribution of the difference between the conditions over permutations, with the
#' observed difference as a line, the null's centre as a dashed one, and p.
#'
#' @param data what [permutation_test()] returned, or a data frame with one row per refit and cell, such as the table
#'   `permutation_values` of the database: `number` (0 is the data as observed), `model`, `test`, `delta_p`; `source`
#'   for the caption; `kind` (`"item_averaged"`: averaged over items), labels and their order (`model_label`,
#'   `model_no`, …) where they are there.
#' @inherit plot_effect_sizes params return
#' @source Cohen & Kincaid (2026), section 3.2, which gives one mean of permuted differences in words.
#' @noRd
plot_permutations <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- permutations_to_draw(with_cells(figure_rows(data, "cells"), c("model", "test")))
  cells <- permuted_cells(rows)
  n_tests <- nlevels(droplevels(rows$test_shown))
  n_columns <- columns_within(width, n_tests, each_in = 2.2, margin_in = .5)
  is_short <- inches_or(width, 8) < 7
  delta <- sprintf(
    "P(consistent), %s minus %s", one_text(rows, "reference", "first condition"), one_text(rows, "compared", "second")
  )
  finish_figure(
    permutation_panels(rows, cells, n_columns), file, permutations_in_words(cells, rows), width, height, 8,
    2.4 + 1.7 * ceiling(n_tests * nlevels(droplevels(cells$model_shown)) / n_columns),
    title = "Interference next to that of arbitrary labels",
    subtitle = sprintf(
      "%s permutations of items' conditions. Orange: observed; dashed: the null's centre.", counted_permutations(cells)
    ),
    caption = c(source_note(rows), if (is_short) sprintf("\u0394P: %s.", delta), permutation_note()),
    x = with_delta(sprintf("P, %s%s", kind_in_words(rows), if (is_short) "" else sprintf(" (%s)", delta))),
    y = "Permutations"
  )
}

permutation_panels <- function(rows, cells, n_columns) {
  strips <- stats::setNames(sprintf("%s: p %s", cells$cell_shown, p_in_words(cells$p, "= ")), cells$cell_shown)
  ggplot2::ggplot(rows[rows$number != 0, ]) +
    histogram(permutation_bins(rows, cells), fill = "#BFE3F7", edge = "white", linewidth = .2) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$centre), cells, linetype = "dashed", colour = "grey40") +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$observed), cells, colour = "#D55E00", linewidth = .9) +
    # Each cell has its own scale: near the ceiling differences are a tenth as large.
    panels_by("cell_shown", n_columns, scales = "free", labeller = ggplot2::as_labeller(strips)) +
    ggplot2::scale_y_continuous(breaks = function(limits) unique(floor(pretty(limits)))) +
    figure_theme() +
    grid_of_numbers()
}

# How many permutations of each cell lie in each of `n_bins` bins, from the least to the largest of what is drawn.
permutation_bins <- function(rows, cells, n_bins = 30) {
  permuted <- rows[rows$number != 0, ]
  binned <- lapply(split(permuted, permuted$cell_shown, drop = TRUE), function(cell) {
    drawn <- cells[cells$cell_shown == cell$cell_shown[[1]], ]
    ends <- range(cell$delta_p, drawn$centre, drawn$observed)
    width <- max(diff(ends) / (n_bins - 1), 1e-4) # less is the last digits of a cell whose answers are all alike
    breaks <- ends[[1]] + width * (seq(0, n_bins) - .5)
    bin <- findInterval(cell$delta_p, breaks + 1e-8 * width, left.open = TRUE, all.inside = TRUE)
    data.frame(
      cell_shown = cell$cell_shown[[1]], low = breaks[-(n_bins + 1)], high = breaks[-1], n = tabulate(bin, n_bins)
    )
  })
  do.call(rbind, binned)
}

permutation_note <- function() {
  paste(
    "p is one-sided: (1 + k) / (1 + n), k permutations with a difference as large as the observed one or larger.",
    "Compare with the dashed line, not with 0. All cells are permuted together, and a cell whose answers are all alike",
    "follows the others through the model: its p says nothing of its own interference."
  )
}

permutations_to_draw <- function(values) {
  check_columns(values, c("number", "model", "test", "delta_p"), to = "draw permutations")
  rows <- values[!is.na(values$delta_p), , drop = FALSE]
  if (!any(rows$number == 0) || !any(rows$number != 0)) {
    stop_with(
      "Can't draw permutations: there must be number 0 (the data as observed) and others.",
      "To make some: analyze permute"
    )
  }
  twice <- "a cell has several rows of one number"
  check_drawn_once(rows, c("number", "model", "test"), "permutations", twice, "Keep the rows of one test.")
  rows <- with_shown(rows, c("model", "test"))
  names <- expand.grid(test = levels(rows$test_shown), model = levels(rows$model_shown), stringsAsFactors = FALSE)
  rows$cell_shown <- factor(
    paste(rows$model_shown, rows$test_shown, sep = ", "), paste(names$model, names$test, sep = ", ")
  )
  rows
}

# One row a cell: observed, centre of the null, one-sided p, `n` permutations.
permuted_cells <- function(rows) {
  do.call(rbind, lapply(split(rows, rows$cell_shown, drop = TRUE), function(cell) {
    observed <- cell$delta_p[cell$number == 0]
    observed <- if (length(observed) == 1) observed else NA_real_
    null <- cell$delta_p[cell$number != 0]
    cbind(
      cell[1, c("model", "test", "model_shown", "test_shown", "cell_shown")],
      observed = observed, centre = mean(null), n = length(null),
      p = tail_probabilities(null, observed, n_failed = 0)$p_one_sided
    )
  }))
}

kind_in_words <- function(rows) {
  if (identical(unique(as.character(rows$kind)), "item_averaged")) "averaged over items" else "of a median item"
}

p_in_words <- function(p, equals = "") {
  ifelse(p < .0001, "< 0.0001", sprintf(ifelse(p < .001, "%s%.4f", "%s%.3f"), equals, p))
}

counted_permutations <- function(cells) {
  n <- range(cells$n)
  if (n[[1]] == n[[2]]) format(n[[1]], big.mark = ",") else sprintf("%d to %d", n[[1]], n[[2]])
}

permutations_in_words <- function(cells, rows) {
  alt_text(
    sprintf(
      "Histograms, one a model and test: the \u0394P (%s) of %s permutations of the conditions' labels",
      kind_in_words(rows), counted_permutations(cells)
    ),
    values = sprintf(
      "%s: observed %+.3f, centre of the null %+.3f, one-sided p %s", cells$cell_shown, cells$observed, cells$centre,
      p_in_words(cells$p)
    ),
    notes = source_note(rows)
  )
}
