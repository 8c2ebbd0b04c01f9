# What the figures of games share: cells (a model, condition and answer format) in their order, and words about them.

# Long names for what may stand on an axis; other indices are shown by their own.
index_labels <- function() {
  c(
    si = "Stratification index (SI), bits", bgd = "Between-group divergence (BGD)",
    gasi = "Assignment stochasticity (GASI)", mutual_information_bits = "Mutual information, bits",
    bgd_divergence_bits = "BGD as a divergence, bits", gasi_divergence_bits = "GASI as a divergence, bits"
  )
}

answer_format_labels <- function() {
  c(
    direct = "Direct", cot = "Chain of thought", react = "ReAct", tool = "Tool call", reasoning = "Reasoning model"
  )
}

# Rows with factors to show: `model_shown`, `variant_shown`, `format_shown`. A label or number that is missing in some
# rows does not matter: the name takes the place of the label, and what has no number comes last.
labelled_games <- function(rows, to) {
  check_columns(rows, c("model", "variant"), to = to)
  if (!"answer_format" %in% names(rows)) rows$answer_format <- rep(NA_character_, nrow(rows))
  for (id in c("model", "variant")) {
    label <- paste0(id, "_label")
    number <- paste0(id, "_no")
    named <- if (id == "variant") gsub("_", " ", rows[[id]], fixed = TRUE) else as.character(rows[[id]])
    rows[[label]] <- if (label %in% names(rows)) ifelse(is.na(rows[[label]]), named, rows[[label]]) else named
    if (number %in% names(rows)) rows[[number]][is.na(rows[[number]])] <- Inf
    rows[[paste0(id, "_shown")]] <- ordered_labels(rows, id, label, number)
  }
  rows$format_shown <- formats_shown(rows$answer_format)
  rows
}

formats_shown <- function(formats) {
  known <- answer_format_labels()
  formats <- ifelse(is.na(formats), "", as.character(formats))
  in_order <- unique(c(intersect(names(known), formats), formats))
  factor(formats, in_order, ifelse(in_order %in% names(known), known[in_order], in_order))
}

# Rows to draw as dots, one for each key: `low` and `high`, `column_shown` and `row_shown` (its panel), `series_shown`
# (what its colour says) and `height`. `columns`: the labels of the values of `index`, in their order.
game_cells <- function(rows, columns, to) {
  check_columns(rows, c("model", "variant", "index", "estimate"), to = sprintf("draw %s", to))
  rows <- labelled_games(rows, sprintf("draw %s", to))
  intervals <- c("conf_low", "conf_high", "boot_low", "boot_high")
  levels <- c("random_level", "random_low", "random_high", "human", "human_low", "human_high")
  rows <- with_absent(rows, c(intervals, levels), NA_real_)
  rows <- with_absent(rows, "panel", "")
  rows$panel[is.na(rows$panel)] <- ""
  is_known <- !is.na(rows$estimate)
  keys <- c("model_shown", "variant_shown", "format_shown", "index", "panel")
  cells <- rows_to_draw(
    rows, keys, is_known, to, "row with an estimate", keys, "a cell has more than one row",
    "Keep the rows of one source and study version."
  )
  # a t interval where there is one: an index that is no mean over games has only the bootstrap's
  cells$is_boot <- is.na(cells$conf_low) & !is.na(cells$boot_low)
  cells$low <- ifelse(cells$is_boot, cells$boot_low, cells$conf_low)
  cells$high <- ifelse(cells$is_boot, cells$boot_high, cells$conf_high)
  cells$at <- cells$estimate
  structure(with_heights(in_panels(cells, columns)), n_missing = sum(!is_known))
}

with_absent <- function(rows, columns, value) {
  absent <- setdiff(columns, names(rows))
  rows[absent] <- rep(list(rep(value, nrow(rows))), length(absent)) # a single value can't fill a column of no rows
  rows
}

# One condition in each panel: formats lie next to each other. Several: conditions do, and each format has panels of
# its own.
in_panels <- function(cells, columns) {
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
  cells
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
  n_incomplete <- if ("n_incomplete" %in% names(cells)) incomplete_games(cells) else 0
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

# Each cell counts its games once, however many indices and panels it is in.
incomplete_games <- function(cells) {
  once <- !duplicated(cells[c("model_shown", "variant_shown", "format_shown")])
  sum(cells$n_incomplete[once], na.rm = TRUE)
}

# "30 games", or "28 to 30 games".
counted_range <- function(n, what) {
  ends <- range(n, na.rm = TRUE)
  most <- counted(ends[[2]], what)
  if (ends[[1]] == ends[[2]]) most else sprintf("%d to %s", as.integer(ends[[1]]), most)
}
