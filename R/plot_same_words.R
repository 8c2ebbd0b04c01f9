#' Do models have the bias at the same words?
#'
#' A square for each test, models against models: below the diagonal the correlation of effects at words as they are,
#' with a star where p is below .05; above it the correlation of the true effects, without their errors, with a star
#' where its interval leaves out 0; on it the share of the variance between words that is no error.
#'
#' @param data a data frame with one row per test and pair of models: `run_check("check_same_words", ...)$rows`. Used
#'   if present: `model_label`, `model_beside_label` and `test_label` to show, `model_no`, `other_model_no` and
#'   `test_no` to order by.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_same_words <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data)
  pairs <- same_words_to_draw(rows)
  tiles <- same_words_tiles(pairs)
  n_models <- nlevels(tiles$model_shown)
  n_tests <- nlevels(tiles$test_shown)
  panel_in <- max(1.9, .55 * n_models)
  n_columns <- columns_within(width, min(4, n_tests), panel_in, 1.8)
  finish_figure(
    same_words_squares(tiles, n_columns), file, same_words_in_words(pairs, rows), width, height,
    max(6, 1.8 + panel_in * n_columns), 2.6 + (.5 + .3 * n_models) * ceiling(n_tests / n_columns),
    title = "Do models have the bias at the same words?",
    subtitle = paste(
      "Correlations of effects at words between models. Below the diagonal: as they are (*: p < .05). Above: of the",
      "true effects, without errors (*: the 95 % interval leaves out 0). On it: the share of the variance between",
      "words that is no error."
    ),
    caption = c(source_note(rows), if (anyNA(tiles$at[tiles$kind == "corrected"])) {
      "-: effects at words vary no more than error explains, so that they have no correlation without it."
    })
  )
}

same_words_to_draw <- function(data) {
  needed <- c(
    "model", "other_model", "test", "correlation", "p_value", "corrected", "conf_low", "conf_high", "reliability",
    "other_reliability"
  )
  pairs <- rows_to_draw(
    data, needed, !is.na(data$correlation), "correlations of words", "pair of models", needed[1:3],
    "a pair of models has more than one row for a test", "Keep the rows of one source, study version and variant."
  )
  shown <- data.frame(
    id = c(as.character(pairs$model), as.character(pairs$other_model)),
    label = c(labels_of(pairs, "model"), labels_of(pairs, "other_model"))
  )
  if (all(c("model_no", "other_model_no") %in% names(pairs))) {
    shown <- shown[order(c(pairs$model_no, pairs$other_model_no), method = "radix"), ]
  }
  names <- unique(shown$label)
  pairs <- with_shown(pairs, "test")
  levels(pairs$test_shown) <- two_lines(levels(pairs$test_shown))
  pairs$model_shown <- factor(labels_of(pairs, "model"), names)
  pairs$series_shown <- factor(labels_of(pairs, "other_model"), names)
  pairs
}

# Three kinds of tiles: `row_shown` lies below `model_shown` in the plain ones.
same_words_tiles <- function(pairs) {
  part <- function(kind, column, row, at, is_small = FALSE) {
    data.frame(test_shown = pairs$test_shown, model_shown = column, row_shown = row, kind, at, is_small)
  }
  is_first <- as.integer(pairs$model_shown) < as.integer(pairs$series_shown)
  first <- pairs$model_shown
  second <- pairs$series_shown
  first[!is_first] <- pairs$series_shown[!is_first]
  second[!is_first] <- pairs$model_shown[!is_first]
  tiles <- rbind(
    part("plain", first, second, pairs$correlation, pairs$p_value < .05),
    part("corrected", second, first, pairs$corrected, pairs$conf_low > 0 | pairs$conf_high < 0),
    unique(rbind(
      part("reliability", pairs$model_shown, pairs$model_shown, pairs$reliability),
      part("reliability", pairs$series_shown, pairs$series_shown, pairs$other_reliability)
    ))
  )
  tiles <- tiles[!duplicated(tiles[c("test_shown", "model_shown", "row_shown")]), ]
  tiles$text <- ifelse(is.na(tiles$at), "-", paste0(
    ifelse(round(tiles$at, 2) < 0 & !is.na(tiles$at), "-", ""), shares_as_text(abs(tiles$at)),
    ifelse(tiles$is_small %in% TRUE, "*", "")
  ))
  tiles$fill <- ifelse(tiles$kind == "reliability", NA, tiles$at)
  tiles
}

same_words_squares <- function(tiles, n_columns) {
  look <- list(what = "correlation", middle = 0, reach = 1)
  drawn <- tiles
  drawn$at <- tiles$fill
  drawn$test_shown <- NULL
  drawn$panel <- tiles$test_shown
  names(drawn)[names(drawn) == "row_shown"] <- "test_shown"
  drawn$is_apart <- drawn$is_small %in% TRUE | drawn$kind == "reliability"
  diverging_heat_map(drawn, look, "bottom") +
    panels_by("panel", n_columns) +
    ggplot2::theme(strip.text = ggplot2::element_text(size = 8))
}

same_words_in_words <- function(pairs, rows) {
  range <- function(values) {
    known <- values[!is.na(values)]
    if (length(known) == 0) "none" else sprintf("%.2f to %.2f", min(known), max(known))
  }
  alt_text(
    sprintf(
      "Correlations of effects at words between models: %s in %s", counted(nrow(pairs), "pair"),
      counted(nlevels(pairs$test_shown), "test")
    ),
    "From the smallest to the largest",
    c(
      sprintf("plain %s", range(pairs$correlation)), sprintf("without errors %s", range(pairs$corrected)),
      sprintf("share of the variance that is no error %s", range(c(pairs$reliability, pairs$other_reliability)))
    ),
    notes = c(
      sprintf("p is below .05 in %d of them.", sum(pairs$p_value < .05, na.rm = TRUE)), source_note(rows)
    )
  )
}
