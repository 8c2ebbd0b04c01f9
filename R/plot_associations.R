# D of each model in each test: its mean over answers with its 95 % t interval (1: all words go to the groups of the
# usual association, 0: as often to the other group, -1: all crossed). Answers without a D (refused, cut off, all words
# to one group) are in no mean, and are counted in the caption. Bai et al. (2025), equation 1 and figure 2.
plot_bias <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- bias_to_draw(begin_figure("bias", data, file, width, height, ...))
  association_forest(rows, of_bias, width)
}

# The share of decisions in which each group gets what usually goes with it, by test and model, with Wilson's 95 %
# interval; .5 is no bias. Conversations without a decision are in no share, and are counted in the caption. Figure 3.
plot_decisions <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- decisions_to_draw(begin_figure("decisions", data, file, width, height, ...))
  association_forest(rows, of_decisions, width, ggplot2::coord_cartesian(xlim = c(0, 1)))
}

# Dots of tests and models, and what they are `of`: what a forest and a heat map say of it.
association_forest <- function(rows, of, width, ...) {
  legend <- one_legend(ncol = legend_columns(levels(rows$model_shown), given_or(width, 9)))
  words <- alt_text(
    sprintf("%s with 95 %% intervals for %s", of$name, counted_shown(rows, c("test", "model"))),
    notes = apart_in_words(rows, of$what, of$middle, of$below)
  )
  finish_figure(forest_by_test(rows, legend, of$middle, ...), words, inches_by_test(rows), notes = of$note(rows))
}

of_bias <- list(
  name = "Mean of D", what = "mean", middle = 0, reach = 1, below = "below 0", note = function(rows) {
    sprintf("%s have no D.", others_of_all(rows$n_d, rows$n_trials, "answer"))
  }
)
of_decisions <- list(
  name = "Share of decisions", what = "share", middle = .5, reach = .5, below = "below", note = function(rows) {
    sprintf("%s have no decision.", others_of_all(rows$n_decided, rows$n_conversations, "conversation"))
  }
)
# "12 of 400 answers".
others_of_all <- function(n, n_all, what) {
  sprintf("%s of %s", format(sum(n_all) - sum(n), big.mark = ","), counted(sum(n_all), what))
}

bias_to_draw <- function(rows) {
  half_width <- t_half_width(rows$sd_d, rows$n_d)
  by_test(with_intervals(rows, rows$mean_d, rows$mean_d - half_width, rows$mean_d + half_width))
}

decisions_to_draw <- function(rows) {
  ends <- wilson(rows$share_expected * rows$n_decided, rows$n_decided)
  by_test(with_intervals(rows, rows$share_expected, ends$rate_low, ends$rate_high))
}

# The same as a heat map of models and tests, with a star where the interval leaves out 0, or .5. Tiles without a value
# are grey, with a dash: nothing was asked there, or no answer has one.
plot_bias_heatmap <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("bias_heatmap", data, file, width, height, ...)
  figure <- if ("share_expected" %in% names(rows)) "decisions" else "bias"
  about <- figure_row(figure)
  check_columns(rows, about$needed, to = paste("draw", about$to))
  rows <- rows_to_draw(figure, rows, !is.na(rows[[about$value]]))
  of <- if (figure == "decisions") of_decisions else of_bias
  drawn <- if (figure == "decisions") decisions_to_draw(rows) else bias_to_draw(rows)
  tiles <- heat_map_tiles(drawn, of$middle)
  n_empty <- sum(is.na(tiles$at))
  finish_figure(
    diverging_heat_map(tiles, of), alt_text(
      sprintf("Heat map of the %s of each of %s", of$what, counted_shown(drawn, c("model", "test"))),
      notes = c(
        apart_in_words(drawn, of$what, of$middle),
        if (n_empty > 0) sprintf("%s empty.", if (n_empty == 1) "1 tile is" else sprintf("%d tiles are", n_empty))
      )
    ), 2.3 + .3 * nlevels(tiles$test_shown),
    max(6, 3 + .65 * nlevels(tiles$model_shown)), title = about$title, said = of$note(drawn),
    subtitle = sprintf(
      "Orange*: with it, blue*: against it; grey: the 95 %% interval includes %s.", plain_number_text(of$middle)
    ),
    notes = c(of$note(drawn), if (anyNA(tiles$at)) "-: no value.")
  )
}

