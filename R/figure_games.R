# What the figures of games share: cells (a model, condition and answer format) in their order, and words about them;
# then dots with intervals for these cells, a line for chance and one for people: the body of several figures.

# Long names for what may stand on an axis; other indices are shown by their own.
index_labels <- function() {
  c(
    si = "Stratification index (SI), bits", bgd = "Between-group divergence (BGD)",
    gasi = "Assignment stochasticity (GASI)", mutual_information_bits = "Mutual information, bits",
    bgd_divergence_bits = "BGD as a divergence, bits", gasi_divergence_bits = "GASI as a divergence, bits"
  )
}

# Rows with factors to show: `model_shown`, `variant_shown`, `format_shown`. A label or number that is missing in some
# rows does not matter: the name takes the place of the label, and what has no number comes last.
labelled_games <- function(rows) {
  if (!"answer_format" %in% names(rows)) rows$answer_format <- rep(NA_character_, nrow(rows))
  for (id in c("model", "variant")) {
    label <- paste0(id, "_label")
    number <- paste0(id, "_no")
    named <- if (id == "variant") gsub("_", " ", rows[[id]], fixed = TRUE) else as.character(rows[[id]])
    rows[[label]] <- if (label %in% names(rows)) ifelse(is.na(rows[[label]]), named, rows[[label]]) else named
    if (number %in% names(rows)) rows[[number]][is.na(rows[[number]])] <- Inf
    rows[[paste0(id, "_shown")]] <- ordered_labels(rows, id, label, number)
  }
  formats <- rows$answer_format
  known <- c(
    direct = "Direct", cot = "Chain of thought", react = "ReAct", tool = "Tool call", reasoning = "Reasoning model"
  )
  formats <- ifelse(is.na(formats), "", as.character(formats))
  in_order <- unique(c(intersect(names(known), formats), formats))
  rows$format_shown <- factor(formats, in_order, ifelse(in_order %in% names(known), known[in_order], in_order))
  rows
}

# Rows to draw as dots, one for each key: `low` and `high`, `column_shown` and `row_shown` (its panel), `series_shown`
# (what its colour says) and `height`. `columns`: the labels of the values of `index`, in their order.
game_cells <- function(rows, columns, figure) {
  rows <- labelled_games(rows)
  intervals <- c("conf_low", "conf_high", "boot_low", "boot_high")
  levels <- c("random_level", "random_low", "random_high", "human", "human_low", "human_high")
  rows <- with_absent(rows, c(intervals, levels), NA_real_)
  rows <- with_absent(rows, "panel", "")
  rows$panel[is.na(rows$panel)] <- ""
  is_known <- !is.na(rows$estimate)
  cells <- rows_to_draw(figure, rows, is_known)
  # a t interval where there is one: an index that is no mean over games has only the bootstrap's
  cells$is_boot <- is.na(cells$conf_low) & !is.na(cells$boot_low)
  cells$low <- ifelse(cells$is_boot, cells$boot_low, cells$conf_low)
  cells$high <- ifelse(cells$is_boot, cells$boot_high, cells$conf_high)
  cells$at <- cells$estimate
  # One condition: formats lie next to each other. Several: each format has panels of its own.
  cells[c("model_shown", "variant_shown", "format_shown")] <-
    lapply(cells[c("model_shown", "variant_shown", "format_shown")], droplevels)
  has_one <- has_one_condition(cells)
  index <- as.character(cells$index)
  labels <- ifelse(index %in% names(columns), columns[index], index)
  cells$column_shown <- factor(labels, unique(c(intersect(columns, labels), labels)))
  cells$series_shown <- if (has_one) cells$format_shown else cells$variant_shown
  format <- if (has_one || nlevels(cells$format_shown) == 1) "" else as.character(cells$format_shown)
  panels <- unique(as.character(cells$panel))
  named <- expand.grid(format = c("", levels(cells$format_shown)), panel = panels, stringsAsFactors = FALSE)
  row_name <- function(panel, format) {
    between <- ifelse(panel == "" | format == "", "", ", ")
    wrapped(paste0(panel, between, format), 20)
  }
  cells$row_shown <- droplevels(factor(row_name(cells$panel, format), unique(row_name(named$panel, named$format))))
  structure(with_heights(cells), n_missing = sum(!is_known))
}

with_absent <- function(rows, columns, value) {
  absent <- setdiff(columns, names(rows))
  rows[absent] <- rep(list(rep(value, nrow(rows))), length(absent)) # a single value can't fill a column of no rows
  rows
}

has_one_condition <- function(cells) {
  n_variants <- function(variants) length(unique(variants))
  all(tapply(as.character(cells$variant_shown), as.character(cells$panel), n_variants) == 1)
}

