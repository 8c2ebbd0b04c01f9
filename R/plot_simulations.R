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
#'   data_set = 1:50, model = "claude-sonnet-4", test = "gender_career",
#'   truth = seq(-.1, .3, length.out = 50),
#'   source = "simulated"
#' )
#' recovered$estimate <- recovered$truth + .02 * sin(1:50)
#' recovered <- transform(recovered, conf_low = estimate - .018, conf_high = estimate + .018)
#' plot_recovery(recovered)
plot_recovery <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("recovery", data, file, width, height, ...)
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
  rows <- with_intervals(rows)
  is_fixed <- all(tapply(rows$truth, rows$panel, function(truths) length(unique(truths)) == 1))
  n_columns <- columns_within(width, nlevels(rows$test_shown), each_in = 2, margin_in = .6)
  rows$x <- if (is_fixed) rows$place else rows$truth
  plot <- ggplot2::ggplot(rows, ggplot2::aes(x = .data$x)) +
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
  finish_figure(
    plot, alt_text(
      "Estimates of \u0394P with 95 % intervals against the truth", "Intervals that hold it", levels(rows$panel)
    ),
    1.9 + 2.1 * ceiling(nlevels(rows$panel) / n_columns), notes = coverage_note(rows),
    title = paste(
      "Is a known interference found again?", if (is_fixed) "Fixed truths" else "Truths drawn from the prior"
    ),
    x = if (is_fixed) "Data sets, in the order of their estimates" else with_delta("P (median word)", "True "),
    y = with_delta("P, 95 % interval", "Estimated ")
  )
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

# Simulated models and tests have their names also where the rows come straight from recover_contrasts().
with_known_labels <- function(rows, id, known) {
  label <- paste0(id, "_label")
  if (!label %in% names(rows)) {
    names <- as.character(rows[[id]])
    rows[[label]] <- ifelse(names %in% names(known), known[names], names)
  }
  rows
}

#' Are the ranks of a calibration uniform?
#'
#' One panel a quantity: the empirical distribution function of the ranks of the truths, minus that of uniform ranks. It
#' stays in the grey band at all points at once in 95 of 100 right samplers. A line that rises above it at the left and
#' falls below it at the right has too many ranks at both ends: posteriors are too narrow; the other way round they are
#' too wide. A line above the band all along has too many low ranks: draws are too high; one below it, too low.
#'
#' @param data what [calibrate()] returned, or a data frame such as its `ranks`, with one row per data set and quantity:
#'   `number`, `quantity`, `rank`, `n_draws`. Used if present: `status` (the caption counts doubtful fits).
#' @inherit plot_effect_sizes params return
#' @seealso [calibrate()] for the numbers.
#' @source Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity, Statistics and Computing 32:32.
#' @export
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' ranks <- expand.grid(number = 1:100, quantity = c("intercept", "sd_item"))
#' ranks <- transform(ranks, rank = (37 * number) %% 100, n_draws = 99, source = "simulated")
#' ranks$rank[ranks$quantity == "sd_item"] <- 25 + ranks$rank[ranks$quantity == "sd_item"] %/% 2
#' plot_calibration(ranks)
plot_calibration <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  data <- begin_figure("calibration", data, file, width, height, ...)
  rows <- rows_to_draw("calibration", data, !is.na(data$quantity))
  rows$n_failed <- length(unique(data$number[is.na(data$quantity)]))
  check_ranks(rows)
  rows$quantity <- factor(rows$quantity, unique(rows$quantity))
  p <- vapply(split(rows, rows$quantity), function(own) uniformity_p(own$rank, own$n_draws[[1]]), numeric(1))
  quantities <- data.frame(
    quantity = levels(rows$quantity), p = unname(p), is_in_band = unname(p >= .05),
    panel = sprintf("%s\np %s", vapply(levels(rows$quantity), broken_name, ""), p_in_words(p, "= "))
  )
  n_columns <- columns_within(width, min(3, nrow(quantities)), each_in = 1.45, margin_in = .5)
  n <- length(unique(rows$number))
  n_doubtful <- if ("status" %in% names(rows)) length(unique(rows$number[rows$status != "ok"])) else 0
  n_failed <- rows$n_failed[[1]]
  n_outside <- sum(!quantities$is_in_band)
  finish_figure(
    calibration_panels(rows, quantities, n_columns), alt_text(
      "Differences between the distribution of ranks and a uniform one, one panel a quantity",
      values = sprintf(
        "%s: p %s, %s", quantities$quantity, p_in_words(quantities$p),
        ifelse(quantities$is_in_band, "stays in its band", "leaves its band")
      )
    ),
    2.2 + 1.25 * ceiling(nrow(quantities) / n_columns), source = "Simulated answers: no model was asked.",
    notes = c(
      sprintf(
        "%s drawn from the prior, one fit each; of %d quantities %d %s band, as 5 in 100 do by chance.",
        counted(n, "data set"), nrow(quantities), n_outside, if (n_outside == 1) "leaves its" else "leave their"
      ),
      if (n_doubtful > 0) sprintf("Divergent or not converged, and shown: %s.", counted(n_doubtful, "fit")),
      if (n_failed > 0) sprintf("Failed, and not shown: %s.", counted(n_failed, "fit"))
    )
  )
}