# A row for each model and test, in their order, also where there is nothing.
heat_map_tiles <- function(rows, middle) {
  whole <- function(name) factor(levels(rows[[name]]), levels = levels(rows[[name]]))
  tiles <- expand.grid(model_shown = whole("model_shown"), test_shown = whole("test_shown"))
  place <- match(paste(tiles$model_shown, tiles$test_shown), paste(rows$model_shown, rows$test_shown))
  tiles[c("at", "low", "high")] <- rows[place, c("at", "low", "high")]
  tiles$is_apart <- !is.na(tiles$low) & (tiles$low > middle | tiles$high < middle)
  tiles$text <- text_of_tiles(tiles$at, tiles$is_apart)
  tiles
}

# "-.25*"; a dash where there is no value.
text_of_tiles <- function(at, is_apart) {
  text <- paste0(ifelse(round(at, 2) < 0, "-", ""), shares_as_text(abs(at)), ifelse(is_apart %in% TRUE, "*", ""))
  ifelse(is.na(at), "-", text)
}

# Blue and orange differ for every eye and, by their lightness from the middle, in grey. What is not apart from the
# middle has no colour.
diverging_heat_map <- function(tiles, of, names_at = "top") {
  tiles$colour <- ifelse(tiles$is_apart | is.na(tiles$at), tiles$at, of$middle)
  tiles$is_dark <- !is.na(tiles$colour) & abs(tiles$colour - of$middle) > .6 * of$reach
  filled <- ggplot2::scale_fill_gradient2(
    low = "#0072B2", mid = "#F7F7F7", high = "#B34700", midpoint = of$middle,
    limits = of$middle + c(-1, 1) * of$reach, na.value = "grey85", guide = "none"
  )
  ggplot2::ggplot(tiles, ggplot2::aes(x = .data$model_shown, y = .data$test_shown)) +
    named_tiles(filled, 2.9, if (nlevels(tiles$model_shown) > 2) 40, names_at) +
    ggplot2::labs(x = NULL, y = NULL)
}

# Tiles of the `colour` that `filled` gives them, with a `text` that is white where they are dark, between two axes of
# names; `angle`: of those of the columns.
named_tiles <- function(filled, size, angle, names_at = "bottom") {
  list(
    ggplot2::geom_tile(ggplot2::aes(fill = .data$colour), colour = "white", linewidth = .6),
    ggplot2::geom_text(ggplot2::aes(label = .data$text, colour = .data$is_dark), size = size, show.legend = FALSE),
    filled,
    ggplot2::scale_colour_manual(values = c(`FALSE` = "grey15", `TRUE` = "white"), na.value = "grey15"),
    ggplot2::scale_x_discrete(position = names_at, expand = c(0, 0), guide = ggplot2::guide_axis(angle = angle)),
    ggplot2::scale_y_discrete(limits = rev, expand = c(0, 0)),
    figure_theme(),
    ggplot2::theme(panel.grid = ggplot2::element_blank())
  )
}

