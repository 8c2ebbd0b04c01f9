# Dots with intervals for cells of games, a line for chance and one for people: the body of several figures.

game_dots <- function(cells, width = NULL) {
  .data <- ggplot2::.data
  shown <- levels(cells$beside_shown)
  n_columns <- legend_columns(shown, inches_or(width, 9))
  ggplot2::ggplot(cells, ggplot2::aes(y = .data$height)) +
    bands_of(cells) +
    ggplot2::geom_blank(ggplot2::aes(x = 0)) +
    # all models take the same room, also those at the edges of a panel
    ggplot2::geom_blank(ggplot2::aes(y = .data$model_height - .5)) +
    ggplot2::geom_blank(ggplot2::aes(y = .data$model_height + .5)) +
    lines_of(cells) +
    intervals_of(cells) +
    ggplot2::geom_point(
      ggplot2::aes(x = .data$estimate, colour = .data$beside_shown, shape = .data$beside_shown), size = 2, stroke = .8
    ) +
    panels_of_dots(cells, width) +
    models_of_panels(cells) +
    ggplot2::scale_x_continuous(breaks = function(limits) pretty(limits, 4)) +
    colours_and_shapes(length(shown)) +
    ggplot2::guides(
      colour = dots_guide(shown, n_columns), shape = dots_guide(shown, n_columns),
      linetype = ggplot2::guide_legend(order = 2)
    ) +
    figure_theme() +
    ggplot2::theme(
      panel.spacing.x = ggplot2::unit(18, "pt"), panel.spacing.y = ggplot2::unit(10, "pt"),
      axis.text.y = ggplot2::element_text(hjust = 1), strip.text.x = ggplot2::element_text(hjust = 0),
      strip.text.y = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1),
      legend.box = "vertical", legend.box.just = "left", legend.spacing.y = ggplot2::unit(0, "pt")
    )
}

# Without intervals there is no layer of them, for the legend's sake.
intervals_of <- function(cells) {
  .data <- ggplot2::.data
  if (any(!is.na(cells$low))) {
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$low, xmax = .data$high, colour = .data$beside_shown),
      data = cells[!is.na(cells$low), ], linewidth = .6
    )
  }
}

# One nameless format needs no legend.
dots_guide <- function(shown, n_columns) {
  if (identical(shown, "")) "none" else ggplot2::guide_legend(order = 1, ncol = n_columns)
}

# A row of panels for each condition or format; where there is no room for that, one panel after the other.
panels_of_dots <- function(cells, width) {
  .data <- ggplot2::.data
  has_rows <- nlevels(cells$row_shown) > 1
  n_columns <- dots_columns(cells, width)
  labeller <- if (is.null(width)) "label_value" else ggplot2::labeller(column_shown = function(said) wrapped(said, 18))
  if (n_columns < nlevels(cells$column_shown)) {
    by <- c(if (has_rows) ggplot2::vars(.data$row_shown), ggplot2::vars(.data$column_shown))
    return(ggplot2::facet_wrap(by, ncol = n_columns, scales = "free", labeller = labeller))
  }
  ggplot2::facet_grid(
    if (has_rows) ggplot2::vars(.data$row_shown), ggplot2::vars(.data$column_shown),
    scales = "free", space = "free_y", labeller = labeller
  )
}

dots_columns <- function(cells, width) {
  columns_within(width, nlevels(cells$column_shown), each_in = 1.6, beside_in = 1.5)
}

models_of_panels <- function(cells) {
  named <- unique(cells[c("model_height", "model_shown")])
  ggplot2::scale_y_continuous(
    breaks = named$model_height, labels = as.character(named$model_shown), expand = c(0, 0)
  )
}

# What lies behind the dots of a panel: where 95 % of cells of chance lie, and people's interval.
bands_of <- function(cells) {
  .data <- ggplot2::.data
  lapply(list(c("random", "grey91"), c("human", "#FBE3B8")), function(one) {
    ends <- paste0(one[[1]], c("_low", "_high"))
    found <- common_bands(cells, if (one[[1]] == "random") "random_level" else "human", ends)
    if (nrow(found) == 0) {
      return(NULL)
    }
    ggplot2::geom_rect(
      ggplot2::aes(xmin = .data[[ends[[1]]]], xmax = .data[[ends[[2]]]], ymin = -Inf, ymax = Inf),
      data = found, fill = one[[2]], inherit.aes = FALSE
    )
  })
}

# Few games have the level of many, but lie in a wider band: it is drawn where all cells have nearly the same.
common_bands <- function(cells, level, ends) {
  found <- common_levels(cells, c(level, ends))
  is_alike <- lapply(ends, function(end) panel_of(found) %in% panel_of(common_levels(cells, end, within = .03)))
  found[!is.na(found[[ends[[1]]]]) & Reduce(`&`, is_alike), ]
}

panel_of <- function(cells) paste(cells$row_shown, cells$column_shown, sep = "\r")

# One row a panel in which all cells have nearly the same level; cells that know none don't count.
common_levels <- function(cells, columns, within = .005) {
  known <- cells[!is.na(cells[[columns[[1]]]]), ]
  panels <- split(known, panel_of(known))
  is_common <- vapply(panels, function(one) diff(range(one[[columns[[1]]]])) < within, NA)
  found <- lapply(panels[is_common], function(one) {
    cbind(one[1, c("row_shown", "column_shown")], as.list(colMeans(one[columns])))
  })
  do.call(rbind, c(list(known[0, c("row_shown", "column_shown", columns)]), found))
}

