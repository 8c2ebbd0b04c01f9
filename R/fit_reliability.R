# The reliability of scales as an engine: what scale_reliability() finds, of rows that carry their own keys.

# `data`: a row per answer. `respondent`, `item`, `scale` and `key` (1 or -1) name columns, and so do the two `limits`
# (the lowest and the highest point). `estimates` has a row per scale and number (`"order: alpha"`); `tables` are those
# of scale_reliability().
fit_reliability <- function(data, outcome, respondent = "respondent", item = "item", scale = "scale", key = "key",
                            limits = c("low", "high"), by = NULL, least_answered = .8) {
  columns <- c(outcome, respondent, item, scale, key, limits)
  check_columns(data, c(columns, by), to = "compute scales")
  fit <- fit_each_group(data, by, columns, function(rows) {
    answers <- frame_of(respondent = rows[[respondent]], item = rows[[item]], rating = as.double(rows[[outcome]]))
    keys <- keys_of_rows(rows, scale, item, key)
    found <- scale_reliability(answers, keys, limits_of_rows(rows, limits), least_answered = least_answered)
    doubts <- found$scales$doubts
    for (i in which(nzchar(doubts))) warning(sprintf("%s: %s", found$scales$scale[[i]], doubts[[i]]), call. = FALSE)
    list(
      estimates = reliability_estimates(found$scales), variances = NULL, tables_of_group = found,
      fit = list(singular = FALSE, optimiser = "closed form", n_groups = length(unique(answers$respondent)))
    )
  })
  slant_fit(fit)
}

reliability_estimates <- function(scales) {
  numbers <- c(
    alpha = "alpha_raw", "standardised alpha" = "alpha_std", "alpha without reversing" = "alpha_without_reversing",
    "omega total" = "omega_total", "mean r" = "mean_r"
  )
  of_scale <- lapply(seq_len(nrow(scales)), function(i) {
    values <- unlist(scales[i, numbers], use.names = FALSE)
    estimate_rows(level_terms(scales$scale[[i]], names(numbers)), values, NA_real_)
  })
  do.call(rbind, of_scale)
}

# The keys that rows carry: each item once a scale.
keys_of_rows <- function(rows, scale, item, key) {
  keys <- unique(frame_of(
    scale = as.character(rows[[scale]]), item = as.character(rows[[item]]), key = as.double(as.character(rows[[key]]))
  ))
  as_plain_rows(keys[order(match(keys$scale, unique(keys$scale))), , drop = FALSE])
}

# `limits`: two numbers, or the names of two columns that have them, the same in all rows.
limits_of_rows <- function(rows, limits) {
  if (is.numeric(limits)) {
    return(as.double(limits))
  }
  found <- vapply(limits, function(name) {
    values <- unique(as.double(rows[[name]]))
    if (length(values) != 1) stop_with(sprintf("Scales of different lengths are put together (\"%s\").", name))
    values
  }, 1)
  unname(found)
}
