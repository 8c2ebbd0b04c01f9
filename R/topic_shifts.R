# Whether topics shift with condition as tokens do: per model and test, as in the authors' later repository.

# Returns list(shifts, correlations). `cells`: model, test, estimate (Cohen's d), or NULL.
topic_shifts <- function(model, meta, contrast, cells) {
  if (!all(c("model", "test") %in% names(meta))) {
    return(list(shifts = empty_shifts(), correlations = empty_correlations()))
  }
  groups <- split(seq_len(nrow(meta)), list(meta$test, meta$model), drop = TRUE)
  shifts <- lapply(unname(groups), function(rows) {
    condition <- meta[[contrast]][rows]
    # Without five documents of each condition, a standard error says nothing.
    if (any(table(condition) < 5)) {
      return(NULL)
    }
    do.call(rbind, lapply(seq_len(ncol(model$theta)), function(topic) {
      shift_row(topic, meta[rows[[1]], ], model$theta[rows, topic], condition)
    }))
  })
  shifts <- do.call(rbind, c(list(empty_shifts()[0, names(empty_shifts()) != "cohens_d"]), shifts))
  place <- match(paste(shifts$model, shifts$test), paste(cells$model, cells$test))
  shifts$cohens_d <- if (is.null(cells)) rep(NA_real_, nrow(shifts)) else cells$estimate[place]
  shifts <- as_plain_rows(shifts[order(shifts$topic), ])
  list(shifts = shifts, correlations = shift_correlations(shifts))
}

shift_row <- function(topic, place, proportion, condition) {
  fit <- stats::lm(proportion ~ condition)
  coefficients <- summary(fit)$coefficients[2, ]
  interval <- stats::confint(fit)[2, ]
  data.frame(
    topic = topic, model = as.character(place$model), test = as.character(place$test), estimate = coefficients[[1]],
    std_error = coefficients[[2]], df = fit$df.residual, statistic = coefficients[[3]], p_value = coefficients[[4]],
    conf_low = interval[[1]], conf_high = interval[[2]]
  )
}

# Over the cells of all models, and of each model that has four of them: fewer give no interval.
shift_correlations <- function(shifts) {
  known <- shifts[!is.na(shifts$cohens_d), ]
  of_model <- function(model) {
    rows <- if (is.na(model)) known else known[known$model == model, ]
    correlations <- lapply(split(rows, rows$topic), correlation_row, model = model)
    correlations <- do.call(rbind, correlations)
    if (is.null(correlations)) NULL else adjusted(correlations)
  }
  rows <- as_plain_rows(do.call(rbind, lapply(c(NA, unique(known$model)), of_model)))
  if (is.null(rows)) empty_correlations() else rows
}

correlation_row <- function(rows, model) {
  if (nrow(rows) < 4 || stats::sd(rows$estimate) == 0 || stats::sd(rows$cohens_d) == 0) {
    return(NULL)
  }
  test <- stats::cor.test(rows$estimate, rows$cohens_d)
  data.frame(
    topic = rows$topic[[1]], model = as.character(model), n_cells = nrow(rows), r = unname(test$estimate),
    conf_low = test$conf.int[[1]], conf_high = test$conf.int[[2]], df = unname(test$parameter),
    statistic = unname(test$statistic), p_value = test$p.value
  )
}

empty_shifts <- function() {
  data.frame(
    topic = integer(), model = character(), test = character(), estimate = double(), std_error = double(),
    df = double(), statistic = double(), p_value = double(), conf_low = double(), conf_high = double(),
    cohens_d = double()
  )
}

empty_correlations <- function() {
  data.frame(
    topic = integer(), model = character(), n_cells = integer(), r = double(), conf_low = double(),
    conf_high = double(), df = double(), statistic = double(), p_value = double(), p_holm = double(), p_bh = double()
  )
}
