# How large topics are by model, condition and test, from regressions of their proportions (stm's estimateEffect).

topic_regressions <- function(model, effects, meta, settings) {
  contrast <- settings$contrast
  terms <- all.vars(settings$formulas$effects)
  alone <- function(name) topic_effects(model, meta, stats::as.formula(paste("~", name)), seed = settings$seed)
  by_contrast <- alone(contrast)
  parts <- list(prevalence_rows(by_contrast, "condition", contrast, settings$seed))
  if ("test" %in% names(meta)) {
    parts <- c(parts, list(prevalence_rows(alone("test"), "test", "test", settings$seed)))
  }
  contrasts <- list(contrast_rows(by_contrast, NA, contrast))
  if ("model" %in% terms) {
    models <- levels(meta$model)
    parts <- c(
      list(prevalence_rows(effects, "model", "model", settings$seed)), parts,
      lapply(models, function(name) prevalence_rows(effects, "model x condition", contrast, settings$seed, name))
    )
    by_model <- do.call(rbind, lapply(models, contrast_rows, x = effects, contrast = contrast))
    contrasts <- c(contrasts, list(by_model))
  }
  contrasts <- lapply(contrasts, adjusted)
  list(prevalence = do.call(rbind, parts), contrasts = do.call(rbind, contrasts))
}

# Points and 95 % intervals as plot(…, method = "pointestimate") draws them; other covariates stay at their most
# frequent value, or at `model`.
prevalence_rows <- function(effects, scope, covariate, seed, model = NULL) {
  set.seed(seed)
  drawn <- plot(
    effects, covariate,
    method = "pointestimate", omit.plot = TRUE,
    moderator = if (!is.null(model)) "model", moderator.value = model
  )
  value <- as.character(drawn$uvals)
  order <- order(match(value, levels(as.factor(effects$data[[covariate]]))))
  one_topic <- function(number) {
    row <- data.frame(
      scope = scope, topic = drawn$topics[[number]], model = NA_character_, condition = NA_character_,
      test = NA_character_, estimate = drawn$means[[number]], conf_low = drawn$cis[[number]][1, ],
      conf_high = drawn$cis[[number]][2, ]
    )
    row[[if (covariate %in% c("model", "test")) covariate else "condition"]] <- value
    if (!is.null(model)) row$model <- model
    row[order, ]
  }
  as_plain_rows(do.call(rbind, lapply(seq_along(drawn$topics), one_topic)))
}

# Second condition minus first, in one model (NA: anyone who the regression is about), for each topic.
contrast_rows <- function(x, model, contrast) {
  both <- levels(as.factor(x$data[[contrast]]))
  weights <- contrast_weights(x, contrast, both[1:2], model)
  df <- nrow(x$data) - length(weights)
  rows <- lapply(seq_along(x$topics), function(number) {
    draws <- x$parameters[[number]]
    points <- vapply(draws, function(draw) sum(weights * draw$est), 1)
    within <- mean(vapply(draws, function(draw) drop(weights %*% draw$vcov %*% weights), 1))
    std_error <- sqrt(within + mean((points - mean(points))^2))
    estimate_row(x$topics[[number]], model, mean(points), std_error, df)
  })
  do.call(rbind, rows)
}

estimate_row <- function(topic, model, estimate, std_error, df) {
  p_value <- 2 * stats::pt(-abs(estimate / std_error), df)
  numbers <- estimate_rows("", estimate, std_error, df, estimate / std_error, p_value)
  cbind(data.frame(topic = topic, model = as.character(model)), numbers[-1])
}

# What the coefficients are multiplied with to get the difference between two conditions: the mean over the documents
# (of one model) of what a change of condition alone would change.
contrast_weights <- function(x, contrast, both, model) {
  documents <- if (is.na(model)) x$data else x$data[as.character(x$data$model) == model, , drop = FALSE]
  terms <- stats::delete.response(stats::terms(x$formula, data = x$data))
  levels_of <- lapply(Filter(is.factor, x$data), levels)
  all_in <- function(condition) {
    documents[[contrast]] <- factor(condition, levels = levels_of[[contrast]])
    colMeans(stats::model.matrix(terms, documents, xlev = levels_of))
  }
  all_in(both[[2]]) - all_in(both[[1]])
}

# p adjusted over the rows, which are one family.
adjusted <- function(rows) {
  rows$p_holm <- stats::p.adjust(rows$p_value, "holm")
  rows$p_bh <- stats::p.adjust(rows$p_value, "BH")
  rows
}

# The coefficients as summary() of an estimateEffect prints them: 500 draws of each of its regressions.
effect_coefficients <- function(effects, seed) {
  set.seed(seed)
  regressions <- summary(effects)
  df <- nrow(effects$data) - nrow(regressions$tables[[1]])
  rows <- lapply(seq_along(regressions$topics), function(number) {
    table <- regressions$tables[[number]]
    terms <- sprintf("topic %d: %s", regressions$topics[[number]], term_name(rownames(table)))
    estimate_rows(terms, table[, 1], table[, 2], df, statistic = table[, 3], p_value = table[, 4])
  })
  do.call(rbind, rows)
}
