# The seven layers that figures are made of: dots with intervals, forest, heat map, curves, histogram, densities,
# bars. Their rows have `at` (`share`, `n`), `low` and `high` where there is an interval, and `height`, the place on an
# upright axis of names. What panels, axes and rows have in common is below them.

# In aes() it names the rows that are drawn: here so that R CMD check knows the name.
.data <- NULL

# Marks that differ by the factor `look`, in the aesthetics `as`; without one they are all of the colour `plain`.
marks <- function(geom, rows, place, look, as, ..., plain = model_colours()[[1]]) {
  if (is.null(look)) {
    return(geom(place, rows, colour = plain, ...))
  }
  place[as] <- list(ggplot2::aes(x = .data[[look]])$x)
  geom(place, rows, ...)
}

# Dots along x, at their height. `look` tells them apart by colour and shape; `filled` ones by fill and shape, over grey
# bars. Where no dot has an interval there is no layer of bars, for the legend's sake.
dots_with_intervals <- function(rows, look, filled = FALSE, size = 2, stroke = .9, linewidth = .6) {
  bars <- rows[!is.na(rows$low), , drop = FALSE]
  range <- ggplot2::aes(xmin = .data$low, xmax = .data$high)
  as <- c(if (filled) "fill" else "colour", "shape")
  list(
    if (nrow(bars) > 0) {
      bar_look <- if (!filled) look
      plain <- if (filled) "grey35" else model_colours()[[1]]
      marks(ggplot2::geom_linerange, bars, range, bar_look, "colour", plain = plain, linewidth = linewidth)
    },
    marks(ggplot2::geom_point, rows, ggplot2::aes(x = .data$at), look, as, size = size, stroke = stroke)
  )
}

# A figure of such dots next to `names`, the last one on top, over what lies `behind` them: lines between the names, and
# a dashed one at the `reference`. `panel`: the column whose levels have panels. `...`: further layers.
dots_figure <- function(rows, look, names, ..., panel = NULL, n_columns = NULL, scales = "fixed", filled = FALSE,
                        size = 2, reference = if (!filled) 0, behind = lines_between(names)) {
  ggplot2::ggplot(rows, ggplot2::aes(y = .data$height)) +
    behind +
    (if (!is.null(reference)) {
      ggplot2::geom_vline(xintercept = reference, colour = "grey35", linetype = "dashed", linewidth = .4)
    }) +
    dots_with_intervals(rows, look, filled, size, stroke = if (filled) .5 else .9) +
    (if (!is.null(panel)) panels_by(panel, n_columns, scales = scales)) +
    names_on_y(names) +
    (if (filled) condition_scales else colours_and_shapes)(nlevels(rows[[look]])) +
    figure_theme() +
    list(...)
}

# Shares as tiles with their numbers: by `column` and `row`, the first one on top.
heat_map <- function(rows) {
  place <- ggplot2::aes(x = .data$column, y = .data$row, fill = .data$share)
  number <- ggplot2::aes(
    x = .data$column, y = .data$row, label = shares_as_text(.data$share), colour = .data$share > .5
  )
  list(
    ggplot2::geom_tile(place, colour = "white", linewidth = .6),
    ggplot2::geom_text(number, size = 2.7, show.legend = FALSE),
    ggplot2::scale_fill_gradient(
      low = "#F2F6FA", high = "#08306B", limits = c(0, 1), breaks = c(0, .5, 1), na.value = "grey90"
    ),
    ggplot2::scale_colour_manual(values = c(`FALSE` = "grey15", `TRUE` = "white")),
    ggplot2::scale_x_continuous(breaks = unique(rows$column), expand = c(0, 0)),
    ggplot2::scale_y_reverse(breaks = unique(rows$row), expand = c(0, 0))
  )
}

# ".25", and no digits for what is 0 or 1.
shares_as_text <- function(share) {
  text <- sub("^0", "", sprintf("%.2f", share))
  ifelse(is.nan(share), "-", ifelse(text == ".00", "0", ifelse(text == "1.00", "1", text)))
}

