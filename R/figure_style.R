# The look that all figures share, and what they say about themselves. How large it is, and how its words fit:
# the size is the figure's own where none is asked for.

# Okabe and Ito's colours, which people with any common colour blindness can tell apart; yellow is too light for lines.
model_colours <- function() {
  c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")
}

# One filled and one open shape in turn, so that neighbours differ in grey, too.
model_shapes <- function() c(16, 2, 15, 5, 17, 1, 18, 0)

# For more models than there are colours, the colours come again, each time with other shapes.
recycled_colours <- function(n) rep_len(model_colours(), n)

recycled_shapes <- function(n) {
  place <- seq_len(n) - 1
  n_shapes <- length(model_shapes())
  model_shapes()[(place + place %/% n_shapes) %% n_shapes + 1]
}

# The conditions, two of them filled light and dark, so that they differ in grey, too.
condition_scales <- function(n = 2) {
  list(
    ggplot2::scale_fill_manual(
      values = rep_len(c("#BFE3F7", "#E69F00", "#009E73", "#CC79A7", "grey80"), n), drop = FALSE
    ),
    ggplot2::scale_shape_manual(values = rep_len(c(21, 24, 22, 23, 25), n), drop = FALSE)
  )
}

# Conditions as the study calls and orders them; `levels` leaves only some, in this order.
shown_conditions <- function(data, id = "condition", levels = NULL) {
  if (is.null(levels)) {
    return(ordered_labels(data, id))
  }
  label <- paste0(id, "_label")
  names <- if (label %in% names(data)) as.character(data[[label]][match(levels, data[[id]])]) else levels
  factor(as.character(data[[id]]), levels = levels, labels = ifelse(is.na(names), levels, names))
}

# The one text that all rows have in a column (what a comparison is called, a title), else `otherwise`.
one_text <- function(rows, column, otherwise) {
  texts <- if (column %in% names(rows)) unique(stats::na.omit(as.character(rows[[column]])))
  if (length(texts) == 1) texts else otherwise
}

# "a 1, 2 and 3" for each row of a table.
each_row_in_words <- function(table, format) {
  sprintf("%s %s", rownames(table), apply(table, 1, function(row) all_in_words(sprintf(format, row))))
}

figure_theme <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      plot.title.position = "plot",
      plot.caption.position = "plot",
      plot.title = ggplot2::element_text(face = "bold", size = 13),
      plot.subtitle = ggplot2::element_text(colour = "grey30", margin = ggplot2::margin(b = 10)),
      plot.caption = ggplot2::element_text(colour = "grey30", hjust = 0, margin = ggplot2::margin(t = 10)),
      plot.margin = ggplot2::margin(12, 16, 10, 12),
      panel.grid.minor = ggplot2::element_blank(),
      panel.grid.major.y = ggplot2::element_blank(),
      axis.text.y = ggplot2::element_text(colour = "grey10", hjust = 0),
      strip.text = ggplot2::element_text(face = "bold"),
      legend.position = "top",
      legend.justification = "left",
      legend.margin = ggplot2::margin(0, 0, 0, 0)
    )
}

# A factor of labels in the order to show them: by `number` where the data have it, else as they come. Before that comes
# what the figure is asked for: labels by name, or levels and tests by their value, the largest first.
ordered_labels <- function(data, id, label = paste0(id, "_label"), number = paste0(id, "_no")) {
  labels <- labels_of(data, id, label)
  shown <- if (number %in% names(data) && !anyNA(data[[number]])) {
    unique(labels[order(data[[number]], method = "radix")])
  } else if (is.factor(data[[id]])) {
    unique(labels[order(as.integer(data[[id]]), method = "radix")])
  } else {
    unique(labels)
  }
  asked <- asked_of_figure("order")
  value <- given_or(data$at, data$estimate)
  if (identical(asked, "value")) {
    if (id %in% c("level", "test") && is.numeric(value)) {
      means <- tapply(value, factor(labels, shown), mean, na.rm = TRUE)
      shown <- shown[order(-means, method = "radix")]
    }
  } else if (length(asked) > 0) {
    known <- stats::setNames(c(labels, labels), c(labels, as.character(data[[id]])))
    note_shown(asked, names(known))
    shown <- unique(c(known[intersect(asked, names(known))], shown))
  }
  factor(labels, levels = shown)
}

# What a row has no label for has its name.
labels_of <- function(data, id, label = paste0(id, "_label")) {
  labels <- as.character(if (label %in% names(data)) data[[label]] else data[[id]])
  ifelse(is.na(labels), as.character(data[[id]]), labels)
}

# "Flowers/Insects + Pleasant/Unpleasant" on two lines.
two_lines <- function(labels) sub(" + ", "\n+ ", labels, fixed = TRUE)

