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
  apart <- sum(tiles$is_apart)
  cell <- Filter(nzchar, c(one_text(rows, "model_label", one_text(rows, "model", "")), one_text(rows, "outcome", "")))
  of_cell <- if (length(cell) > 0) sprintf(": %s", toString(cell)) else ""
  finish_figure(
    diverging_heat_map(tiles, of, "bottom"), file, alt_text(
      sprintf("Heat map of what %d combinations of %s add%s", nrow(tiles), all_in_words(attr(tiles, "sides")), of_cell),
      notes = c(sprintf("%s out 0.", if (apart == 1) "1 interval leaves" else sprintf("%d intervals leave", apart)),
                source_note(rows))
    ),
    width, height, max(6, 3 + .8 * nlevels(tiles$model_shown)), 2.4 + .35 * nlevels(tiles$test_shown),
    title = given_title(rows, paste0("What do combinations add?", sub("^:", "", of_cell))),
    subtitle = "To the effects of both levels. Orange: more, blue: less. *: the 95 % interval leaves out 0.",
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
    high = rows$conf_high, is_apart = rows$conf_low > 0 | rows$conf_high < 0
  )
  tiles$text <- paste0(sprintf("%.3f", tiles$at), ifelse(tiles$is_apart, "*", ""))
  attr(tiles, "sides") <- sub(": .*", "", sides[1, ])
  tiles
}
