# How large topics are, by model, condition and test: a column of panels for each topic, with its words; the upper
# panels are Table S14 of the RM-IAT paper, for all topics. Used if there: `words` of the topic, as one text.
plot_topic_prevalence <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("topic_prevalence", data, file, width, height, ...)
  rows <- rows_to_draw("topic_prevalence", rows, rows$scope %in% names(topic_scopes) & !is.na(rows$estimate))
  rows <- prevalence_to_draw(rows)
  n_topics <- nlevels(rows$topic_shown)
  n_columns <- columns_within(width, n_topics, each_in = 1.5, margin_in = 1.3)
  n_rows <- nrow(unique(rows[c("scope", "value")]))
  panels <- if (n_columns < nlevels(rows$topic_shown)) {
    panels_by("topic_shown", n_columns)
  } else {
    ggplot2::facet_grid(
      ggplot2::vars(.data$scope), ggplot2::vars(.data$topic_shown),
      scales = "free_y", space = "free_y", switch = "y"
    )
  }
  plot <- ggplot2::ggplot(rows, ggplot2::aes(y = .data$value)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35", linewidth = .3) +
    dots_with_intervals(rows, NULL, size = 1.9, stroke = .5) +
    panels +
    ggplot2::scale_x_continuous(
      labels = function(share) sprintf("%g %%", 100 * share), guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    figure_theme() +
    grid_of_numbers() +
    ggplot2::theme(
      strip.placement = "outside", panel.spacing.x = ggplot2::unit(12, "pt"),
      strip.text.x = ggplot2::element_text(vjust = 1, size = 9)
    )
  by_model <- rows[rows$scope == "Model", ]
  shares <- vapply(split(by_model, droplevels(by_model$topic_shown)), function(topic) {
    topic <- topic[order(-topic$at), ]
    percent <- sprintf("%s %.1f %%", topic$value, 100 * topic$at)
    sprintf("%s: %s", gsub("\n", " ", topic$topic_shown[[1]]), toString(percent))
  }, "")
  what <- sprintf("Shares of %s with 95 %% intervals", counted(nlevels(rows$topic_shown), "topic"))
  finish_figure(
    plot, alt_text(if (length(shares) == 0) what else paste0(what, ", by model: ", paste(shares, collapse = "; "))),
    2.2 + .3 * max(n_rows, 4) * ceiling(n_topics / n_columns), max(7, 2.4 + 2.1 * n_topics)
  )
}

topic_scopes <- c(model = "Model", condition = "Condition", test = "Test")

prevalence_to_draw <- function(rows) {
  in_order <- lapply(names(topic_scopes), function(scope) {
    of_scope <- rows[rows$scope == scope, , drop = FALSE]
    if (nrow(of_scope) > 0) levels(ordered_labels(of_scope, scope))
  })
  shown <- ifelse(rows$scope == "test", labels_of(rows, "test"), as.character(rows$condition))
  shown <- ifelse(rows$scope == "model", labels_of(rows, "model"), shown)
  rows$value <- factor(shown, levels = rev(unique(unlist(in_order))))
  rows$scope <- factor(rows$scope, levels = names(topic_scopes), labels = topic_scopes)
  words <- if ("words" %in% names(rows)) wrapped(as.character(rows$words), 22) else rep("", nrow(rows))
  labels <- ifelse(nzchar(words), sprintf("Topic %d\n%s", rows$topic, words), sprintf("Topic %d", rows$topic))
  rows$topic_shown <- factor(labels, levels = unique(labels[order(rows$topic)]))
  with_intervals(rows)
}

# What speaks for which number of topics: the four measures of stm::searchK(), a panel each, over the numbers that were
# tried.
plot_search_k <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  rows <- begin_figure("search_k", data, file, width, height, ...)
  if (nrow(rows) == 0) {
    stop_with("Can't draw numbers of topics: none was tried.", "To try some: analyze topics search")
  }
  if (anyDuplicated(rows$n_topics) > 0) {
    stop_with("Can't draw numbers of topics: a number has several rows.", "Keep the rows of one search.")
  }
  measures <- c(
    heldout_likelihood = "Held-out likelihood (higher is better)",
    residual_dispersion = "Dispersion of residuals (nearer to 1 is better)",
    semantic_coherence = "Semantic coherence (higher is better)",
    exclusivity = "Exclusivity (higher is better)"
  )
  rows <- do.call(rbind, lapply(names(measures), function(name) {
    at <- rows[[name]]
    cbind(x = rows$n_topics, rows[intersect("source", names(rows))], measure = measures[[name]], at = at)
  }))
  rows$measure <- factor(rows$measure, levels = measures)
  rows <- rows[!is.na(rows$at), , drop = FALSE]
  n_columns <- columns_within(width, 2, each_in = 2.6, margin_in = .4)
  plot <- ggplot2::ggplot(rows) +
    curves(rows, size = 2, linewidth = .6, alpha = NA) +
    panels_by("measure", n_columns, scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = sort(unique(rows$x))) +
    figure_theme() +
    grid_of_numbers()
  best <- vapply(split(rows, droplevels(rows$measure)), function(of_measure) {
    name <- of_measure$measure[[1]]
    at <- of_measure$at
    place <- if (grepl("nearer to 1", name)) which.min(abs(at - 1)) else which.max(at)
    sprintf("%s is best with %g topics", sub(" \\(.*", "", name), of_measure$x[[place]])
  }, "")
  finish_figure(plot, alt_text(
    sprintf("Four measures for %g to %g topics", min(rows$x), max(rows$x)), values = best
  ), 2 + 7.2 / n_columns)
}