# What the rows are, for captions: never leave a reader to guess whether models were asked.
source_note <- function(data) {
  if (!"source" %in% names(data)) {
    return("Source of the rows not stated.")
  }
  sentences <- c(
    simulated = "Simulated answers: no model was asked.",
    imported = "Imported answers: collected elsewhere.",
    collected = "Answers collected from the models.",
    human = "Answers of people, not of a model."
  )
  sources <- sort(unique(as.character(data$source)), method = "radix")
  paste(ifelse(sources %in% names(sentences), sentences[sources], sprintf("Source: %s.", sources)), collapse = " ")
}

# What the rows say is measured, in words ("reaction_time" is "reaction time"); NULL where they don't say.
outcome_of <- function(rows) {
  outcome <- one_text(rows, "outcome_label", one_text(rows, "outcome", NULL))
  if (!is.null(outcome)) gsub("_", " ", outcome, fixed = TRUE)
}

# What `tokens` is in each model, as far as the data say it: a reasoning count and all output tokens don't compare.
# NULL where they don't say, or something else is measured. `data` have `model_shown`, see ordered_labels().
measure_note <- function(data) {
  is_of_tokens <- identical(one_text(data, "outcome", "tokens"), "tokens")
  if (!is_of_tokens || !"token_source" %in% names(data) || all(is.na(data$token_source))) {
    return(NULL)
  }
  words <- c(
    usage = "reasoning tokens (usage)", output = "all output tokens",
    template = "tokens up to the end of the reasoning (template)", retokenized = "reasoning text, tokenized again"
  )
  measures <- unique(data[!is.na(data$token_source), c("model_shown", "token_source")])
  measures <- measures[order(measures$model_shown, as.character(measures$token_source), method = "radix"), ]
  kind <- as.character(measures$token_source)
  of_models <- split(ifelse(kind %in% names(words), words[kind], kind), droplevels(measures$model_shown))
  in_words <- sprintf("%s: %s", names(of_models), vapply(of_models, paste, "", collapse = " and "))
  sprintf("Tokens are, for %s.", paste(in_words, collapse = "; "))
}

# The text alternative of a figure: what is drawn, the `values` with what they are, and further
# sentences, which come last.
alt_text <- function(what, values_are = NULL, values = NULL, ..., notes = NULL) {
  listed <- paste(c(values_are, if (length(values) > 0) paste(values, collapse = "; ")), collapse = ": ")
  no_minus_zero(paste(c(paste0(what, "."), if (nzchar(listed)) paste0(listed, "."), ..., notes), collapse = " "))
}

# "0.00" for what rounds to it from below.
no_minus_zero <- function(text) gsub("(?<![0-9.])-(0?[.]?0+)(?![0-9]|[.][0-9])", "\\1", text, perl = TRUE)

# How many panels stand next to each other: `most`, or as many as a given width has room for next to what is not panel.
columns_within <- function(width, most, each_in, margin_in = 1.2) {
  if (is.null(width)) most else max(1, min(most, floor((width - margin_in) / each_in)))
}

# Much narrower than a page.
is_narrow <- function(width_in) width_in < 6

# Lines of text that fit under or above a figure; letters are about half as wide as they are high.
wrapped_to <- function(text, width_in, size, wideness = .52) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  paste(strwrap(lines, width = max(12, floor((width_in - .39) * 72 / (wideness * size)))), collapse = "\n")
}

# The words of a plot on lines that fit into its width, and smaller where that is small.
fitted_to <- function(plot, width_in) {
  base <- if (is_narrow(width_in)) max(7.5, 11 * width_in / 7) else 11 # smaller letters, in points
  sizes <- c(title = 13 / 11, subtitle = 1, caption = .8) * base
  wideness <- c(title = .57, subtitle = .5, caption = .52)
  for (name in names(sizes)) {
    text <- plot$labels[[name]]
    if (is.character(text)) plot$labels[[name]] <- wrapped_to(text, width_in, sizes[[name]], wideness[[name]])
  }
  if (!is_narrow(width_in)) {
    return(with_axis_title_within(plot, width_in))
  }
  if (is.character(plot$labels$x)) plot$labels$x <- wrapped_to(plot$labels$x, width_in - 1, base)
  plot + ggplot2::theme(
    text = ggplot2::element_text(size = base), plot.title = ggplot2::element_text(size = sizes[["title"]]),
    strip.text = ggplot2::element_text(size = .85 * base), strip.text.x = ggplot2::element_text(size = .85 * base),
    legend.title = ggplot2::element_text(size = .85 * base), legend.box = "vertical", legend.box.just = "left",
    legend.direction = "vertical", legend.spacing.y = ggplot2::unit(0, "pt"),
    legend.key.height = ggplot2::unit(11, "pt"), plot.margin = ggplot2::margin(6, 8, 6, 6)
  )
}

