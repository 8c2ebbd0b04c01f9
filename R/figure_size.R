# How large a figure is, and how its words fit: the size is the figure's own where none is asked for.

# Looks at what the figure that calls this is asked for, before anything is computed, and keeps the words, order and
# emphasis that it is asked for until that figure is finished.
begin_figure <- function(file = NULL, width = NULL, height = NULL, title = NULL, subtitle = NULL, order = NULL,
                         highlight = NULL, dpi = 200) {
  check_arguments(parent.frame(), sys.function(sys.parent()))
  check_arguments(more = list(order = names_shown, highlight = names_shown))
  need_package("ggplot2", "draw a figure")
  check_file_ending(file)
  check_inches(width, "width")
  check_inches(height, "height")
  asked <- list(title = title, subtitle = subtitle, order = order, highlight = highlight, dpi = dpi)
  before <- options(slant.figure = c(asked, seen = new.env()))
  do.call(on.exit, list(bquote(options(.(before))), add = TRUE), envir = parent.frame())
}

asked_of_figure <- function(name) getOption("slant.figure")[[name]]

names_shown <- list(
  must_be = "names that the figure shows, as text",
  is_right = function(value) is.character(value) && length(value) > 0 && !anyNA(value)
)

# Below an inch nothing can be read; above 50 no printer, and hardly a program, takes it.
check_inches <- function(value, name) {
  is_number <- is.numeric(value) && length(value) == 1 && is.finite(value)
  if (!is.null(value) && !(is_number && value >= 1 && value <= 50)) {
    stop_with(
      sprintf("Can't draw a figure: `%s` must be a number of inches from 1 to 50.", name),
      sprintf("Found: %s. A column of a journal is about 3.5 inches wide, a page 7.",
              quoted(if (is.function(value)) "a function" else as.character(value)))
    )
  }
}

inches_or <- function(given, own) if (is.null(given)) own else given

# How many panels stand next to each other: `most`, or as many as a given width has room for next to what is not panel.
columns_within <- function(width, most, each_in, margin_in = 1.2) {
  if (is.null(width)) most else max(1, min(most, floor((width - margin_in) / each_in)))
}

# In points: smaller letters where a figure is much narrower than a page.
base_size_at <- function(width_in) if (is_narrow(width_in)) max(7.5, 11 * width_in / 7) else 11

is_narrow <- function(width_in) width_in < 6

# Lines of text that fit under or above a figure; letters are about half as wide as they are high.
wrapped_to <- function(text, width_in, size, wideness = .52) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  paste(strwrap(lines, width = max(12, floor((width_in - .39) * 72 / (wideness * size)))), collapse = "\n")
}

# The words of a plot on lines that fit into its width, and smaller where that is small.
fitted_to <- function(plot, width_in) {
  base <- base_size_at(width_in)
  sizes <- c(title = 13 / 11, subtitle = 1, caption = .8) * base
  wideness <- c(title = .57, subtitle = .5, caption = .52)
  for (name in names(sizes)) {
    text <- plot$labels[[name]]
    if (is.character(text)) plot$labels[[name]] <- wrapped_to(text, width_in, sizes[[name]], wideness[[name]])
  }
  if (!is_narrow(width_in)) {
    return(plot)
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

# The height of all that is above and below the panels, in inches.
height_of_words <- function(plot) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  table <- ggplot2::ggplotGrob(plot)
  rows <- table$layout$t[grepl("^(title|subtitle|caption|guide-box)", table$layout$name)]
  sum(grid::convertHeight(table$heights[unique(rows)], "in", valueOnly = TRUE))
}

# How many columns of a legend fit next to each other.
legend_columns <- function(labels, width_in = 9, letters_per_in = 10.6) {
  max(1, min(length(labels), floor(letters_per_in * width_in / (max(nchar(labels), 0) + 5))))
}
