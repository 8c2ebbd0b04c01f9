#' Differences of versions from a baseline, above what sampling alone gives
#'
#' @param data what `paired_differences()` returned, or a data frame with one row per version: `attribute`, `level`,
#'   `term`, `estimate`, `conf_low`, `conf_high`, `mean_absolute`, `shuffled_low`, `shuffled_high`. Used if present:
#'   `model`, `model_label`, `outcome`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_paired_differences <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "estimates")
  versions <- if (is.data.frame(data)) NULL else data$tables$versions
  if (!is.null(versions)) {
    rows <- cbind(rows, versions[match(rows$term, versions$term), setdiff(names(versions), names(rows))])
  }
  check_figure_columns(rows, c(
    "attribute", "level", "estimate", "conf_low", "conf_high", "mean_absolute", "shuffled_low", "shuffled_high"
  ))
  is_beyond <- is.na(rows$mean_absolute)
  rows$attribute <- paste0(rows$attribute, ifelse(is_beyond, ",\nbeyond placebo", ""))
  rows <- attribute_figure_rows(in_percent(rows))
  apart <- sum(rows$low > 0 | rows$high < 0, na.rm = TRUE)
  above <- sum(rows$mean_absolute > rows$shuffled_high, na.rm = TRUE)
  n_floors <- sum(!is.na(rows$shuffled_high))
  attribute_figure(
    attribute_dots(with_floors(rows), 0, floors = TRUE), rows, "Differences from the baseline",
    c(excluding_zero(apart, nrow(rows)), above_floor(above, n_floors), source_note(rows)), file, width, height,
    title = given_title(rows, "What does each change do?"),
    subtitle = "Against the baseline, within each material. Grey: what shuffled repetitions give.",
    caption = c(source_note(rows)), x = sprintf("Difference%s; means with 95 %% intervals", in_outcome(rows))
  )
}

above_floor <- function(n, total) {
  sprintf("%d of %s of absolute differences above what shuffled repetitions give.", n, counted(total, "mean"))
}

# The rows twice, side by side: mean differences with intervals, and mean absolute ones with the floor of each.
with_floors <- function(rows) {
  panels <- c("Mean difference", "Mean absolute difference")
  rows[c("floor_low", "floor_high")] <- NA_real_
  absolute <- rows[!is.na(rows$mean_absolute), , drop = FALSE]
  factor <- if (shows_shares(rows)) 100 else 1
  absolute[c("at", "low", "high")] <- list(factor * absolute$mean_absolute, NA_real_, NA_real_)
  absolute[c("floor_low", "floor_high")] <- factor * absolute[c("shuffled_low", "shuffled_high")]
  rows$panel <- rep(panels[[1]], nrow(rows))
  absolute$panel <- rep(panels[[2]], nrow(absolute))
  both <- rbind(rows, absolute)
  both$panel <- factor(both$panel, panels)
  both
}