# A title of the lower axis that may be wider than what is over it (measuring takes a while), on lines that fit there.
with_axis_title_within <- function(plot, width_in) {
  if (is.character(plot$labels$x) && nchar(plot$labels$x) > 6 * width_in) {
    beside <- grid::convertWidth(measured(plot)$widths, "in", valueOnly = TRUE)
    plot$labels$x <- wrapped_to(plot$labels$x, width_in - sum(beside) + .39, 11)
  }
  plot
}

# The height of all that is above and below the panels, in inches.
height_of_words <- function(plot) {
  table <- measured(plot)
  rows <- table$layout$t[grepl("^(title|subtitle|caption|guide-box)", table$layout$name)]
  sum(grid::convertHeight(table$heights[unique(rows)], "in", valueOnly = TRUE))
}

# Long names on several lines.
on_lines <- function(names, width = 34) {
  vapply(strwrap(as.character(names), width, simplify = FALSE), paste, "", collapse = "\n")
}

# The lines of a legend with `most` names next to each other, or fewer where they are long.
legend_rows <- function(labels, width_in, most) {
  ceiling(length(labels) / min(most, legend_columns(labels, width_in, 13)))
}

# How many columns of a legend fit next to each other.
legend_columns <- function(labels, width_in = 9, letters_per_in = 10.6) {
  max(1, min(length(labels), floor(letters_per_in * width_in / (max(nchar(labels), 0) + 5))))
}

# Letters that no font of this machine has: the device draws boxes in their place, and says nothing.

# A sentence about the letters of a plot that are missing here, or NULL. fontconfig, which the cairo devices ask, tells;
# without its program nothing can be said.
missing_letters_note <- function(plot) {
  letters <- uncommon_letters(c(unlist(plot$labels), texts_in(plot$data), lapply(plot$layers, function(layer) {
    texts_in(layer$data)
  }), lapply(plot$scales$scales, function(scale) if (is.character(scale$labels)) scale$labels)))
  if (length(letters) == 0 || !nzchar(Sys.which("fc-list"))) {
    return(NULL)
  }
  missing <- letters[!vapply(letters, has_font, NA)]
  missing <- missing[missing %in% uncommon_letters(drawn_texts(measured(plot)))]
  if (length(missing) == 0) {
    return(NULL)
  }
  shown <- vapply(utils::head(missing, 8), intToUtf8, "")
  more <- if (length(missing) > 8) sprintf(" and %d more", length(missing) - 8) else ""
  sprintf(
    "No font of this machine has the letters %s%s: boxes are drawn in their place. To install one on Debian: %s.",
    paste(shown, collapse = " "), more, paste("apt-get install", paste(unique(font_packages(missing)), collapse = " "))
  )
}

# Code points beyond Latin, Greek and Cyrillic letters and the signs that figures use themselves, each once.
uncommon_letters <- function(texts) {
  texts <- enc2utf8(as.character(unlist(texts)))
  points <- unique(unlist(lapply(texts[!is.na(texts) & validUTF8(texts)], utf8ToInt)))
  sort(points[points > 0x17F & !points %in% invisible_letters])
}

# Joiners, marks of direction and selectors of variants, which have no picture of their own.
invisible_letters <- c(0x200B:0x200F, 0x202A:0x202E, 0x2060:0x2064, 0xFE00:0xFE0F, 0xFEFF, 0xFFFD)

texts_in <- function(data) {
  if (!is.data.frame(data)) {
    return(NULL)
  }
  lapply(data, function(column) if (is.factor(column)) levels(column) else if (is.character(column)) unique(column))
}

# The plot as grobs. Measuring texts opens a device where none is open, and that of R would leave Rplots.pdf behind.
measured <- function(plot) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  ggplot2::ggplotGrob(plot)
}

# All that a tree of grobs writes.
drawn_texts <- function(grob) {
  parts <- c(if (inherits(grob, "gtable")) grob$grobs, grob$children)
  own <- if (!is.null(grob$label)) as.character(grob$label)
  c(own, unlist(lapply(parts, drawn_texts), use.names = FALSE))
}

has_font <- function(point) {
  found <- tryCatch(
    suppressWarnings(system2("fc-list", sprintf(":charset=%x", point), stdout = TRUE, stderr = FALSE)),
    error = function(e) NA_character_
  )
  length(found) > 0
}

# The Debian package with a font for each of these letters.
font_packages <- function(points) {
  is_east_asian <- points %in% c(0x1100:0x11FF, 0x2E80:0x9FFF, 0xA960:0xA97F, 0xAC00:0xD7FF, 0xF900:0xFAFF,
                                 0xFE30:0xFE4F, 0xFF00:0xFFEF) | (points >= 0x20000 & points <= 0x3FFFF)
  is_emoji <- points %in% c(0x2600:0x27BF) | (points >= 0x1F000 & points <= 0x1FAFF)
  ifelse(is_east_asian, "fonts-noto-cjk", ifelse(is_emoji, "fonts-noto-color-emoji", "fonts-noto-core"))
}
