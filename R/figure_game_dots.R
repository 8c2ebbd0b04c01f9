# Dots with intervals for cells of games, a line for chance and one for people: the body of several figures.

game_dots <- function(cells, width = NULL) {
  labels <- levels(cells$series_shown)
  n_columns <- legend_columns(labels, inches_or(width, 9))
  named <- unique(cells[c("model_height", "model_shown")])
  at_height(cells) +
    bands_of(cells) +
    ggplot2::geom_blank(ggplot2::aes(x = 0)) +
    # all models take the same room, also those at the edges of a panel
    ggplot2::geom_blank(ggplot2::aes(y = .data$model_height - .5)) +
    ggplot2::geom_blank(ggplot2::aes(y = .data$model_height + .5)) +
    lines_of(cells) +
    dots_with_intervals(cells, "series_shown", stroke = .8) +
    panels_of_dots(cells, width) +
    ggplot2::scale_y_continuous(
      breaks = named$model_height, labels = as.character(named$model_shown), expand = c(0, 0)
    ) +
    ggplot2::scale_x_continuous(breaks = function(limits) pretty(limits, 4)) +
    colours_and_shapes(length(labels)) +
    ggplot2::guides(
      colour = dots_guide(labels, n_columns), shape = dots_guide(labels, n_columns),
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

# One nameless format needs no legend.
dots_guide <- function(labels, n_columns) {
  if (identical(labels, "")) "none" else ggplot2::guide_legend(order = 1, ncol = n_columns)
}

# A row of panels for each condition or format; where there is no room for that, one panel after the other.
panels_of_dots <- function(cells, width) {
  has_rows <- nlevels(cells$row_shown) > 1
  n_columns <- dots_columns(cells, width)
  in_lines <- ggplot2::labeller(column_shown = function(labels) wrapped(labels, 18))
  labeller <- if (is.null(width) && n_columns <= 3) "label_value" else in_lines
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
  n_columns <- nlevels(cells$column_shown)
  # Their names are long: six next to each other would be cut off.
  columns_within(width, if (n_columns > 4) 3 else n_columns, each_in = 1.6, margin_in = 1.5)
}

# What lies behind the dots of a panel: where 95 % of cells of chance lie, and people's interval.
bands_of <- function(cells) {
  band <- function(level, ends, fill) {
    panels <- common_bands(cells, level, ends)
    if (nrow(panels) > 0) {
      ggplot2::geom_rect(
        ggplot2::aes(xmin = .data[[ends[[1]]]], xmax = .data[[ends[[2]]]], ymin = -Inf, ymax = Inf),
        data = panels, fill = fill, inherit.aes = FALSE
      )
    }
  }
  list(
    band("random_level", c("random_low", "random_high"), "grey91"),
    band("human", c("human_low", "human_high"), "#FBE3B8")
  )
}

# Few games have the level of many, but lie in a wider band: it is drawn where all cells have nearly the same.
common_bands <- function(cells, level, ends) {
  panels <- common_levels(cells, c(level, ends))
  is_alike <- lapply(ends, function(end) panel_of(panels) %in% panel_of(common_levels(cells, end, within = .03)))
  panels[!is.na(panels[[ends[[1]]]]) & Reduce(`&`, is_alike), ]
}

panel_of <- function(cells) paste(cells$row_shown, cells$column_shown, sep = "\r")

# One row a panel in which all cells have nearly the same level; cells that know none don't count.
common_levels <- function(cells, columns, within = .005) {
  known <- cells[!is.na(cells[[columns[[1]]]]), ]
  panels <- split(known, panel_of(known))
  is_common <- vapply(panels, function(panel) diff(range(panel[[columns[[1]]]])) < within, NA)
  levels <- lapply(panels[is_common], function(panel) {
    cbind(panel[1, c("row_shown", "column_shown")], as.list(colMeans(panel[columns])))
  })
  do.call(rbind, c(list(known[0, c("row_shown", "column_shown", columns)]), levels))
}

# Where the level of chance differs within a panel, each cell has a short line of its own.
lines_of <- function(cells) {
  chance <- common_levels(cells, "random_level")
  is_common <- panel_of(cells) %in% panel_of(chance)
  varying <- cells[!is_common & !is.na(cells$random_level), ]
  half <- if (has_one_condition(cells)) .35 else .3 / nlevels(cells$series_shown)
  human <- unique(cells[!is.na(cells$human), c("row_shown", "column_shown", "human")])
  line <- function(panels, at, kind) data.frame(panels[1:2], at = at, kind = rep(kind, nrow(panels)))
  lines <- rbind(
    line(chance, chance$random_level, level_kinds(cells)[[1]]), line(human, human$human, level_kinds(cells)[[2]])
  )
  list(
    if (nrow(lines) > 0) {
      ggplot2::geom_vline(
        ggplot2::aes(xintercept = .data$at, linetype = .data$kind), data = lines, colour = "grey25", linewidth = .5
      )
    },
    if (nrow(varying) > 0) {
      ggplot2::geom_segment(
        ggplot2::aes(
          x = .data$random_level, xend = .data$random_level, y = .data$height - half, yend = .data$height + half,
          colour = .data$series_shown
        ),
        data = varying, linewidth = .6, show.legend = FALSE
      )
    },
    level_types(cells)
  )
}

level_kinds <- function(cells) c("Chance", one_text(cells, "people_are", "People, as printed"))

level_types <- function(cells) {
  ggplot2::scale_linetype_manual(values = stats::setNames(c("dotted", "dashed"), level_kinds(cells)), name = NULL)
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
  n_series <- max(table(paste(cells$model_height, cells$column_shown)))
  labels <- levels(cells$series_shown)
  legend_in <- .22 * ceiling(length(labels) / legend_columns(labels, inches_or(width, 9)))
  panels_in <- n_models * max(.27, .11 * n_series + .08) + .25 * nlevels(cells$row_shown)
  n_times <- ceiling(nlevels(cells$column_shown) / dots_columns(cells, width))
  2.5 + legend_in + n_times * panels_in + .5 * (n_times - 1)
}

# The text alternative of a figure of game_dots(): `what` of how many models and conditions, and each index.
games_in_words <- function(what, cells, notes) {
  alt_text(
    sprintf(
      "%s %s%s%s", what, counted(nlevels(cells$model_shown), "model"),
      levels_in_words(conditions_shown(cells), "condition"), levels_in_words(cells$format_shown, "answer format")
    ),
    notes = c(dots_in_words(cells), notes)
  )
}

# ", 2 conditions (main, steer fair)"; nothing where there is only one.
levels_in_words <- function(labels, what) {
  if (nlevels(labels) < 2) "" else sprintf(", %s (%s)", counted(nlevels(labels), what), toString(levels(labels)))
}

# A sentence with the ends of each column of panels, and how many dots lie above chance and above people.
dots_in_words <- function(cells) {
  cells$column_shown <- on_one_line(cells$column_shown)
  cells$condition_shown <- conditions_shown(cells)
  of_columns <- vapply(split(cells, cells$column_shown), function(column) {
    named <- function(row) sprintf("%.2f (%s)", row$at, cell_name(row, cells))
    range <- sprintf(
      "%s: from %s to %s", short_names(as.character(column$column_shown[[1]])), named(column[which.min(column$at), ]),
      named(column[which.max(column$at), ])
    )
    paste0(range, above_in_words(column, "random_level", "chance"), above_in_words(column, "human", "people"))
  }, "")
  paste0(paste(of_columns, collapse = ". "), ".")
}

# An estimate may lie above a level by chance: what has an interval must have all of it there.
above_in_words <- function(cells, level, name) {
  known <- cells[!is.na(cells[[level]]), ]
  if (nrow(known) == 0) {
    return("")
  }
  n_above <- sum(ifelse(is.na(known$low), known$at, known$low) > known[[level]])
  wholly <- if (all(is.na(cells$low))) "" else "with their interval "
  levels <- toString(unique(sprintf("%.2f", known[[level]])))
  sprintf("; %d of %d %sabove %s (%s)", n_above, nrow(known), wholly, name, levels)
}

cell_name <- function(row, cells) {
  toString(c(
    as.character(row$model_shown), if (nlevels(cells$variant_shown) > 1) as.character(row$condition_shown),
    if (nlevels(cells$format_shown) > 1) as.character(row$format_shown)
  ))
}
