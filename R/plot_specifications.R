# Specification curve: how far a result depends on how it was analysed. The estimates of all specifications with their
# intervals, a panel for each model, and under them the choices that each made, in the order of their median, the
# study's first one in a grey band. Units are never mixed on one axis: if all rows have the same `unit`, the estimates
# themselves are drawn, else `d`, in standard deviations (see fit_specification()). Fits that are not "ok" are pale.
# Intervals more than ten times as wide as half of the others are cut at the edge of the panel, and counted in the
# caption. Used if there: `d`, `d_low`, `d_high`, `spec_no` (1 is the first one; else the order of rows), `label`,
# `status`, and columns that begin with `choice_`: what a specification chose in that respect (NA: as the first one).
# Simonsohn, Simmons & Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208-1214.
plot_specifications <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("specifications", data, file, width, height, ...)
  width_in <- given_or(width, 9)
  drawn <- specifications_to_draw(rows)
  dots <- choices_to_draw(rows, drawn)
  if (is_narrow(width_in)) {
    dots$shown <- wrapped(dots$shown, 30)
    levels(drawn$rows$test_shown) <- wrapped(levels(drawn$rows$test_shown), 32)
  }
  panel_in <- max(1.5, (if (is_narrow(width_in)) .2 else .17) * nrow(unique(dots["y"])))
  legend_in <- .2 * ceiling(nlevels(drawn$rows$test_shown) / columns_of_tests(drawn, width_in))
  finish_figure(
    specification_layers(drawn, dots, width_in), specifications_in_words(drawn),
    2.2 + legend_in + panel_in * (nlevels(drawn$rows$model_shown) + 1),
    source = c(drawn$notes, source_note(drawn$rows)), y = drawn$axis
  )
}

# Rows with `at`, `low`, `high` on one scale, `x` (the place of the specification), labels; and what to say of them.
specifications_to_draw <- function(rows) {
  has_failed <- is.na(rows$estimate)
  if (all(has_failed)) stop_with("Can't draw specifications: none has an estimate.")
  scaled <- on_one_scale(rows[!has_failed, , drop = FALSE])
  estimated <- scaled$rows
  for (name in setdiff(c("model", "test"), names(estimated))) estimated[[name]] <- rep("all rows", nrow(estimated))
  estimated$model[is.na(estimated$model)] <- "all models"
  estimated$test[is.na(estimated$test)] <- "all rows"
  estimated <- with_shown(check_drawn_once("specifications", estimated), c("model", "test"))
  estimated$is_doubtful <- if ("status" %in% names(estimated)) !estimated$status %in% "ok" else FALSE
  number <- if ("spec_no" %in% names(rows)) rows$spec_no else match(rows$spec, unique(rows$spec))
  first <- rows$spec[order(number)][[1]]
  specs <- unique(estimated$spec)
  medians <- vapply(specs, function(spec) stats::median(estimated$at[estimated$spec == spec]), 1)
  specs <- specs[order(medians, match(specs, unique(rows$spec)))]
  label <- if ("label" %in% names(rows)) rows$label[match(specs, rows$spec)] else specs
  ordered <- data.frame(spec = specs, label = label, is_first = specs == first)
  # A test keeps its place where another one is missing.
  n_tests <- nlevels(estimated$test_shown)
  offsets <- .75 * (as.integer(estimated$test_shown) - (n_tests + 1) / 2) / n_tests
  estimated$x <- match(estimated$spec, ordered$spec) + offsets
  clipped <- within_panel(estimated)
  notes <- c(
    if (any(estimated$is_doubtful)) "Pale: a fit that R warned of, or with a variance of 0.",
    if (clipped$n > 0) {
      sprintf("%s %s beyond the panel.", counted(clipped$n, "interval"), if (clipped$n == 1) "goes" else "go")
    },
    if (any(has_failed)) sprintf("Not drawn, because nothing could be estimated: %s.", counted(sum(has_failed), "row"))
  )
  list(rows = clipped$rows, all = estimated, specs = ordered, axis = scaled$axis, null = scaled$null, notes = notes)
}

on_one_scale <- function(rows) {
  units <- unique(rows$unit)
  if (length(units) == 1) {
    rows <- with_intervals(rows)
    named <- c(probability = "Delta P", ratio = "Ratio")
    axis <- if (units %in% names(named)) named[[units]] else sprintf("Difference in %s", units)
    return(list(rows = rows, axis = axis, null = if (units == "ratio") 1 else 0))
  }
  if (!all(c("d", "d_low", "d_high") %in% names(rows)) || anyNA(rows$d)) {
    stop_with(
      sprintf("Can't draw specifications with estimates in %s on one axis.", paste(units, collapse = " and ")),
      "Rows of several units need the columns d, d_low and d_high, without a missing value."
    )
  }
  rows <- with_intervals(rows, rows$d, rows$d_low, rows$d_high)
  list(rows = rows, axis = "Difference in standard deviations (d)", null = 0)
}

within_panel <- function(rows) {
  width <- rows$high - rows$low
  is_narrow <- is.finite(width) & width <= 10 * stats::median(width, na.rm = TRUE)
  limits <- range(c(rows$at, rows$low[is_narrow], rows$high[is_narrow]), na.rm = TRUE)
  is_beyond <- !is.na(width) & (rows$low < limits[[1]] | rows$high > limits[[2]])
  rows$low <- pmax(rows$low, limits[[1]])
  rows$high <- pmin(rows$high, limits[[2]])
  list(rows = rows, n = sum(is_beyond))
}