# Do models have the bias at the same words? A square for each test, models against models: below the diagonal the
# correlation of effects at words as they are, with a star where p is below .05; above it the correlation of the true
# effects, without their errors, with a star where its interval leaves out 0; on it the share of the variance between
# words that is no error. Of run_check("check_same_words", ...)$rows.
plot_same_words <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("same_words", data, file, width, height, ...)
  pairs <- same_words_to_draw(rows)
  # the upright axis has models, too: in the plain tiles its model lies below that of the column
  part <- function(kind, column, row, at, is_small = FALSE) {
    data.frame(panel = pairs$test_shown, model_shown = column, test_shown = row, kind, at, is_small)
  }
  is_second <- as.integer(pairs$model_shown) >= as.integer(pairs$series_shown)
  first <- replace(pairs$model_shown, is_second, pairs$series_shown[is_second])
  second <- replace(pairs$series_shown, is_second, pairs$model_shown[is_second])
  tiles <- rbind(
    part("plain", first, second, pairs$correlation, pairs$p_value < .05),
    part("corrected", second, first, pairs$corrected, pairs$conf_low > 0 | pairs$conf_high < 0),
    unique(rbind(
      part("reliability", pairs$model_shown, pairs$model_shown, pairs$reliability),
      part("reliability", pairs$series_shown, pairs$series_shown, pairs$other_reliability)
    ))
  )
  tiles <- tiles[!duplicated(tiles[c("panel", "model_shown", "test_shown")]), ]
  tiles$text <- text_of_tiles(tiles$at, tiles$is_small)
  is_reliability <- tiles$kind == "reliability"
  tiles$is_apart <- tiles$is_small %in% TRUE | is_reliability
  tiles$at[is_reliability] <- NA
  n_models <- nlevels(tiles$model_shown)
  n_tests <- nlevels(tiles$panel)
  panel_in <- max(1.9, .55 * n_models)
  n_columns <- columns_within(width, min(4, n_tests), panel_in, 1.8)
  plot <- diverging_heat_map(tiles, list(middle = 0, reach = 1), "bottom") +
    panels_by("panel", n_columns) +
    ggplot2::theme(strip.text = ggplot2::element_text(size = 8))
  finish_figure(
    plot, same_words_in_words(pairs), said = NULL,
    2.6 + (.5 + .3 * n_models) * ceiling(n_tests / n_columns), max(6, 1.8 + panel_in * n_columns),
    notes = if (anyNA(tiles$at[tiles$kind == "corrected"])) {
      "-: effects at words vary no more than error explains, so that they have no correlation without it."
    }
  )
}

same_words_to_draw <- function(pairs) {
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

same_words_in_words <- function(pairs) {
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
    notes = sprintf("p is below .05 in %d of them.", sum(pairs$p_value < .05, na.rm = TRUE))
  )
}

# Codes of people next to those of models: a tile for each code that people (rows) and a model (columns) gave to the
# same texts, with how many, and which share of the texts with this code by people.
plot_confusion <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- as.data.frame(begin_figure("confusion", data, file, width, height, ...))
  if (nrow(rows) == 0) stop_with("There is nothing to draw: no text has the codes of a model and of a person.")
  tiles <- confusion_tiles(rows)
  coders <- unique(tiles$coder)
  n_codes <- nlevels(tiles$people)
  filled <- ggplot2::scale_fill_gradient(
    low = "#F7F7F7", high = "#0072B2", limits = c(0, 1), na.value = "grey85", guide = "none"
  )
  shown <- transform(tiles, colour = share, is_dark = share > .6)
  plot <- ggplot2::ggplot(shown, ggplot2::aes(x = .data$model, y = .data$people)) +
    named_tiles(filled, 3, if (n_codes > 4) 40) + panels_by("coder", min(2, length(coders)))
  of_coder <- vapply(split(tiles, factor(tiles$coder, unique(tiles$coder))), function(own) {
    is_same <- as.character(own$people) == as.character(own$model)
    sprintf("%s: %d of %d", own$coder[[1]], as.integer(sum(own$n[is_same])), as.integer(sum(own$n)))
  }, "")
  finish_figure(
    plot, alt_text(
      sprintf(
        "Heat map of %d codes by people against those of %s", nlevels(tiles$people), counted(length(of_coder), "model")
      ),
      notes = sprintf("The same code by both: %s.", paste(of_coder, collapse = "; "))
    ), 1.6 + ceiling(length(coders) / 2) * max(1.5, .5 * n_codes),
    2 + min(2, length(coders)) * max(2, .8 * n_codes)
  )
}

# A row for each coder and pair of codes, also where there is no text.
confusion_tiles <- function(rows) {
  codes <- sort(unique(c(as.character(rows$by_people), as.character(rows$by_model))), method = "radix")
  given <- list(
    model = factor(rows$by_model, codes), people = factor(rows$by_people, codes),
    coder = factor(rows$model, unique(rows$model))
  )
  tiles <- as.data.frame(stats::xtabs(as.double(rows$n) ~ ., given), responseName = "n")
  total <- stats::ave(tiles$n, tiles$coder, tiles$people, FUN = sum)
  tiles$share <- ifelse(total > 0, tiles$n / total, NA)
  tiles$text <- ifelse(is.na(tiles$share), "-", sprintf("%d (%s)", as.integer(tiles$n), shares_as_text(tiles$share)))
  tiles
}
