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
  begin_figure(file, width, height, ...)
  rows <- calibration_to_draw(figure_rows(data, "ranks"))
  quantities <- calibrated_quantities(rows)
  n_columns <- columns_within(width, min(3, nrow(quantities)), each_in = 1.45, margin_in = .5)
  finish_figure(
    calibration_panels(rows, quantities, n_columns), file, calibration_in_words(rows, quantities), width, height, 8,
    2.2 + 1.25 * ceiling(nrow(quantities) / n_columns),
    title = "Are the ranks of truths among posterior draws uniform?",
    subtitle = paste(
      "Grey: where a right sampler's line stays, at all points at once, 95 times in 100.",
      "p: how often it goes as far astray."
    ),
    caption = c("Simulated answers: no model was asked.", calibration_note(rows, quantities)),
    x = "Rank of the truth, as a share of the draws",
    y = "Share of ranks below it, minus that share"
  )
}

calibration_to_draw <- function(data) {
  needed <- c("number", "quantity", "rank", "n_draws")
  rows <- rows_to_draw(
    data, needed, !is.na(data$quantity), "a calibration", "data set with ranks", needed[1:2],
    "a data set has several rows of one quantity"
  )
  rows$n_failed <- length(unique(data$number[is.na(data$quantity)]))
  check_ranks(rows)
  rows$quantity <- factor(rows$quantity, unique(rows$quantity))
  rows
}

# One row a quantity, in their order: `p`, whether its ranks stay in their band, the name of its panel.
calibrated_quantities <- function(rows) {
  p <- vapply(split(rows, rows$quantity), function(own) uniformity_p(own$rank, own$n_draws[[1]]), numeric(1))
  data.frame(
    quantity = levels(rows$quantity), p = unname(p), is_in_band = unname(p >= .05),
    panel = sprintf("%s\np %s", vapply(levels(rows$quantity), broken_name, ""), p_in_words(p, "= "))
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

calibration_note <- function(rows, quantities) {
  n <- length(unique(rows$number))
  n_doubtful <- if ("status" %in% names(rows)) length(unique(rows$number[rows$status != "ok"])) else 0
  n_failed <- rows$n_failed[[1]]
  n_outside <- sum(!quantities$is_in_band)
  c(
    sprintf(
      "%s drawn from the prior, one fit each; of %d quantities %d %s band, as 5 in 100 do by chance.",
      counted(n, "data set"), nrow(quantities), n_outside, if (n_outside == 1) "leaves its" else "leave their"
    ),
    if (n_doubtful > 0) sprintf("Divergent or not converged, and shown: %s.", counted(n_doubtful, "fit")),
    if (n_failed > 0) sprintf("Failed, and not shown: %s.", counted(n_failed, "fit"))
  )
}

calibration_in_words <- function(rows, quantities) {
  alt_text(
    "Differences between the distribution of ranks and a uniform one, one panel a quantity",
    values = sprintf(
      "%s: p %s, %s", quantities$quantity, p_in_words(quantities$p),
      ifelse(quantities$is_in_band, "stays in its band", "leaves its band")
    ),
    notes = calibration_note(rows, quantities)
  )
}