# Points by x that a line joins (where `is_joined`), with upright intervals; a curve for each level of `look`. With
# `smooth` among the rows the line follows that, and the points are small and pale under it.
curves <- function(rows, look = NULL, size = 1.8, stroke = .5, linewidth = .4, alpha = .5, bar_width = .5,
                   is_joined = length(unique(rows$x)) > 1) {
  place <- ggplot2::aes(x = .data$x, y = .data$at)
  if ("smooth" %in% names(rows)) {
    line <- ggplot2::aes(x = .data$x, y = .data$smooth, group = .data$curve, linetype = .data$format_shown)
    return(list(
      marks(ggplot2::geom_point, rows, place, look, "colour", size = .5, alpha = .35),
      marks(ggplot2::geom_line, rows, line, look, "colour", linewidth = .7)
    ))
  }
  bars <- rows[!is.na(rows$low), , drop = FALSE]
  range <- ggplot2::aes(x = .data$x, ymin = .data$low, ymax = .data$high)
  list(
    if (is_joined) { # a line of one point draws nothing but a complaint
      marks(ggplot2::geom_line, rows, place, look, "colour", linewidth = linewidth, alpha = alpha)
    },
    if (nrow(bars) > 0) marks(ggplot2::geom_linerange, bars, range, look, "colour", linewidth = bar_width),
    marks(ggplot2::geom_point, rows, place, look, c("colour", "shape"), size = size, stroke = stroke)
  )
}

# Bins from `low` to `high` with `n` in each; counted beforehand, because versions of ggplot2 begin bins elsewhere.
histogram <- function(bins, fill = model_colours()[[1]], edge = NA, linewidth = .5) {
  place <- ggplot2::aes(xmin = .data$low, xmax = .data$high, ymin = 0, ymax = .data$n)
  ggplot2::geom_rect(place, bins, fill = fill, colour = edge, linewidth = linewidth)
}

# Outlines of distributions (`at`, `height_of_line`, one outline a `height`), and over each its median (`at`) and middle
# half (`low` to `high`); `look` is the fill, and the shape of the median.
densities <- function(cells, outlines, look) {
  outline <- ggplot2::aes(x = .data$at, y = .data$height_of_line, group = .data$height, fill = .data[[look]])
  half <- ggplot2::aes(x = .data$low, xend = .data$high, yend = .data$height)
  list(
    ggplot2::geom_polygon(outline, outlines, linewidth = .25, colour = "grey35"),
    ggplot2::geom_segment(half, linewidth = .7),
    marks(ggplot2::geom_point, cells, ggplot2::aes(x = .data$at), look, c("fill", "shape"), size = 1.8)
  )
}

# Broad bars from `low` to `high` with a tick at `middle`, the name `label` at the panel's edge, and a dot where what
# was observed lies; `look` is its colour and shape.
bars <- function(rows, look) {
  tick <- ggplot2::aes(x = .data$middle, xend = .data$middle, y = .data$height - .12, yend = .data$height + .12)
  list(
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$low, xend = .data$high, yend = .data$height),
      colour = "#BFE3F7", linewidth = 3.2
    ),
    ggplot2::geom_text(ggplot2::aes(x = -Inf, label = .data$label), hjust = 0, size = 2.7, colour = "grey30"),
    ggplot2::geom_segment(tick, colour = "grey20", linewidth = .6),
    marks(ggplot2::geom_point, rows, ggplot2::aes(x = .data$at), look, c("colour", "shape"), size = 2.2, stroke = .9),
    colours_and_shapes(2)
  )
}

# A plot of rows on an axis of names, each at its height.
at_height <- function(rows) {
  ggplot2::ggplot(rows, ggplot2::aes(y = .data$height))
}

# Panels, one for each level of the column `by`.
panels_by <- function(by, n_columns, ...) {
  ggplot2::facet_wrap(ggplot2::vars(.data[[by]]), ncol = n_columns, ...)
}

# Rows with `at`, `low` and `high`, times `scale` (100 makes per cent of shares).
with_intervals <- function(rows, at = rows$estimate, low = rows$conf_low, high = rows$conf_high, scale = 1) {
  rows[c("at", "low", "high")] <- list(scale * at, scale * low, scale * high)
  rows
}