# What tells conditions apart in words: their panels, where each panel is one condition.
conditions_shown <- function(cells) {
  if (nlevels(cells$variant_shown) == 1 || !has_one_condition(cells)) {
    return(cells$variant_shown)
  }
  on_one_line(cells$row_shown)
}

# Labels that are broken into lines for a figure, as they are said.
on_one_line <- function(shown) {
  levels(shown) <- gsub("\n", " ", levels(shown), fixed = TRUE)
  shown
}

wrapped <- function(labels, width) {
  vapply(labels, function(label) paste(strwrap(label, width), collapse = "\n"), "", USE.NAMES = FALSE)
}

# Models from the top down within each row of panels. Each such row begins at another thousand, so that one axis can
# name the models of all of them.
with_heights <- function(cells) {
  row <- as.integer(cells$row_shown)
  model <- as.integer(cells$model_shown)
  from_below <- function(places) match(places, sort(unique(places), decreasing = TRUE))
  place <- stats::ave(model, row, FUN = from_below)
  cells$model_height <- 1000 * row + place
  # Formats stand in the middle of a model, which seldom has all of them; conditions have the same place at all models.
  key <- if (has_one_condition(cells)) cells$model_height else row
  series <- stats::ave(as.integer(cells$series_shown), key, FUN = function(places) match(places, sort(unique(places))))
  n_series <- stats::ave(series, key, FUN = max)
  cells$height <- cells$model_height + .8 * (n_series + 1 - 2 * series) / (2 * n_series)
  cells
}

# How many games, and what is not in the figure.
games_note <- function(cells) {
  n_missing <- attr(cells, "n_missing")
  once <- !duplicated(cells[c("model_shown", "variant_shown", "format_shown")]) # a cell may be in several panels
  n_incomplete <- sum(cells$n_incomplete[once], na.rm = TRUE)
  c(
    if ("n_games" %in% names(cells) && any(!is.na(cells$n_games))) {
      sprintf("%s a cell.", counted_range(cells$n_games, "game"))
    },
    if (n_incomplete > 0) {
      sprintf("Left out, because they were not played to their end: %s.", counted(n_incomplete, "game"))
    },
    if (!is.null(n_missing) && n_missing > 0) {
      sprintf("Not drawn, because it is not defined or not known: %s.", counted(n_missing, "value"))
    }
  )
}

# "30 games", or "28 to 30 games".
counted_range <- function(n, what) {
  ends <- range(n, na.rm = TRUE)
  most <- counted(ends[[2]], what)
  if (ends[[1]] == ends[[2]]) most else sprintf("%d to %s", as.integer(ends[[1]]), most)
}

game_dots <- function(cells, width = NULL) {
  labels <- levels(cells$series_shown)
  n_columns <- legend_columns(labels, given_or(width, 9))
  named <- unique(cells[c("model_height", "model_shown")])
  band <- function(level, ends, fill) {
    panels <- common_bands(cells, level, ends)
    if (nrow(panels) > 0) {
      ggplot2::geom_rect(
        ggplot2::aes(xmin = .data[[ends[[1]]]], xmax = .data[[ends[[2]]]], ymin = -Inf, ymax = Inf),
        data = panels, fill = fill, inherit.aes = FALSE
      )
    }
  }
  at_height(cells) +
    list(
      band("random_level", c("random_low", "random_high"), "grey91"),
      band("human", c("human_low", "human_high"), "#FBE3B8")
    ) +
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
  legend_in <- .22 * ceiling(length(labels) / legend_columns(labels, given_or(width, 9)))
  panels_in <- n_models * max(.27, .11 * n_series + .08) + .25 * nlevels(cells$row_shown)
  n_times <- ceiling(nlevels(cells$column_shown) / dots_columns(cells, width))
  2.5 + legend_in + n_times * panels_in + .5 * (n_times - 1)
}

# The text alternative of a figure of game_dots(): `what` of how many models and conditions, and each index.
games_in_words <- function(what, cells) {
  alt_text(
    sprintf(
      "%s %s%s%s", what, counted(nlevels(cells$model_shown), "model"),
      levels_in_words(conditions_shown(cells), "condition"), levels_in_words(cells$format_shown, "answer format")
    ),
    notes = dots_in_words(cells)
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
  several <- c(condition_shown = nlevels(cells$variant_shown) > 1, format_shown = nlevels(cells$format_shown) > 1)
  shown <- c("model_shown", names(several)[several])
  of_columns <- vapply(split(cells, cells$column_shown), function(column) {
    named <- function(row) sprintf("%.2f (%s)", row$at, toString(unlist(lapply(row[shown], as.character))))
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
