# A figure is compared twice: its labels, its layers and what they show, which no version of ggplot2 changes, as text;
# and, in the full suite, the picture itself (one for each function: other figures have no `name`), under the version
# that its snapshot in _snaps/ was drawn with. Another version draws the same a little otherwise (margins, order of
# elements), so there the picture alone is skipped, with this reason.
expect_same_figure <- function(name, plot) {
  built <- expect_takes_theme(plot)
  shown <- described_figure(plot, built$data)
  expect_snapshot(writeLines(shown))
  if (is.null(name)) {
    return(invisible())
  }
  if (Sys.getenv("SLANT_FULL") == "") {
    announce_snapshot_file(name = paste0(gsub("[^a-z0-9]+", "-", tolower(name)), ".svg"))  # else it would be deleted
    return(invisible())
  }
  skip_if_not_installed("vdiffr")
  drawn_with <- "3.4"
  here <- as.character(utils::packageVersion("ggplot2"))
  skip_if_not(
    startsWith(here, paste0(drawn_with, ".")),
    sprintf("the picture is of ggplot2 %s, here is %s (labels and layers were compared)", drawn_with, here)
  )
  vdiffr::expect_doppelganger(name, plot)
}

# A test of a figure: skipped, with its reason, where figures can't be drawn.
test_figure <- function(sentence, code) {
  test_unless(sentence, quote(skip_if_not_installed("ggplot2")), substitute(code), parent.frame())
}

# A test that only `make test-full` runs.
test_in_full <- function(sentence, code) {
  test_unless(sentence, quote(skip_but_in_full()), substitute(code), parent.frame())
}

test_unless <- function(sentence, skip, code, frame) {
  body <- bquote({
    .(skip)
    .(code)
  })
  eval(bquote(test_that(.(sentence), .(body))), frame)
}

# The test that a figure is the same as in its snapshot.
test_looks <- function(name, plot, sentence = "the figure looks as it did") {
  test_figure(sentence, expect_same_figure(name, plot))
}

# Lines of text: the labels, then each layer with its number of marks, and of each of its aesthetics that are mapped to
# data the range and mean (positions) or all values (looks, texts).
described_figure <- function(plot, layers = ggplot2::ggplot_build(plot)$data) {
  labels <- Filter(is.character, plot$labels[c("title", "subtitle", "x", "y", "caption")])
  described <- vapply(seq_along(layers), function(i) {
    mapped <- names(c(plot$layers[[i]]$mapping, plot$mapping))
    paste0(class(plot$layers[[i]]$geom)[[1]], ": ", described_layer(layers[[i]], mapped))
  }, "")
  c(sprintf("%s: %s", names(labels), unlist(labels)), described)
}

described_layer <- function(marks, mapped) {
  along <- c("x", "xmin", "xmax", "xend", "xintercept", "y", "ymin", "ymax", "yend", "yintercept")
  looks <- c("colour", "fill", "shape", "linetype", "label")
  positions <- lapply(marks[intersect(along, names(marks))], described_numbers)
  values <- lapply(marks[Reduce(intersect, list(looks, mapped, names(marks)))], function(one) {
    toString(sort(unique(as.character(one)), method = "radix"))
  })
  of_each <- c(positions, values)
  size <- sprintf("%d marks in %d panels", nrow(marks), length(unique(marks$PANEL)))
  paste(c(size, sprintf("  %s: %s", names(of_each), unlist(of_each))), collapse = "\n")
}

described_numbers <- function(values) {
  known <- as.numeric(values)[is.finite(values)]
  if (length(known) == 0) {
    return("none")
  }
  shown <- format(signif(c(range(known), mean(known)), 5), trim = TRUE)
  sprintf("%s to %s, mean %s", shown[[1]], shown[[2]], shown[[3]])
}

# A figure is a ggplot that a person can go on with: their theme stands above ours, and it can still be drawn. Returns
# it built; a theme changes nothing of its layers.
expect_takes_theme <- function(plot) {
  expect_s3_class(plot, "ggplot")
  themed <- plot + ggplot2::theme(legend.position = "bottom", plot.title = ggplot2::element_text(face = "italic"))
  expect_s3_class(themed, "ggplot")
  expect_equal(themed$theme$legend.position, "bottom")
  expect_equal(themed$theme$plot.title$face, "italic")
  built <- ggplot2::ggplot_build(themed)
  expect_s3_class(built, "ggplot_built")
  invisible(built)
}
