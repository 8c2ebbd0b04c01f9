#' What combinations of two attributes add, as a heat map
#'
#' @param data what [amie()] returned, or its estimates: `term` (`"first: level x second: level"`), `estimate`,
#'   `conf_low`, `conf_high`. Used if present: `model`, `model_label` and `outcome` (if one each), `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_interactions <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data, "estimates")
  check_figure_columns(rows, c("term", "estimate", "conf_low", "conf_high"))
  ends <- c("estimate", "conf_low", "conf_high")
  if (shows_shares(rows)) rows[ends] <- 100 * rows[ends]
  tiles <- interaction_tiles(rows)
  reach <- max(abs(tiles$at[tiles$is_apart]), 0)
  of <- list(middle = 0, reach = if (reach > 0) reach else 1)
  cells <- tiles[!duplicated(tiles[c("panel", "contrast")]), ]
  question <- sub("^ in ", "", sub(": .*", "", in_outcome(rows)))
  cell <- c(one_text(rows, "model_label", one_text(rows, "model", "")), question)
  of_cell <- if (any(nzchar(cell))) paste(":", toString(cell[nzchar(cell)])) else ""
  panels <- split(tiles, tiles$panel)
  widths <- vapply(panels, function(panel) nlevels(droplevels(panel$model_shown)), 1L)
  heights <- vapply(panels, function(panel) nlevels(droplevels(panel$test_shown)), 1L)
  most <- if (length(panels) == 1) 1 else max(1, min(3, floor(16 / max(widths))))
  n_columns <- columns_within(width, min(length(panels), most), each_in = 1.5 + .4 * max(widths), margin_in = 1)
  finish_figure(
    diverging_heat_map(tiles, of, "bottom") +
      (if (length(panels) > 1) panels_by("panel", n_columns, scales = "free")), file, alt_text(
      sprintf(
        "Heat map of what %d combinations of %s add%s", nrow(tiles), paste(unique(tiles$pair), collapse = "; "), of_cell
      ),
      notes = c(sprintf("p, corrected for the number in its panel, is below .05 in %s.",
                        counted(sum(cells$is_apart), "contrast")),
                source_note(rows))
    ),
    width, height, max(6, 1 + n_columns * (1.5 + .75 * max(widths))),
    2 + (.9 + .35 * max(heights)) * ceiling(length(panels) / n_columns),
    title = given_title(rows, paste0("What do combinations add?", sub("^:", "", of_cell))),
    subtitle = paste(
      "To the effects of both levels. Orange*: more, blue*: less (p < .05, Holm-corrected for the panel);",
      "grey: neither."
    ),
    caption = source_note(rows), x = attr(tiles, "sides")[[1]], y = attr(tiles, "sides")[[2]]
  )
}

# Columns are levels of the first attribute, rows of the second; a panel for each pair of attributes and model.
interaction_tiles <- function(rows) {
  sides <- do.call(rbind, strsplit(rows$term, " x ", fixed = TRUE))
  if (ncol(sides) != 2) stop_with("Can't draw: terms must read \"first: level x second: level\".")
  level <- function(side) sub("^[^:]*: ", "", side)
  ordered <- function(side) ordered_labels(frame_of(level = level(side)), "level")
  models <- with_cells(rows, "model")
  attributes <- gsub("_", " ", sub(": .*", "", sides), fixed = TRUE)
  pair <- paste(attributes[, 1], "and", attributes[, 2])
  panel <- if ("model" %in% names(rows)) paste(pair, labels_of(models, "model"), sep = ", ") else pair
  tiles <- frame_of(
    model_shown = ordered(sides[, 1]), test_shown = ordered(sides[, 2]), at = rows$estimate, low = rows$conf_low,
    high = rows$conf_high, contrast = contrasts_of(rows), pair = pair, panel = factor(panel, unique(panel)),
    is_apart = FALSE
  )
  # Where an attribute has two levels, each contrast is in the table twice, with either sign: it counts once.
  p_values <- p_of_rows(rows)
  for (of_panel in split(seq_len(nrow(tiles)), tiles$panel)) {
    first <- of_panel[!duplicated(tiles$contrast[of_panel])]
    corrected <- stats::p.adjust(p_values[first], "holm")[match(tiles$contrast[of_panel], tiles$contrast[first])]
    tiles$is_apart[of_panel] <- !is.na(corrected) & corrected < .05
  }
  digits <- max(0, 1 - floor(log10(max(abs(tiles$at), 1e-3))))
  tiles$text <- no_minus_zero(paste0(sprintf("%.*f", digits, tiles$at), ifelse(tiles$is_apart, "*", "")))
  attr(tiles, "sides") <- if (length(unique(pair)) == 1) as.list(attributes[1, ]) else list(NULL, NULL)
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
