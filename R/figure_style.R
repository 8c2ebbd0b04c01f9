# The look that all figures share, and what they say about themselves.

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

# The title that the rows bring along (a study's own figure), else `otherwise`.
given_title <- function(rows, otherwise) one_text(rows, "title", otherwise)

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

note_shown <- function(asked, shown) {
  for (name in intersect(asked, shown)) assign(name, TRUE, envir = asked_of_figure("seen"))
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

check_file_ending <- function(file) {
  if (!is.null(file) && !grepl("\\.(svg|png|pdf)$", file, ignore.case = TRUE)) {
    stop_with(sprintf("Can't write the figure to %s: its name must end in .svg, .png or .pdf.", quoted(file)))
  }
  if (!is.null(file) && !dir.exists(dirname(file))) {
    stop_with(
      sprintf("Can't write the figure to %s: there is no such folder.", quoted(file)),
      sprintf("To have it: dir.create(%s, recursive = TRUE)", quoted(dirname(file)))
    )
  }
}

# Puts the title and the text alternative into an SVG file, where screen readers look for them.
describe_svg <- function(file, title, alt_text) {
  escaped <- function(text) gsub("<", "&lt;", gsub("&", "&amp;", enc2utf8(text), fixed = TRUE), fixed = TRUE)
  lines <- readLines(file, encoding = "UTF-8")
  root <- grep("<svg ", lines, fixed = TRUE)[[1]]
  lines[[root]] <- sub("<svg ", "<svg role=\"img\" ", lines[[root]], fixed = TRUE)
  words <- sprintf("<title>%s</title>\n<desc>%s</desc>", escaped(title), escaped(alt_text))
  writeLines(enc2utf8(append(lines, words, after = root)), file, useBytes = TRUE)
}

# The plot itself with its words, or, with `file`, the written file. `width` and `height`: as asked for, in inches, or
# NULL; `width_in` and `height_in`: the figure's own, the latter with as much text above and below as has its own width.
# `caption`: sentences. draw_figure() may ask for other words, and for other dots per inch of a PNG.
finish_figure <- function(plot, file, alt_text, width, height, width_in, height_in, title, subtitle, caption,
                          x = NULL, y = NULL, fill = NULL) {
  plot <- highlighted(plot) + ggplot2::labs(
    title = given_or(asked_of_figure("title"), title), subtitle = given_or(asked_of_figure("subtitle"), subtitle),
    x = x, y = y, colour = NULL,
    fill = fill, shape = NULL, linetype = NULL,
    caption = no_minus_zero(paste(caption, collapse = " ")), alt = alt_text
  )
  shown <- fitted_to(plot, inches_or(width, width_in))
  attr(shown, "alt_text") <- alt_text
  note <- missing_letters_note(shown)
  if (!is.null(note)) warning(note, call. = FALSE)
  if (is.null(file)) {
    return(shown)
  }
  if (!is.null(width) && is.null(height)) {
    height_in <- height_in + max(0, height_of_words(shown) - height_of_words(fitted_to(plot, width_in)))
  }
  open_device(file, inches_or(width, width_in), inches_or(height, height_in))
  tryCatch(print(shown), finally = grDevices::dev.off())
  if (grepl("\\.svg$", file, ignore.case = TRUE)) {
    describe_svg(file, gsub("\n", " ", shown$labels$title, fixed = TRUE), alt_text)
  }
  invisible(structure(list(path = file, alt_text = alt_text, note = note), alt_text = alt_text))
}

# All that is not of the names to highlight is pale. Names that the figure does not show are an error.
highlighted <- function(plot) {
  asked <- asked_of_figure("highlight")
  marked <- function(data) {
    if (!is.data.frame(data) || nrow(data) == 0) {
      return(data)
    }
    is_asked <- lapply(data, function(column) {
      if (!is.character(column) && !is.factor(column)) {
        return(FALSE)
      }
      texts <- gsub("\n", " ", as.character(column), fixed = TRUE)
      note_shown(asked, texts)
      texts %in% asked
    })
    data$is_highlighted <- Reduce(`|`, is_asked, rep(FALSE, nrow(data)))
    data
  }
  if (length(asked) > 0) {
    plot$data <- marked(plot$data)
    for (at in seq_along(plot$layers)) {
      layer <- plot$layers[[at]]
      layer$data <- marked(layer$data)
      rows <- if (is.data.frame(layer$data)) layer$data else plot$data
      if (layer$inherit.aes && "is_highlighted" %in% names(rows)) {
        layer$mapping$alpha <- ggplot2::aes(alpha = .data$is_highlighted)$alpha
      }
    }
    plot <- plot + ggplot2::scale_alpha_manual(values = c(`FALSE` = .25, `TRUE` = 1), guide = "none")
  }
  unknown <- setdiff(c(setdiff(asked_of_figure("order"), "value"), asked), ls(asked_of_figure("seen")))
  if (length(unknown) > 0) {
    stop_with(sprintf("This figure does not show %s.", quoted(unknown)), "`order` and `highlight` take what it shows.")
  }
  plot
}

given_or <- function(given, otherwise) if (is.null(given)) otherwise else given

open_device <- function(file, width_in, height_in) {
  dpi <- asked_of_figure("dpi")
  switch(tolower(sub(".*\\.", "", file)),
    svg = grDevices::svg(file, width = width_in, height = height_in, bg = "white"),
    pdf = grDevices::cairo_pdf(file, width = width_in, height = height_in, bg = "white"),
    grDevices::png(file, width = width_in, height = height_in, units = "in", res = dpi, type = "cairo", bg = "white")
  )
}
