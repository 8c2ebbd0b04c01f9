#' D, or decisions with the usual association, as a heat map of models and tests
#'
#' One tile for each test and model: the mean of D, or the share of decisions that go with the usual association, with a
#' star where its 95 % interval (as [plot_bias()] and [plot_decisions()] draw it) leaves out 0, or .5. Tiles without a
#' value are grey, with a dash: nothing was asked there, or no answer has one.
#'
#' @param data a data frame with one row per model and test, such as the views `pairing_bias` and `decision_bias` of the
#'   database; see [plot_bias()] and [plot_decisions()].
#' @inherit plot_effect_sizes params return
#' @source Bai et al. (2025), figures 2 and 3.
#' @noRd
plot_bias_heatmap <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data)
  is_of_decisions <- "share_expected" %in% names(rows)
  of <- if (is_of_decisions) of_decisions else of_bias
  drawn <- if (is_of_decisions) decisions_to_draw(rows) else bias_to_draw(rows)
  tiles <- heat_map_tiles(drawn, of$middle)
  finish_figure(
    diverging_heat_map(tiles, of), file, heat_map_in_words(tiles, drawn, of), width, height,
    max(6, 3 + .65 * nlevels(tiles$model_shown)), 2.3 + .3 * nlevels(tiles$test_shown),
    title = given_title(drawn, of$title),
    subtitle = sprintf(
      "Orange*: with it, blue*: against it; grey: the 95 %% interval includes %s.",
      plain_number_text(of$middle)
    ),
    caption = c(source_note(drawn), of$note(drawn), if (anyNA(tiles$at)) "-: no value.")
  )
}

# A row for each model and test, in their order, also where there is nothing.
heat_map_tiles <- function(rows, middle) {
  whole <- function(name) factor(levels(rows[[name]]), levels = levels(rows[[name]]))
  tiles <- expand.grid(model_shown = whole("model_shown"), test_shown = whole("test_shown"))
  place <- match(paste(tiles$model_shown, tiles$test_shown), paste(rows$model_shown, rows$test_shown))
  tiles[c("at", "low", "high")] <- rows[place, c("at", "low", "high")]
  tiles$is_apart <- !is.na(tiles$low) & (tiles$low > middle | tiles$high < middle)
  tiles$text <- ifelse(is.na(tiles$at), "-", paste0(shares_as_text(abs(tiles$at)), ifelse(tiles$is_apart, "*", "")))
  tiles$text <- paste0(ifelse(!is.na(tiles$at) & round(tiles$at, 2) < 0, "-", ""), tiles$text)
  tiles
}

# Blue and orange differ for every eye and, by their lightness from the middle, in grey. What is not apart from the
# middle has no colour.
diverging_heat_map <- function(tiles, of, names_at = "top") {
  tiles$colour <- ifelse(tiles$is_apart | is.na(tiles$at), tiles$at, of$middle)
  tiles$is_dark <- !is.na(tiles$colour) & abs(tiles$colour - of$middle) > .6 * of$reach
  ggplot2::ggplot(tiles, ggplot2::aes(x = .data$model_shown, y = .data$test_shown)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$colour), colour = "white", linewidth = .6) +
    ggplot2::geom_text(ggplot2::aes(label = .data$text, colour = .data$is_dark), size = 2.9, show.legend = FALSE) +
    ggplot2::scale_fill_gradient2(
      low = "#0072B2", mid = "#F7F7F7", high = "#B34700", midpoint = of$middle,
      limits = of$middle + c(-1, 1) * of$reach, na.value = "grey85", guide = "none"
    ) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "grey15", `TRUE` = "white")) +
    ggplot2::scale_x_discrete(
      position = names_at, expand = c(0, 0), guide = ggplot2::guide_axis(angle = if (nlevels(tiles$model_shown) > 2) 40)
    ) +
    ggplot2::scale_y_discrete(limits = rev, expand = c(0, 0)) +
    figure_theme() +
    ggplot2::theme(panel.grid = ggplot2::element_blank()) +
    ggplot2::labs(x = NULL, y = NULL)
}

heat_map_in_words <- function(tiles, drawn, of) {
  n_empty <- sum(is.na(tiles$at))
  alt_text(
    sprintf("Heat map of the %s of each of %s", of$what, counted_shown(drawn, c("model", "test"))),
    notes = c(
      apart_in_words(drawn, of$what, of$middle),
      if (n_empty > 0) sprintf("%s empty.", if (n_empty == 1) "1 tile is" else sprintf("%d tiles are", n_empty)),
      source_note(drawn), of$note(drawn)
    )
  )
}