# The dots under the curve: `x`, `y` (1e6 and the number of the choice, so that an axis knows them), `shown`.
choices_to_draw <- function(rows, drawn) {
  dimensions <- grep("^choice_", names(rows), value = TRUE)
  specs <- drawn$specs$spec
  choices <- rows[match(specs, rows$spec), , drop = FALSE]
  first <- rows[match(drawn$specs$spec[drawn$specs$is_first], rows$spec), , drop = FALSE]
  dots <- do.call(rbind, lapply(dimensions, function(name) {
    chosen <- as.character(choices[[name]])
    if (nrow(first) == 1) chosen[is.na(chosen)] <- as.character(first[[name]])
    shown <- sprintf("%s: %s", gsub("_", " ", sub("^choice_", "", name)), chosen)[!is.na(chosen)]
    data.frame(x = which(!is.na(chosen)), shown = shown)
  }))
  if (is.null(dots)) dots <- data.frame(x = seq_along(specs), shown = drawn$specs$label)
  named <- unique(c(dots$shown[dots$x %in% which(drawn$specs$is_first)], dots$shown))
  # Grouped by dimension, that of the first specification on top of each.
  named <- named[order(match(sub(": .*", "", named), unique(sub(": .*", "", dots$shown))))]
  dots$y <- 1e6 + length(named) + 1 - match(dots$shown, named)
  dots
}

specification_layers <- function(drawn, dots, width_in) {
  panels <- c(levels(drawn$rows$model_shown), "What was chosen")
  in_panel <- function(data, name) {
    data$panel <- factor(name, levels = panels)
    data
  }
  rows <- in_panel(drawn$rows, as.character(drawn$rows$model_shown))
  at <- which(drawn$specs$is_first)
  zero <- in_panel(data.frame(at = rep(drawn$null, length(panels) - 1)), utils::head(panels, -1))
  # All models have one scale: what is small must look small.
  ends <- merge(zero["panel"], data.frame(y = range(c(rows$low, rows$high, rows$at, drawn$null), na.rm = TRUE)))
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$x, alpha = .data$is_doubtful)) +
    (if (length(at) > 0) {
      ggplot2::annotate("rect", xmin = at - .5, xmax = at + .5, ymin = -Inf, ymax = Inf, fill = "grey90")
    }) +
    ggplot2::geom_blank(ggplot2::aes(x = 1, y = .data$y, alpha = NULL), ends) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$at), zero, colour = "grey35", linetype = "dashed") +
    curves(rows, "test_shown", size = 1.5, is_joined = FALSE) +
    ggplot2::geom_point(
      ggplot2::aes(y = .data$y, alpha = NULL), in_panel(dots, "What was chosen"),
      size = 2, colour = "grey15"
    ) +
    panels_by("panel", 1, scales = "free_y") +
    ggplot2::scale_alpha_manual(values = c(`FALSE` = 1, `TRUE` = .4), guide = "none") +
    specification_axes(drawn, dots) +
    colours_and_shapes(nlevels(rows$test_shown)) +
    one_legend(
      ncol = columns_of_tests(drawn, width_in), keyheight = if (is_narrow(width_in)) ggplot2::unit(16, "pt")
    ) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      axis.text.x = if (is_narrow(width_in)) {
        ggplot2::element_text(angle = 90, hjust = 1, vjust = .5, colour = "grey10")
      } else {
        ggplot2::element_text(angle = 30, hjust = 1, colour = "grey10")
      },
      panel.grid.major.x = ggplot2::element_blank(), axis.text.y = ggplot2::element_text(hjust = 1),
      strip.text = ggplot2::element_text(hjust = 0)
    )
}

columns_of_tests <- function(drawn, width_in) {
  legend_columns(levels(drawn$rows$test_shown), width_in, letters_per_in = 9.5)
}

# The last panel's axis names choices, those above it have numbers.
specification_axes <- function(drawn, dots) {
  named <- unique(dots[c("y", "shown")])
  is_choices <- function(values) min(values) > 5e5
  list(
    ggplot2::scale_x_continuous(
      breaks = seq_len(nrow(drawn$specs)), labels = drawn$specs$label,
      limits = c(.5, nrow(drawn$specs) + .5), expand = c(0, 0)
    ),
    ggplot2::scale_y_continuous(
      breaks = function(limits) if (is_choices(limits)) sort(named$y) else pretty(limits, 4),
      labels = function(breaks) {
        is_dot <- !is.na(breaks) & breaks > 5e5
        ifelse(is_dot, named$shown[match(breaks, named$y)], format(ifelse(is_dot, NA, breaks), trim = TRUE))
      }
    )
  )
}

specifications_in_words <- function(drawn) {
  rows <- drawn$all
  side <- ifelse(rows$low > drawn$null, 1, ifelse(rows$high < drawn$null, -1, 0))
  cell <- paste(rows$model, rows$test, sep = "\r")
  is_same <- vapply(split(side, cell), function(sides) length(unique(sides)) == 1, NA)
  spread <- vapply(split(rows$at, cell), function(values) diff(range(values)), 1)
  alt_text(
    sprintf(
      "Specification curve of %s in %s: %s", counted(nrow(drawn$specs), "specification"),
      counted(length(is_same), "cell"), drawn$axis
    ),
    notes = c(
      sprintf(
        "In %d of them the intervals of all specifications lie on the same side of %g, or all include it.",
        sum(is_same), drawn$null
      ),
      sprintf(
        "Within a cell the estimates differ by at most %.2g, in half of them by %.2g or less.", max(spread),
        stats::median(spread)
      )
    )
  )
}
