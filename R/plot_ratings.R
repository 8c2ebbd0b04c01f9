# What combinations of two attributes add, as a heat map: of amie(), or of its estimates ("first: level x second:
# level").
plot_interactions <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("interactions", data, file, width, height, ...)
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
  most_levels <- function(side) max(vapply(panels, function(panel) nlevels(droplevels(panel[[side]])), 1L))
  widest <- most_levels("model_shown")
  most <- if (length(panels) == 1) 1 else max(1, min(3, floor(16 / widest)))
  n_columns <- columns_within(width, min(length(panels), most), each_in = 1.5 + .4 * widest, margin_in = 1)
  for (side in c("model_shown", "test_shown")) levels(tiles[[side]]) <- on_lines(levels(tiles[[side]]), 20)
  slanted_in <- max(0, .05 * (max(nchar(levels(tiles$model_shown))) - 16)) # what long names take below the tiles
  finish_figure(
    diverging_heat_map(tiles, of, "bottom") + (if (length(panels) > 1) panels_by("panel", n_columns, scales = "free")),
    alt_text(
      sprintf(
        "Heat map of what %d combinations of %s add%s", nrow(tiles), paste(unique(tiles$pair), collapse = "; "), of_cell
      ),
      notes = sprintf(
        "p, corrected for the number in its panel, is below .05 in %s.", counted(sum(cells$is_apart), "contrast")
      )
    ),
    2 + (.9 + .35 * most_levels("test_shown") + slanted_in) * ceiling(length(panels) / n_columns),
    max(6, 1 + n_columns * (1.5 + .75 * widest)), title = paste0("What do combinations add?", sub("^:", "", of_cell)),
    x = attr(tiles, "sides")[[1]], y = attr(tiles, "sides")[[2]]
  )
}

# Columns are levels of the first attribute, rows of the second; a panel for each pair of attributes and model.
interaction_tiles <- function(rows) {
  sides <- do.call(rbind, strsplit(rows$term, " x (?=[a-z0-9_]+: )", perl = TRUE)) # a level may have an x, too
  if (ncol(sides) != 2) stop_with("Can't draw: terms must read \"first: level x second: level\".")
  level <- function(side) sub("^[^:]*: ", "", side)
  ordered <- function(side) ordered_labels(frame_of(level = level(side)), "level")
  models <- with_cells(rows, "model")
  attributes <- gsub("_", " ", sub(": .*", "", sides), fixed = TRUE)
  pair <- paste(attributes[, 1], "and", attributes[, 2])
  panel <- if ("model" %in% names(rows)) paste(pair, labels_of(models, "model"), sep = ", ") else pair
  tiles <- frame_of(
    model_shown = ordered(sides[, 1]), test_shown = ordered(sides[, 2]), at = rows$estimate, low = rows$conf_low,
    high = rows$conf_high, pair = pair, panel = factor(panel, unique(panel)), is_apart = FALSE,
    contrast = sprintf("%.9g, %.9g", abs(rows$estimate), rows$conf_high - rows$conf_low)
  )
  # Where an attribute has two levels, each contrast is in the table twice, with either sign: it counts once.
  # Without p (a table that holds intervals only) a normal distribution's.
  normal <- 2 * stats::pnorm(-abs(rows$estimate) * 2 * stats::qnorm(.975) / (rows$conf_high - rows$conf_low))
  p_values <- given_or(rows$p_value, normal)
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

# Ratings as stacked bars around the middle of the scale, one for each level (and model), as wide as all its ratings:
# points below the middle lie left of it, those above right, and the middle point itself half on each side. `category`:
# whole numbers, the lowest first; `n`: ratings. Used if there: `labels` (words of the points), `points` (of the whole
# scale, if some were never given).
plot_ratings <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("ratings", data, file, width, height, ...)
  if (!"attribute" %in% names(rows)) rows$attribute <- rep("", nrow(rows))
  rows <- attribute_figure_rows(rows)
  pieces <- rating_pieces(rows)
  n_models <- nlevels(rows$model_shown)
  is_below <- n_models > 4 # more models have no room next to each other
  points <- levels(pieces$point)
  n_bars <- nrow(unique(pieces[c("attribute_shown", "level_shown", "model_shown")]))
  means <- means_in_words(rows)
  # blue below the middle and orange above it, lighter towards it: they differ in grey, too
  colours <- grDevices::colorRampPalette(c("#00446E", "#5AA5D6", "#D9D9D9", "#E8A33D", "#9A3B00"))
  plot <- ggplot2::ggplot(pieces, ggplot2::aes(y = .data$level_shown)) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$from, xmax = .data$to, colour = .data$point), linewidth = 5, lineend = "butt"
    ) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35", linewidth = .4) +
    ggplot2::scale_colour_manual(values = colours(length(points)), drop = FALSE) +
    ggplot2::scale_x_continuous(labels = function(at) paste0(plain_number_text(abs(100 * at)), " %")) +
    ggplot2::scale_y_discrete(limits = rev, labels = on_lines) +
    ggplot2::facet_grid(
      if (is_below) ggplot2::vars(.data$model_shown, .data$attribute_shown) else ggplot2::vars(.data$attribute_shown),
      if (n_models > 1 && !is_below) ggplot2::vars(.data$model_shown), scales = "free_y", space = "free_y", switch = "y"
    ) +
    figure_theme() +
    ggplot2::theme(
      strip.placement = "outside", panel.spacing.x = grid::unit(30, "pt"),
      strip.text.y.left = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1)
    ) +
    ggplot2::guides(colour = ggplot2::guide_legend(nrow = 1, override.aes = list(linewidth = 4)))
  finish_figure(
    plot, alt_text(
      sprintf("Stacked bars of ratings for %s", counted_levels(rows)),
      if (length(means) < n_bars) "Mean rating, the lowest and the highest" else "Mean rating", means
    ),
    2.2 + if (is_below) .22 * n_bars else .32 * nrow(unique(pieces[c("attribute_shown", "level_shown")])),
    5.5 + 2.5 * if (is_below) 1 else min(3, n_models),
    title = paste(c(asked_of_figure("about")$title, one_text(rows, "question", NULL)), collapse = " ")
  )
}

# Where the bar of each point begins and ends, as shares.
rating_pieces <- function(rows) {
  points <- sort(unique(c(as.numeric(rows$category), if ("points" %in% names(rows)) unlist(rows$points))))
  words <- if ("labels" %in% names(rows)) rows$labels[match(points, rows$category)] else plain_number_text(points)
  words <- ifelse(is.na(words), plain_number_text(points), words)
  middle <- mean(range(points))
  keys <- c("attribute_shown", "level_shown", "model_shown")
  as_plain_rows(do.call(rbind, lapply(group_rows(rows, keys), function(own) {
    n <- vapply(points, function(point) sum(rows$n[own][rows$category[own] == point]), 1)
    share <- n / sum(n)
    below <- sum(share[points < middle]) + sum(share[points == middle]) / 2
    to <- cumsum(share) - below
    cbind(
      rows[own[[1]], keys, drop = FALSE],
      frame_of(point = factor(words, unique(words)), from = to - share, to = to), row.names = NULL
    )
  })))
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
