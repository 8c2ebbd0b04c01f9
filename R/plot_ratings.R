#' Ratings as stacked bars around the middle of the scale
#'
#' One bar for each level (and model), as wide as all its ratings: points below the middle lie left of it, those above
#' right, and the middle point itself half on each side. So bars compare at one glance.
#'
#' @param data a data frame with one row per level and point of the scale: `level`, `category` (whole numbers, the
#'   lowest first), `n` (ratings). Used if present: `attribute`, `model`, `model_label`, `labels` (words of the
#'   points), `points` (of the whole scale, if some were never given), `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_ratings <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- figure_rows(data)
  check_figure_columns(rows, c("level", "category", "n"))
  if (!"attribute" %in% names(rows)) rows$attribute <- rep("", nrow(rows))
  rows <- attribute_figure_rows(rows)
  pieces <- rating_pieces(rows)
  n_models <- nlevels(rows$model_shown)
  points <- levels(pieces$point)
  n_bars <- nrow(unique(pieces[c("attribute_shown", "level_shown", "model_shown")]))
  means <- means_in_words(rows)
  finish_figure(
    ggplot2::ggplot(pieces, ggplot2::aes(y = .data$level_shown)) +
      ggplot2::geom_linerange(
        ggplot2::aes(xmin = .data$from, xmax = .data$to, colour = .data$point),
        linewidth = 5, lineend = "butt"
      ) +
      ggplot2::geom_vline(xintercept = 0, colour = "grey35", linewidth = .4) +
      ggplot2::scale_colour_manual(values = rating_colours(length(points)), drop = FALSE) +
      ggplot2::scale_x_continuous(labels = function(at) paste0(plain_number_text(abs(100 * at)), " %")) +
      ggplot2::scale_y_discrete(limits = rev) +
      (if (n_models > 1) {
        ggplot2::facet_grid(
          ggplot2::vars(.data$attribute_shown), ggplot2::vars(.data$model_shown),
          scales = "free_y", space = "free_y", switch = "y"
        )
      } else {
        ggplot2::facet_grid(
          ggplot2::vars(.data$attribute_shown),
          scales = "free_y", space = "free_y", switch = "y"
        )
      }) +
      figure_theme() +
      ggplot2::theme(
        strip.placement = "outside", panel.spacing.x = grid::unit(30, "pt"),
        strip.text.y.left = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1)
      ) +
      ggplot2::guides(colour = ggplot2::guide_legend(nrow = 1, override.aes = list(linewidth = 4))),
    file, alt_text(
      sprintf("Stacked bars of ratings for %s", counted_levels(rows)),
      if (length(means) < n_bars) "Mean rating, the lowest and the highest" else "Mean rating", means,
      notes = source_note(rows)
    ),
    width, height, 5.5 + 2.5 * min(3, n_models), 2.2 + .32 * nrow(unique(pieces[c("attribute_shown", "level_shown")])),
    title = given_title(rows, "How is the scale used?"),
    subtitle = "Left: below the middle; right: above it. The middle point lies half on each side.",
    caption = source_note(rows), x = "Share of ratings"
  )
}

# Where the bar of each point begins and ends, as shares.
rating_pieces <- function(rows) {
  points <- sort(unique(c(as.numeric(rows$category), if ("points" %in% names(rows)) unlist(rows$points))))
  words <- if ("labels" %in% names(rows)) rows$labels[match(points, rows$category)] else plain_number_text(points)
  words <- ifelse(is.na(words), plain_number_text(points), words)
  middle <- mean(range(points))
  keys <- c("attribute_shown", "level_shown", "model_shown")
  parts <- lapply(group_rows(rows, keys), function(own) {
    n <- vapply(points, function(point) sum(rows$n[own][rows$category[own] == point]), 1)
    share <- n / sum(n)
    below <- sum(share[points < middle]) + sum(share[points == middle]) / 2
    to <- cumsum(share) - below
    cbind(
      rows[own[[1]], keys, drop = FALSE],
      frame_of(point = factor(words, unique(words)), from = to - share, to = to), row.names = NULL
    )
  })
  as_plain_rows(do.call(rbind, parts))
}

# Blue below the middle and orange above it, lighter towards it: they differ in grey, too.
rating_colours <- function(n) {
  grDevices::colorRampPalette(c("#00446E", "#5AA5D6", "#D9D9D9", "#E8A33D", "#9A3B00"))(n)
}

means_in_words <- function(rows) {
  keys <- c("attribute_shown", "level_shown", "model_shown")
  groups <- group_rows(rows, keys)
  means <- vapply(groups, function(own) stats::weighted.mean(rows$category[own], rows$n[own]), 1)
  if (length(groups) > most_means_told) {
    at <- c(which.min(means), which.max(means))
    groups <- groups[at]
    means <- means[at]
  }
  vapply(seq_along(groups), function(no) {
    name <- toString(Filter(nzchar, unlist(lapply(rows[groups[[no]][[1]], keys], as.character))))
    sprintf("%s %s", name, plain_number_text(round(means[[no]], 2)))
  }, "")
}

# An alternative text lists this many means at most, of more the lowest and the highest: it is read aloud.
most_means_told <- 24L