# A name in lines of about `width` letters, broken after its colons and commas.
broken_name <- function(name, width = 22) {
  parts <- strsplit(name, "(?<=[:,])", perl = TRUE)[[1]]
  lines <- Reduce(function(lines, part) {
    last <- length(lines)
    if (nchar(lines[[last]]) + nchar(part) > width) return(c(lines, trimws(part)))
    replace(lines, last, paste0(lines[[last]], part))
  }, parts[-1], parts[[1]])
  paste(lines, collapse = "\n")
}

calibration_panels <- function(rows, quantities, n_columns) {
  verdicts <- c("stays in the band", "leaves it")
  lines <- do.call(rbind, lapply(split(rows, rows$quantity), function(own) {
    band <- uniform_band(nrow(own), own$n_draws[[1]])
    quantity <- quantities[match(own$quantity[[1]], quantities$quantity), ]
    data.frame(
      panel = factor(quantity$panel, quantities$panel), at = band$at, low = band$low - band$at,
      high = band$high - band$at, difference = counts_below(own$rank, own$n_draws[[1]]) / nrow(own) - band$at,
      verdict = factor(verdicts[[if (quantity$is_in_band) 1 else 2]], verdicts)
    )
  }))
  ggplot2::ggplot(lines, ggplot2::aes(x = .data$at)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$low, ymax = .data$high), fill = "grey88") +
    ggplot2::geom_hline(yintercept = 0, colour = "grey35", linetype = "dashed", linewidth = .3) +
    ggplot2::geom_step(ggplot2::aes(y = .data$difference, colour = .data$verdict), linewidth = .6) +
    panels_by("panel", n_columns) +
    ggplot2::scale_colour_manual(values = c("#0072B2", "#D55E00"), drop = FALSE) +
    ggplot2::scale_x_continuous(breaks = c(0, .5, 1), labels = c("0", ".5", "1"), limits = c(0, 1)) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(strip.text = ggplot2::element_text(size = ggplot2::rel(.72), lineheight = .95, vjust = 0))
}

# Interference next to what arbitrary labels give: for each model and test, the distribution of the difference between
# the conditions over permutations, with the observed difference as a line, the null's centre as a dashed one, and p. Of
# permutation_test(), or the table `permutation_values`: `number` (0 is the data as observed); `kind`, if it is there:
# "item_averaged". Cohen & Kincaid (2026), section 3.2, which gives one mean of permuted differences in words.
plot_permutations <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- permutations_to_draw(begin_figure("permutations", data, file, width, height, ...))
  cells <- permuted_cells(rows)
  n_tests <- nlevels(droplevels(rows$test_shown))
  n_columns <- columns_within(width, n_tests, each_in = 2.2, margin_in = .5)
  is_short <- given_or(width, 8) < 7
  delta <- sprintf(
    "P(consistent), %s minus %s", one_text(rows, "reference", "first condition"), one_text(rows, "compared", "second")
  )
  strips <- stats::setNames(sprintf("%s: p %s", cells$cell_shown, p_in_words(cells$p, "= ")), cells$cell_shown)
  n_bins <- 30
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
  bins <- do.call(rbind, binned)
  plot <- ggplot2::ggplot(rows[rows$number != 0, ]) +
    histogram(bins, fill = "#BFE3F7", edge = "white", linewidth = .2) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$centre), cells, linetype = "dashed", colour = "grey40") +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$observed), cells, colour = "#D55E00", linewidth = .9) +
    # Each cell has its own scale: near the ceiling differences are a tenth as large.
    panels_by("cell_shown", n_columns, scales = "free", labeller = ggplot2::as_labeller(strips)) +
    ggplot2::scale_y_continuous(breaks = function(limits) unique(floor(pretty(limits)))) +
    figure_theme() +
    grid_of_numbers()
  finish_figure(
    plot, permutations_in_words(cells, rows), said = NULL,
    2.4 + 1.7 * ceiling(n_tests * nlevels(droplevels(cells$model_shown)) / n_columns),
    notes = c(if (is_short) sprintf("\u0394P: %s.", delta), permutation_note), subtitle = sprintf(
      "%s permutations of items' conditions. Orange: observed; dashed: the null's centre.", counted_permutations(cells)
    ),
    x = with_delta(sprintf("P, %s%s", kind_in_words(rows), if (is_short) "" else sprintf(" (%s)", delta)))
  )
}

permutation_note <- paste(
  "p is one-sided: (1 + k) / (1 + n), k permutations with a difference as large as the observed one or larger.",
  "Compare with the dashed line, not with 0. All cells are permuted together, and a cell whose answers are all alike",
  "follows the others through the model: its p says nothing of its own interference."
)

permutations_to_draw <- function(values) {
  rows <- values[!is.na(values$delta_p), , drop = FALSE]
  if (!any(rows$number == 0) || !any(rows$number != 0)) {
    stop_with(
      "Can't draw permutations: there must be number 0 (the data as observed) and others.",
      "To make some: analyze permute"
    )
  }
  rows <- with_shown(check_drawn_once("permutations", rows), c("model", "test"))
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
    )
  )
}
