# Figures as rows of inst/figures.csv: what each is drawn from, and its words. How a figure begins, with its rows
# checked, and ends, as a plot or a file. The analysis reads the same table, in whose order a report has its figures.
#
# Columns: `figure` (drawn by plot_NAME()); `table`, of a fit, and the one `beside` it, joined by term; `cells`, what a
# row is of ("All models" where nothing says); `needed` columns, and of these those that must have a `value`; `once`,
# columns that tell rows apart. Errors: `to` draw what, of which there is `nothing`, or what is there `twice`, and
# `advice`. `width` in inches; `title`, `subtitle`, `x`, `y`. For the analysis: `description`, `hint` (what to type for
# its rows) and `kind`: "declared" (by a design), "method" (shows the method itself, and is no part of a report).

figure_row <- function(figure) {
  if (is.null(figure_table$rows)) {
    file <- shipped_file("figures.csv")
    rows <- utils::read.csv(file, colClasses = "character", na.strings = character(), encoding = "UTF-8")
    lists <- c("cells", "needed", "value", "once")
    rows[lists] <- lapply(rows[lists], strsplit, " ", fixed = TRUE)
    figure_table$rows <- split(rows, rows$figure)
  }
  lapply(figure_table$rows[[figure]], `[[`, 1)
}
figure_table <- new.env(parent = emptyenv())

# The rows of a figure, checked. Looks at what the figure that calls this is asked for, before anything is computed, and
# keeps that until the figure is finished.
begin_figure <- function(figure, data, file = NULL, width = NULL, height = NULL, title = NULL, subtitle = NULL,
                         order = NULL, highlight = NULL, dpi = 200) {
  check_arguments(parent.frame(), sys.function(sys.parent()))
  check_arguments(more = list(order = names_shown, highlight = names_shown, width = inches, height = inches))
  need_package("ggplot2", "draw a figure")
  if (!is.null(file) && !grepl("\\.(svg|png|pdf)$", file, ignore.case = TRUE)) {
    stop_with(sprintf("Can't write the figure to %s: its name must end in .svg, .png or .pdf.", quoted(file)))
  }
  if (!is.null(file) && !dir.exists(dirname(file))) {
    stop_with(
      sprintf("Can't write the figure to %s: there is no such folder.", quoted(file)),
      sprintf("To have it: dir.create(%s, recursive = TRUE)", quoted(dirname(file)))
    )
  }
  about <- figure_row(figure)
  rows <- figure_rows(data, if (nzchar(about$table)) about$table, about$beside)
  if (length(about$cells) > 0) rows <- with_cells(rows, about$cells)
  if (length(about$needed) > 0) check_columns(rows, about$needed, to = trimws(paste("draw", about$to)))
  if (!nzchar(about$to) && length(about$needed) > 0 && nrow(rows) == 0) stop_with("Can't draw: there are no rows.")
  if (length(about$value) > 0) rows <- rows_to_draw(figure, rows, stats::complete.cases(rows[about$value]))
  asked <- list(
    title = title, subtitle = subtitle, order = order, highlight = highlight, dpi = dpi, file = file, width = width,
    height = height, about = about, rows = rows
  )
  before <- options(slant.figure = c(asked, seen = new.env()))
  do.call(on.exit, list(bquote(options(.(before))), add = TRUE), envir = parent.frame())
  rows
}

asked_of_figure <- function(name) getOption("slant.figure")[[name]]

# Below an inch nothing can be read; above 50 no printer, and hardly a program, takes it.
inches <- list(
  must_be = "a number of inches from 1 to 50 (a column of a journal is about 3.5 wide, a page 7)",
  is_right = function(value) is.numeric(value) && length(value) == 1 && is.finite(value) && value >= 1 && value <= 50
)

names_shown <- list(
  must_be = "names that the figure shows, as text",
  is_right = function(value) is.character(value) && length(value) > 0 && !anyNA(value)
)

# The rows to draw: a data frame as it is, a lazy table (open_trials()) read, or of what a fit returned the `table` of
# that name, with the columns of the one `beside` it.
figure_rows <- function(x, table = NULL, beside = "") {
  if (inherits(x, "tbl_lazy")) {
    return(as.data.frame(x))
  }
  if (is.data.frame(x) || !is.list(x)) {
    return(x)
  }
  rows <- if (is.null(table)) NULL else if (is.data.frame(x[[table]])) x[[table]] else x$tables[[table]]
  if (!is.data.frame(rows)) {
    stop_with(
      if (is.null(table)) {
        "Can't draw: the rows must come as a data frame, but they are a list."
      } else {
        sprintf("Can't draw: the fit has no table %s.", quoted(table))
      },
      sprintf("Tables there are: %s.", toString(c(names(x), names(x$tables))))
    )
  }
  more <- x$tables[[beside]]
  if (is.null(more)) rows else cbind(rows, more[match(rows$term, more$term), setdiff(names(more), names(rows))])
}