# Where the level of chance differs within a panel, each cell has a short line of its own.
lines_of <- function(cells) {
  .data <- ggplot2::.data
  chance <- common_levels(cells, "random_level")
  is_common <- panel_of(cells) %in% panel_of(chance)
  own <- cells[!is_common & !is.na(cells$random_level), ]
  half <- if (has_one_condition(cells)) .35 else .3 / nlevels(cells$beside_shown)
  human <- unique(cells[!is.na(cells$human), c("row_shown", "column_shown", "human")])
  kinds <- c("Chance", "People, as printed")
  lines <- rbind(
    data.frame(chance[c("row_shown", "column_shown")], at = chance$random_level, kind = rep(kinds[[1]], nrow(chance))),
    data.frame(human[c("row_shown", "column_shown")], at = human$human, kind = rep(kinds[[2]], nrow(human)))
  )
  list(
    if (nrow(lines) > 0) {
      ggplot2::geom_vline(
        ggplot2::aes(xintercept = .data$at, linetype = .data$kind), data = lines, colour = "grey25", linewidth = .5
      )
    },
    if (nrow(own) > 0) {
      ggplot2::geom_segment(
        ggplot2::aes(
          x = .data$random_level, xend = .data$random_level, y = .data$height - half, yend = .data$height + half,
          colour = .data$beside_shown
        ),
        data = own, linewidth = .6, show.legend = FALSE
      )
    },
    ggplot2::scale_linetype_manual(values = stats::setNames(c("dotted", "dashed"), kinds), name = NULL)
  )
}

# What the lines and bars are, as far as they are there.
marks_note <- function(cells, has_bands = TRUE) {
  has_t <- any(!is.na(cells$low) & !cells$is_boot)
  booted <- unique(as.character(cells$column_shown[cells$is_boot]))
  conditions <- conditions_shown(cells)
  whose <- unique(conditions[!is.na(cells$human)])
  c(
    if (has_t) "Bars: 95 % t intervals over games.",
    if (length(booted) > 0) {
      of <- if (has_t) paste(" of", toString(short_names(booted))) else ""
      sprintf("Bars%s: 95 %% bootstrap intervals over games.", of)
    },
    if (any(!is.na(cells$random_level))) {
      is_everywhere <- nrow(common_levels(cells, "random_level")) == length(unique(panel_of(cells)))
      c(
        "Chance: simulated random choices with as many rounds, groups, jobs in each class and games.",
        if (!is_everywhere) "Short upright lines: chance, where it differs within a panel.",
        if (has_bands && nrow(common_bands(cells, "random_level", c("random_low", "random_high"))) > 0) {
          "Grey: where 95 % of such cells lie."
        }
      )
    },
    if (length(whose) > 0) {
      of <- if (length(whose) == nlevels(conditions)) "" else sprintf(" of \"%s\"", toString(whose))
      has_band <- has_bands && any(!is.na(cells$human_low))
      sprintf(
        "People: printed values%s, not collected here%s.", of, if (has_band) "; orange: their 95 % interval" else ""
      )
    }
  )
}

# "SI" for "Stratification index (SI), bits".
short_names <- function(labels) {
  ifelse(grepl("\\([A-Z]+\\)", labels), sub(".*\\(([A-Z]+)\\).*", "\\1", labels), labels)
}

dots_height_in <- function(cells, width = NULL) {
  n_models <- nrow(unique(cells[c("row_shown", "model_shown")]))
  n_beside <- max(table(paste(cells$model_height, cells$column_shown)))
  shown <- levels(cells$beside_shown)
  legend_in <- .22 * ceiling(length(shown) / legend_columns(shown, inches_or(width, 9)))
  panels_in <- n_models * max(.27, .11 * n_beside + .08) + .25 * nlevels(cells$row_shown)
  n_times <- ceiling(nlevels(cells$column_shown) / dots_columns(cells, width))
  2.5 + legend_in + n_times * panels_in + .5 * (n_times - 1)
}

dots_in_words <- function(cells) {
  cells$column_shown <- on_one_line(cells$column_shown)
  cells$condition_shown <- conditions_shown(cells)
  of_column <- vapply(split(cells, cells$column_shown), function(one) {
    said <- function(row) sprintf("%.2f (%s)", row$estimate, cell_name(row, cells))
    against <- function(level, name) {
      is_known <- !is.na(one[[level]])
      if (!any(is_known)) {
        return(NULL)
      }
      # an estimate may lie above by chance: what has an interval must have all of it there
      low <- if (is.null(one$low)) one$estimate else ifelse(is.na(one$low), one$estimate, one$low)
      n_above <- sum(low[is_known] > one[[level]][is_known])
      at <- unique(sprintf("%.2f", one[[level]][is_known]))
      wholly <- if (is.null(one$low) || all(is.na(one$low))) "" else "with their interval "
      sprintf("; %d of %d %sabove %s (%s)", n_above, sum(is_known), wholly, name, toString(at))
    }
    paste(c(
      sprintf(
        "%s: from %s to %s", short_names(as.character(one$column_shown[[1]])), said(one[which.min(one$estimate), ]),
        said(one[which.max(one$estimate), ])
      ),
      against("random_level", "chance"), against("human", "people")
    ), collapse = "")
  }, "")
  paste0(paste(of_column, collapse = ". "), ".")
}

cell_name <- function(row, cells) {
  toString(c(
    as.character(row$model_shown), if (nlevels(cells$variant_shown) > 1) as.character(row$condition_shown),
    if (nlevels(cells$format_shown) > 1) as.character(row$format_shown)
  ))
}
