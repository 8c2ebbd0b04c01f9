#' Effects of the levels of attributes against a reference, with their intervals
#'
#' @param data what [amce()] returned, or a data frame with one row per level (and model): `attribute` and `level`, or
#'   `term` (`"attribute: level"`), `estimate`, `conf_low`, `conf_high`. Used if present: `reference` (the level that
#'   each is compared with, drawn at 0), `model`, `model_label`, `outcome`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_amce <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "estimates")
  check_figure_columns(rows, c("estimate", "conf_low", "conf_high"))
  levels <- if (is.data.frame(data)) NULL else data$tables$levels
  if (!"reference" %in% names(rows) && !is.null(levels)) {
    rows$reference <- levels$reference[match(rows$term, levels$term)]
  }
  rows <- attribute_figure_rows(in_percent(rows))
  apart <- sum(rows$low > 0 | rows$high < 0, na.rm = TRUE)
  drawn <- with_references(rows)
  attribute_figure(
    attribute_dots(drawn, 0), rows, "Effects", c(excluding_zero(apart, nrow(rows)), source_note(rows)), file, width,
    height,
    height_in = inches_by_level(drawn),
    title = given_title(rows, "What does each level change?"),
    subtitle = "Average effect against the first level of the attribute, which lies at 0.",
    caption = c(source_note(rows)), x = sprintf("Change%s; 95 %% intervals", in_outcome(rows))
  )
}

excluding_zero <- function(n, total) {
  if (n == 0) {
    return("No interval excludes 0.")
  }
  sprintf("%d of %s exclude%s 0.", n, counted(total, "interval"), if (n == 1) "s" else "")
}

in_outcome <- function(rows) {
  outcome <- outcome_of(rows)
  of_outcome <- if (is.null(outcome)) "" else paste(" in", outcome)
  if (shows_shares(rows)) of_outcome <- paste0(of_outcome, ", percentage points")
  paste0(of_outcome, in_unit(rows))
}

# Shares as per cent.
in_percent <- function(rows) with_intervals(rows, scale = if (shows_shares(rows)) 100 else 1)

shows_shares <- function(rows) startsWith(one_text(rows, "unit", ""), "share")

# ": points from 1 (not at all) to 7 (very)", ": share of yes", where the rows say so.
in_unit <- function(rows) {
  unit <- one_text(rows, "unit", "")
  if (nzchar(unit)) paste0(": ", unit) else ""
}

# A row at 0 for each reference, the first of its attribute.
with_references <- function(rows) {
  if (!"reference" %in% names(rows)) {
    return(rows)
  }
  first <- rows[!duplicated(rows[c("attribute", "model_shown")]) & !is.na(rows$reference), , drop = FALSE]
  first$level <- first$reference
  first[c("at", "low", "high")] <- list(0, NA_real_, NA_real_)
  in_order <- rows[order(rows$level_shown), , drop = FALSE]
  shown <- unlist(lapply(levels(rows$attribute_shown), function(name) {
    c(first$level[first$attribute_shown == name], as.character(in_order$level_shown[in_order$attribute_shown == name]))
  }))
  first$level_shown <- NA
  rows$level_shown <- as.character(rows$level_shown)
  all <- rbind(first, rows)
  all$level_shown <- factor(ifelse(is.na(all$level_shown), as.character(all$level), all$level_shown), unique(shown))
  all
}
