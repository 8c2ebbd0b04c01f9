# The means of the figure of levels: long rows, one attribute of one profile each, in the order in which levels are
# drawn. Intervals are over the profiles (`item`) that were shown, for the templates and personas that were asked.
level_means <- function(data, by) {
  check_columns(data, c("attribute", "level", "item", "answer", by))
  parts <- lapply(unique(data$attribute), function(attribute) {
    rows <- data[data$attribute == attribute, , drop = FALSE]
    shown <- list(level = unique(rows$level))
    means <- marginal_means(rows, "answer", "level", "item", levels = shown, by = by)$estimates
    cbind(means[by], frame_of(
      attribute = rep(attribute, nrow(means)), level = sub("level: ", "", means$term, fixed = TRUE),
      estimate = means$estimate, std_error = means$std_error, conf_low = means$conf_low, conf_high = means$conf_high
    ))
  })
  as_plain_rows(do.call(rbind, parts))
}