# Heights on an axis of names, the first level of `names` on top; levels of `series` lie next to each other at a name,
# the first one on top, up to `half` from it. A level keeps its place where another one is missing.
heights_of <- function(names, series = NULL, half = .375 * (nlevels(series) - 1) / nlevels(series)) {
  place <- nlevels(names) + 1 - as.integer(names)
  if (is.null(series)) place else place + places_around(nlevels(series), half)[as.integer(series)]
}

places_around <- function(n, half) if (n == 1) 0 else seq(half, -half, length.out = n)

# The 95 % t interval of means of `n` values, as half its width; NA for a single value.
t_half_width <- function(sd, n) ifelse(n < 2, NA_real_, stats::qt(.975, pmax(n - 1, 1)) * sd / sqrt(n))

# A column `…_shown` for each of `ids`: a factor of labels in their order.
with_shown <- function(rows, ids) {
  for (id in ids) rows[[paste0(id, "_shown")]] <- ordered_labels(rows, id)
  rows
}

# The same for models and tests, where the names of tests stand on the upright axis.
with_tests_on_y <- function(rows) {
  rows <- with_shown(rows, c("model", "test"))
  levels(rows$test_shown) <- two_lines(levels(rows$test_shown))
  rows
}

# A row a model and test, tests below each other, models close together in each.
by_test <- function(rows) {
  rows <- with_tests_on_y(rows)
  rows$height <- heights_of(rows$test_shown, rows$model_shown)
  rows
}

# Such rows as dots with intervals. `...`: further layers.
forest_by_test <- function(rows, legend, reference = 0, ...) {
  dots_figure(rows, "model_shown", rev(levels(rows$test_shown)), legend, ..., reference = reference)
}

# How many of such rows lie wholly above and below `middle`, and from where to where they go.
apart_in_words <- function(rows, what, middle, below = "below") {
  sprintf(
    "Of %s, %d lie above %s with their interval, %d %s; the largest is %.2f, the smallest %.2f.",
    counted(nrow(rows), what), sum(rows$low > middle, na.rm = TRUE), plain_number_text(middle),
    sum(rows$high < middle, na.rm = TRUE), below, max(rows$at), min(rows$at)
  )
}

plain_number_text <- function(number) sub("^0[.]", ".", format(number))

inches_by_test <- function(rows) 2 + .13 * max(nlevels(rows$test_shown) * (nlevels(rows$model_shown) + 2), 8)

# Names on the upright axis, the last one on top.
names_on_y <- function(names, margin = .5) {
  ggplot2::scale_y_continuous(
    breaks = seq_along(names), labels = names, limits = c(1 - margin, length(names) + margin), expand = c(0, 0)
  )
}

# "1,000", with a space on both sides: numbers that would touch count as overlapping.
counts_on_axis <- function(counts) sprintf(" %s ", format(counts, big.mark = ",", trim = TRUE))

lines_between <- function(names) {
  if (length(names) > 1) {
    ggplot2::geom_hline(yintercept = seq_along(names)[-1] - .5, colour = "grey88", linewidth = .3)
  }
}

# Neighbours differ in colour and in shape.
colours_and_shapes <- function(n) {
  list(
    ggplot2::scale_colour_manual(values = recycled_colours(n), drop = FALSE),
    ggplot2::scale_shape_manual(values = recycled_shapes(n), drop = FALSE)
  )
}

# One legend for colour and shape.
one_legend <- function(...) ggplot2::guides(colour = ggplot2::guide_legend(...), shape = ggplot2::guide_legend(...))

# Level lines where the upright axis has numbers, which stand next to them.
grid_of_numbers <- function(...) {
  ggplot2::theme(panel.grid.major.y = ggplot2::element_line(colour = "grey92"), ...)
}
numbers_right <- function(...) ggplot2::theme(axis.text.y = ggplot2::element_text(hjust = 1), ...)

# "2 tests and 3 models", for the texts that stand for a figure.
counted_shown <- function(rows, ids) {
  n <- vapply(rows[paste0(ids, "_shown")], nlevels, 1L)
  all_in_words(mapply(counted, n, ids, USE.NAMES = FALSE))
}
