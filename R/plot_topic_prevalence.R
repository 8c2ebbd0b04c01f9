#' How large topics are, by model, condition and test
#'
#' One panel column a topic, with its words; the shares of that topic with their 95 % intervals. The upper panels are
#' Table S14 of the RM-IAT paper, for all topics.
#'
#' @param data what [fit_stm()] returned, or a data frame with one row per share, such as the table
#'   `topic_prevalence` of the database: `scope`, `topic`, `model`, `condition`, `test`, `estimate`, `conf_low`,
#'   `conf_high`. Rows of the scopes `"model"`, `"condition"` and `"test"` are drawn. Used where there: `words` (of the
#'   topic, as one text), `model_label`, `test_label`, `model_no`, `test_no`, `source`.
#' @inheritParams plot_effect_sizes
#' @return A ggplot with the attribute `alt_text`; with `file`, invisibly a list of `path` and `alt_text`.
#' @noRd
plot_topic_prevalence <- function(data, file = NULL, width = NULL, height = NULL) {
  begin_figure(file, width, height)
  rows <- prevalence_to_draw(data_of(data, "prevalence"))
  n_topics <- nlevels(rows$topic_shown)
  width_in <- max(7, 2.4 + 2.1 * n_topics)
  n_columns <- columns_within(width, n_topics, each_in = 1.5, beside_in = 1.3)
  plot <- prevalence_layers(rows, n_columns) +
    ggplot2::labs(
      title = "How large each topic is",
      subtitle = "Share of the words of a text, with 95 % interval. Topics have no order: their words tell them apart.",
      x = "Share of the texts' words", y = NULL, caption = caption_of(source_note(rows))
    )
  n_rows <- length(unique(paste(rows$scope, rows$value)))
  height_in <- 2.2 + .3 * max(n_rows, 4) * ceiling(n_topics / n_columns)
  finish_figure(plot, file, prevalence_in_words(rows), width, height, width_in = width_in, height_in = height_in)
}

prevalence_to_draw <- function(prevalence) {
  needed <- c("scope", "topic", "model", "condition", "test", "estimate", "conf_low", "conf_high")
  check_columns(prevalence, needed, to = "draw topics")
  is_drawn <- prevalence$scope %in% c("model", "condition", "test") & !is.na(prevalence$estimate)
  rows <- rows_to_draw(
    prevalence, is_drawn, "topics", "share by model, condition or test", needed[1:5],
    "a topic has more than one share of the same kind", "Keep the rows of one fit."
  )
  shown <- lapply(c("model", "condition", "test"), function(scope) {
    own <- rows[rows$scope == scope, , drop = FALSE]
    if (nrow(own) > 0) levels(ordered_labels(own, scope))
  })
  rows$value <- factor(value_shown(rows), levels = rev(unique(unlist(shown))))
  rows$scope <- factor(rows$scope, levels = c("model", "condition", "test"), labels = c("Model", "Condition", "Test"))
  rows$topic_shown <- topic_labels(rows)
  rows
}

value_shown <- function(rows) {
  text <- function(label, id) as.character(if (label %in% names(rows)) rows[[label]] else rows[[id]])
  scope <- rows$scope
  ifelse(scope == "model", text("model_label", "model"),
    ifelse(scope == "test", text("test_label", "test"), as.character(rows$condition))
  )
}

topic_labels <- function(rows) {
  words <- if ("words" %in% names(rows)) as.character(rows$words) else rep("", nrow(rows))
  wrapped <- vapply(words, function(one) paste(strwrap(one, 22), collapse = "\n"), "", USE.NAMES = FALSE)
  labels <- ifelse(nzchar(wrapped), sprintf("Topic %d\n%s", rows$topic, wrapped), sprintf("Topic %d", rows$topic))
  factor(labels, levels = unique(labels[order(rows$topic)]))
}

prevalence_layers <- function(rows, n_columns) {
  .data <- ggplot2::.data
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$estimate, xmin = .data$conf_low, xmax = .data$conf_high, y = .data$value
  )) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey35", linewidth = .3) +
    ggplot2::geom_linerange(linewidth = .6, colour = "#0072B2") +
    ggplot2::geom_point(size = 1.9, colour = "#0072B2") +
    (if (n_columns < nlevels(rows$topic_shown)) {
      ggplot2::facet_wrap(ggplot2::vars(.data$topic_shown), ncol = n_columns)
    } else {
      ggplot2::facet_grid(
        ggplot2::vars(.data$scope), ggplot2::vars(.data$topic_shown),
        scales = "free_y", space = "free_y", switch = "y"
      )
    }) +
    ggplot2::scale_x_continuous(
      labels = function(share) sprintf("%g %%", 100 * share), guide = ggplot2::guide_axis(check.overlap = TRUE)
    ) +
    figure_theme() +
    ggplot2::theme(
      strip.placement = "outside", panel.grid.major.y = ggplot2::element_line(colour = "grey92"),
      panel.spacing.x = ggplot2::unit(12, "pt"), strip.text.x = ggplot2::element_text(vjust = 1, size = 9)
    )
}

prevalence_in_words <- function(rows) {
  by_model <- rows[rows$scope == "Model", ]
  said <- vapply(split(by_model, droplevels(by_model$topic_shown)), function(topic) {
    topic <- topic[order(-topic$estimate), ]
    shares <- sprintf("%s %.1f %%", topic$value, 100 * topic$estimate)
    sprintf("%s: %s", gsub("\n", " ", topic$topic_shown[[1]]), paste(shares, collapse = ", "))
  }, "")
  sprintf(
    "Shares of %s with 95 %% intervals%s. %s", counted(nlevels(rows$topic_shown), "topic"),
    if (length(said) > 0) paste0(", by model: ", paste(said, collapse = "; ")) else "", source_note(rows)
  )
}
