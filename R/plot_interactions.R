#' What combinations of two attributes add, as a heat map
#'
#' @param data what [amie()] returned, or its estimates: `term` (`"first: level x second: level"`), `estimate`,
#'   `conf_low`, `conf_high`. Used if present: `model`, `model_label` and `outcome` (if one each), `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_interactions <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- figure_rows(data, "estimates")
  check_figure_columns(rows, c("term", "estimate", "conf_low", "conf_high"))
  tiles <- interaction_tiles(rows)
  reach <- max(abs(rows$estimate))
  of <- list(middle = 0, reach = if (reach > 0) reach else 1)
  apart <- length(unique(tiles$contrast[tiles$is_apart]))
  cell <- Filter(nzchar, c(one_text(rows, "model_label", one_text(rows, "model", "")), one_text(rows, "outcome", "")))
  of_cell <- if (length(cell) > 0) sprintf(": %s", toString(cell)) else ""
  finish_figure(
    diverging_heat_map(tiles, of, "bottom"), file, alt_text(
      sprintf("Heat map of what %d combinations of %s add%s", nrow(tiles), all_in_words(attr(tiles, "sides")), of_cell),
      notes = c(sprintf("p, corrected for their number, is below .05 in %s.", counted(apart, "contrast")),
                source_note(rows))
    ),
    width, height, max(6, 3 + .8 * nlevels(tiles$model_shown)), 2.4 + .35 * nlevels(tiles$test_shown),
    title = given_title(rows, paste0("What do combinations add?", sub("^:", "", of_cell))),
    subtitle = paste(
      "To the effects of both levels. Orange: more, blue: less. *: p < .05, corrected for their number (Holm)."
    ),
    caption = source_note(rows), x = attr(tiles, "sides")[[1]], y = attr(tiles, "sides")[[2]]
  )
}

# Columns are levels of the first attribute, rows of the second.
interaction_tiles <- function(rows) {
  sides <- do.call(rbind, strsplit(rows$term, " x ", fixed = TRUE))
  if (ncol(sides) != 2) stop_with("Can't draw: terms must read \"first: level x second: level\".")
  level <- function(side) sub("^[^:]*: ", "", side)
  ordered <- function(side) factor(level(side), unique(level(side)))
  tiles <- frame_of(
    model_shown = ordered(sides[, 1]), test_shown = ordered(sides[, 2]), at = rows$estimate, low = rows$conf_low,
    high = rows$conf_high, contrast = contrasts_of(rows), is_apart = FALSE
  )
  # Where an attribute has two levels, each contrast is in the table twice, with either sign: it counts once.
  first <- !duplicated(tiles$contrast)
  p_values <- stats::setNames(stats::p.adjust(p_of_rows(rows)[first], "holm"), tiles$contrast[first])
  tiles$is_apart <- as.vector(p_values[tiles$contrast] < .05) & !is.na(p_values[tiles$contrast])
  tiles$text <- paste0(sprintf("%.3f", tiles$at), ifelse(tiles$is_apart, "*", ""))
  attr(tiles, "sides") <- sub(": .*", "", sides[1, ])
  tiles
}

contrasts_of <- function(rows) {
  width <- rows$conf_high - rows$conf_low
  sprintf("%.9g, %.9g", abs(rows$estimate), width)
}

# Without p (a table that holds intervals only) a normal distribution's.
p_of_rows <- function(rows) {
  if (!is.null(rows$p_value)) {
    return(rows$p_value)
  }
  2 * stats::pnorm(-abs(rows$estimate) * 2 * stats::qnorm(.975) / (rows$conf_high - rows$conf_low))
}
