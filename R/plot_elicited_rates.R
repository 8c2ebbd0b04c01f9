#' How likely does each job succeed, as models say themselves?
#'
#' The mean percentage that a model gave for each job, with its 95 % t interval over conversations; a panel for each
#' class of jobs.
#'
#' @param data a data frame with one row per model and job, such as the view `elicited_rates` of the database: `model`,
#'   `job`, `class`, `mean_rate` (0 to 1), `sd_rate` and `n` (conversations). Used if present: `class_label`,
#'   `class_no`, `source`, `title`, `model_label`, `model_no`.
#' @inherit plot_effect_sizes params return
#' @source Wu, Liu, Bai & Griffiths, figure 8 (appendix A.3.1).
#' @noRd
plot_elicited_rates <- function(data, file = NULL, width = NULL, height = NULL, ...) {
  begin_figure(file, width, height, ...)
  rates <- figure_rows(data)
  rows <- rates_to_draw(rates)
  n_jobs <- nrow(unique(rows[c("class_shown", "job")]))
  finish_figure(
    rate_panels(rows, inches_or(width, 9)), file, rates_in_words(rows), width, height, 9,
    2.4 + n_jobs * max(.23, .1 * nlevels(rows$model_shown) + .05) + .12 * nlevels(rows$class_shown),
    title = given_title(rates, "How many people could succeed at a job?"),
    subtitle = "Mean of the percentages that were answered. Jobs in the order of their mean within a class.",
    caption = c(source_note(rates), conversations_note(rows)), x = "Elicited success rate (%)"
  )
}

rates_to_draw <- function(rates) {
  to <- "elicited rates"
  needed <- c("model", "job", "class", "mean_rate", "sd_rate", "n")
  rows <- rows_to_draw(rates, needed, !is.na(rates$mean_rate), to, "row with a rate")
  rows <- labelled_games(with_absent(rows, "variant", "all"), paste("draw", to))
  twice <- "a model has more than one row for a job"
  check_drawn_once(rows, c("model_shown", "job", "class"), to, twice, "Keep the rows of one variant.")
  if (!"class_label" %in% names(rows)) rows$class_label <- gsub("_", " ", rows$class, fixed = TRUE)
  rows$class_shown <- ordered_labels(rows, "class")
  levels(rows$class_shown) <- wrapped(levels(rows$class_shown), 18)
  # one axis names the jobs of all panels: a job's mean over models decides its height
  job_mean <- stats::ave(rows$mean_rate, rows$class_shown, rows$job)
  jobs <- unique(data.frame(class = rows$class_shown, job = rows$job, mean = job_mean))
  jobs <- jobs[order(jobs$class, jobs$mean, jobs$job, method = "radix"), ]
  rows$job_height <- match(paste(rows$class_shown, rows$job, sep = "\r"), paste(jobs$class, jobs$job, sep = "\r"))
  rows$height <- rows$job_height + places_around(nlevels(rows$model_shown), .35)[as.integer(rows$model_shown)]
  half_width <- t_half_width(rows$sd_rate, rows$n)
  ends <- list(pmax(rows$mean_rate - half_width, 0), pmin(rows$mean_rate + half_width, 1))
  with_intervals(rows, rows$mean_rate, ends[[1]], ends[[2]], scale = 100)
}

rate_panels <- function(rows, width_in) {
  jobs <- unique(rows[c("job_height", "job")])
  models <- levels(rows$model_shown)
  at_height(rows) +
    dots_with_intervals(rows, "model_shown", size = 1.8, stroke = .8, linewidth = .5) +
    ggplot2::facet_grid(ggplot2::vars(.data$class_shown), scales = "free_y", space = "free_y") +
    ggplot2::scale_x_continuous(limits = c(0, 100), expand = ggplot2::expansion(add = 2)) +
    ggplot2::scale_y_continuous(breaks = jobs$job_height, labels = jobs$job, expand = ggplot2::expansion(add = .5)) +
    colours_and_shapes(length(models)) +
    one_legend(ncol = legend_columns(models, width_in)) +
    figure_theme() +
    ggplot2::theme(
      axis.text.y = ggplot2::element_text(hjust = 1),
      strip.text.y = ggplot2::element_text(angle = 0, hjust = 0, vjust = 1)
    )
}

conversations_note <- function(rows) {
  sprintf("%s for each model and job. Bars: 95 %% t intervals over conversations.", counted_range(rows$n, "answer"))
}

rates_in_words <- function(rows) {
  means <- tapply(rows$at, list(rows$model_shown, rows$class_shown), mean)
  of_models <- vapply(rownames(means), function(model) {
    known <- means[model, !is.na(means[model, ])]
    sprintf("%s: %s", model, toString(sprintf("%s %.0f", gsub("\n", " ", names(known), fixed = TRUE), known)))
  }, "")
  n_classes <- nlevels(rows$class_shown)
  alt_text(
    sprintf(
      "Elicited success rates of %s in %d class%s for %s", counted(nrow(unique(rows[c("class_shown", "job")])), "job"),
      n_classes, if (n_classes == 1) "" else "es", counted(nlevels(rows$model_shown), "model")
    ),
    "Mean by class, per cent", of_models, conversations_note(rows), source_note(rows)
  )
}
