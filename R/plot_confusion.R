#' Codes of people next to those of models
#'
#' A tile for each code that people (rows) and a model (columns) gave to the same texts: how many, and which share of
#' the texts with this code by people. A coder who always agrees has texts on the diagonal only.
#'
#' @param data a data frame: `model`, `by_people` and `by_model` (codes), `n`; `source` if present.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_confusion <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  check_columns(data, c("model", "by_people", "by_model", "n"), to = "draw codes")
  rows <- as.data.frame(figure_rows(data))
  if (nrow(rows) == 0) stop_with("There is nothing to draw: no text has the codes of a model and of a person.")
  tiles <- confusion_tiles(rows)
  coders <- unique(tiles$coder)
  n_codes <- nlevels(tiles$people)
  plot <- ggplot2::ggplot(tiles, ggplot2::aes(x = .data$model, y = .data$people)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$share), colour = "white", linewidth = .6) +
    ggplot2::geom_text(ggplot2::aes(label = .data$text, colour = .data$share > .6), size = 3, show.legend = FALSE) +
    ggplot2::scale_fill_gradient(low = "#F7F7F7", high = "#0072B2", limits = c(0, 1), na.value = "grey85",
                                 guide = "none") +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "grey15", `TRUE` = "white"), na.value = "grey15") +
    ggplot2::scale_x_discrete(expand = c(0, 0), guide = ggplot2::guide_axis(angle = if (n_codes > 4) 40)) +
    ggplot2::scale_y_discrete(limits = rev, expand = c(0, 0)) +
    ggplot2::facet_wrap(ggplot2::vars(.data$coder), ncol = min(2, length(coders))) +
    figure_theme() +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
  finish_figure(
    plot, file, confusion_in_words(tiles), width, height, 2 + min(2, length(coders)) * max(2, .8 * n_codes),
    1.6 + ceiling(length(coders) / 2) * max(1.5, .5 * n_codes),
    title = "Codes of people and of models", subtitle = "Texts, and the share of those with this code by people.",
    caption = source_note(rows), x = "by the model", y = "by people"
  )
}

# A row for each coder and pair of codes, also where there is no text.
confusion_tiles <- function(rows) {
  rows <- data.frame(
    coder = as.character(rows$model), people = as.character(rows$by_people), model = as.character(rows$by_model),
    n = as.double(rows$n)
  )
  codes <- sort(unique(c(rows$people, rows$model)), method = "radix")
  coders <- unique(rows$coder)
  tiles <- expand.grid(model = codes, people = codes, coder = coders, stringsAsFactors = FALSE)
  key <- function(frame) paste(frame$coder, frame$people, frame$model, sep = "\037")
  counts <- tapply(rows$n, key(rows), sum)
  tiles$n <- as.double(counts[key(tiles)])
  tiles$n[is.na(tiles$n)] <- 0
  total <- stats::ave(tiles$n, tiles$coder, tiles$people, FUN = sum)
  tiles$share <- ifelse(total > 0, tiles$n / total, NA)
  tiles$text <- ifelse(is.na(tiles$share), "-", sprintf("%d (%s)", as.integer(tiles$n), shares_as_text(tiles$share)))
  tiles$people <- factor(tiles$people, codes)
  tiles$model <- factor(tiles$model, codes)
  tiles
}

confusion_in_words <- function(tiles) {
  of_coder <- vapply(split(tiles, factor(tiles$coder, unique(tiles$coder))), function(own) {
    is_same <- as.character(own$people) == as.character(own$model)
    sprintf("%s: %d of %d", own$coder[[1]], as.integer(sum(own$n[is_same])), as.integer(sum(own$n)))
  }, "")
  alt_text(
    sprintf(
      "Heat map of %d codes by people against those of %s", nlevels(tiles$people), counted(length(of_coder), "model")
    ),
    notes = sprintf("The same code by both: %s.", paste(of_coder, collapse = "; "))
  )
}
