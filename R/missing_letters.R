# Letters that no font of this machine has: the device draws boxes in their place, and says nothing.

# A sentence about the letters of a plot that are missing here, or NULL. fontconfig, which the cairo devices ask, tells;
# without its program nothing can be said.
missing_letters_note <- function(plot) {
  letters <- uncommon_letters(c(unlist(plot$labels), texts_in(plot$data), lapply(plot$layers, function(layer) {
    texts_in(layer$data)
  }), scale_texts(plot)))
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

scale_texts <- function(plot) {
  lapply(plot$scales$scales, function(scale) if (is.character(scale$labels)) scale$labels)
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