# The rows of a figure that have a value, or an error that says what is not there, or what is there twice.
rows_to_draw <- function(figure, rows, has_value) {
  about <- figure_row(figure)
  rows <- rows[has_value, , drop = FALSE]
  if (nrow(rows) == 0) stop_with(sprintf("Can't draw %s: there is no %s.", about$to, about$nothing))
  check_drawn_once(figure, rows)
}

check_drawn_once <- function(figure, rows) {
  about <- figure_row(figure)
  if (length(about$once) > 0 && all(about$once %in% names(rows)) && anyDuplicated(rows[about$once]) > 0) {
    stop_with(sprintf("Can't draw %s: %s.", about$to, about$twice), if (nzchar(about$advice)) about$advice)
  }
  rows
}

# Rows that say of what model and test they are: what is fitted to all of them together has no column of it, or NA.
with_cells <- function(rows, columns) {
  if (!is.data.frame(rows)) {
    return(rows)
  }
  for (name in columns) {
    values <- if (name %in% names(rows)) as.character(rows[[name]]) else rep(NA_character_, nrow(rows))
    if (anyNA(values)) rows[[name]] <- ifelse(is.na(values), sprintf("All %ss", name), values)
  }
  rows
}

# The plot itself with its words, or, with a file, the written one. `words`: the text alternative, which the `source`
# and what is `said` follow; `notes`: further sentences of the caption. `height_in` goes with the figure's own width,
# `width_in`. What is not given is of the figure's row; what draw_figure() is asked for comes first.
finish_figure <- function(plot, words, height_in, width_in = as.numeric(asked_of_figure("about")$width), notes = NULL,
                          said = notes, source = source_note(asked_of_figure("rows")),
                          title = asked_of_figure("about")$title, subtitle = asked_of_figure("about")$subtitle,
                          x = asked_of_figure("about")$x, y = asked_of_figure("about")$y, fill = NULL) {
  axis <- function(name) if (!identical(name, "")) name
  file <- asked_of_figure("file")
  width <- asked_of_figure("width")
  alt_text <- no_minus_zero(paste(c(words, source, said), collapse = " "))
  plot <- highlighted(plot) + ggplot2::labs(
    title = given_or(asked_of_figure("title"), one_text(asked_of_figure("rows"), "title", title)),
    subtitle = given_or(asked_of_figure("subtitle"), subtitle), x = axis(x), y = axis(y), colour = NULL, fill = fill,
    shape = NULL, linetype = NULL, caption = no_minus_zero(paste(c(source, notes), collapse = " ")), alt = alt_text
  )
  shown <- fitted_to(plot, given_or(width, width_in))
  attr(shown, "alt_text") <- alt_text
  note <- missing_letters_note(shown)
  if (!is.null(note)) warning(note, call. = FALSE)
  if (is.null(file)) {
    return(shown)
  }
  if (!is.null(width) && is.null(asked_of_figure("height"))) {
    height_in <- height_in + max(0, height_of_words(shown) - height_of_words(fitted_to(plot, width_in)))
  }
  open_device(file, given_or(width, width_in), given_or(asked_of_figure("height"), height_in))
  tryCatch(print(shown), finally = grDevices::dev.off())
  if (grepl("\\.svg$", file, ignore.case = TRUE)) { # where screen readers look for the title and the text alternative
    escaped <- function(text) gsub("<", "&lt;", gsub("&", "&amp;", enc2utf8(text), fixed = TRUE), fixed = TRUE)
    lines <- readLines(file, encoding = "UTF-8")
    # Older Cairo's numbers go on from figure to figure: the same figure is the same file, whatever was drawn before.
    places <- gregexpr("(?<=surface)[0-9]+", lines, perl = TRUE)
    numbers <- lapply(regmatches(lines, places), as.integer)
    first <- min(unlist(numbers), .Machine$integer.max) # newer Cairo writes none
    regmatches(lines, places) <- lapply(numbers, function(own) own - first + 1L)
    root <- grep("<svg ", lines, fixed = TRUE)[[1]]
    lines[[root]] <- sub("<svg ", "<svg role=\"img\" ", lines[[root]], fixed = TRUE)
    title <- gsub("\n", " ", shown$labels$title, fixed = TRUE)
    words <- sprintf("<title>%s</title>\n<desc>%s</desc>", escaped(title), escaped(alt_text))
    writeLines(enc2utf8(append(lines, words, after = root)), file, useBytes = TRUE)
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

note_shown <- function(asked, shown) {
  for (name in intersect(asked, shown)) assign(name, TRUE, envir = asked_of_figure("seen"))
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
