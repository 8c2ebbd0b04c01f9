#' How large topics are, by model, condition and test
#'
#' One panel column a topic, with its words; the shares of that topic with their 95 % intervals. The upper panels are
#' Table S14 of the RM-IAT paper, for all topics.
#'
#' @param data what [fit_stm()] returned, or a data frame with one row per share, such as the table
#'   `topic_prevalence` of the database: `scope`, `topic`, `model`, `condition`, `test`, `estimate`, `conf_low`,
#'   `conf_high`. Rows of the scopes `"model"`, `"condition"` and `"test"` are drawn. Used if present: `words` (of the
#'   topic, as one text), `model_label`, `test_label`, `model_no`, `test_no`, `source`.
#' @inherit plot_effect_sizes params return
#' @noRd
plot_topic_prevalence <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rows <- prevalence_to_draw(figure_rows(data, "prevalence"))
  n_topics <- nlevels(rows$topic_shown)
  n_columns <- columns_within(width, n_topics, each_in = 1.5, margin_in = 1.3)
  n_rows <- nrow(unique(rows[c("scope", "value")]))
  finish_figure(
    prevalence_panels(rows, n_columns), file, prevalence_in_words(rows), width, height, max(7, 2.4 + 2.1 * n_topics),
    2.2 + .3 * max(n_rows, 4) * ceiling(n_topics / n_columns),
    title = "How large each topic is",
    subtitle = "Share of the words of a text, with 95 % interval. Topics have no order: their words tell them apart.",
    caption = source_note(rows), x = "Share of the texts' words"
  )
}

prevalence_to_draw <- function(prevalence) {
  needed <- c("scope", "topic", "model", "condition", "test", "estimate", "conf_low", "conf_high")
  scopes <- c(model = "Model", condition = "Condition", test = "Test")
  rows <- rows_to_draw(
    prevalence, needed, prevalence$scope %in% names(scopes) & !is.na(prevalence$estimate), "topics",
    "share by model, condition or test", needed[1:5], "a topic has more than one share of the same kind",
    "Keep the rows of one fit."
  )
  in_order <- lapply(names(scopes), function(scope) {
    of_scope <- rows[rows$scope == scope, , drop = FALSE]
    if (nrow(of_scope) > 0) levels(ordered_labels(of_scope, scope))
  })
  rows$value <- factor(value_shown(rows), levels = rev(unique(unlist(in_order))))
  rows$scope <- factor(rows$scope, levels = names(scopes), labels = scopes)
  rows$topic_shown <- topic_labels(rows)
  with_intervals(rows)
}

value_shown <- function(rows) {
  of_tests <- ifelse(rows$scope == "test", labels_of(rows, "test"), as.character(rows$condition))
  ifelse(rows$scope == "model", labels_of(rows, "model"), of_tests)
}

topic_labels <- function(rows) {
  words <- if ("words" %in% names(rows)) wrapped(as.character(rows$words), 22) else rep("", nrow(rows))
  labels <- ifelse(nzchar(words), sprintf("Topic %d\n%s", rows$topic, words), sprintf("Topic %d", rows$topic))
  factor(labels, levels = unique(labels[order(rows$topic)]))
}

prevalence_panels <- function(rows, n_columns) {
  panels <- if (n_columns < nlevels(rows$topic_shown)) {
    panels_by("topic_shown", n_columns)
  } else {
    ggplot2::facet_grid(
      ggplot2::vars(.data$scope), ggplot2::vars(.data$topic_shown),
      scales = "free_y", space = "free_y", switch = "y"
    )
  }
  ggplot2::ggplot(rows, ggplot2::aes(y = .data$value)) +
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
}

prevalence_in_words <- function(rows) {
  by_model <- rows[rows$scope == "Model", ]
  shares <- vapply(split(by_model, droplevels(by_model$topic_shown)), function(topic) {
    topic <- topic[order(-topic$at), ]
    percent <- sprintf("%s %.1f %%", topic$value, 100 * topic$at)
    sprintf("%s: %s", gsub("\n", " ", topic$topic_shown[[1]]), toString(percent))
  }, "")
  what <- sprintf("Shares of %s with 95 %% intervals", counted(nlevels(rows$topic_shown), "topic"))
  if (length(shares) == 0) {
    return(alt_text(what, notes = source_note(rows)))
  }
  alt_text(paste0(what, ", by model: ", paste(shares, collapse = "; ")), notes = source_note(rows))
}
