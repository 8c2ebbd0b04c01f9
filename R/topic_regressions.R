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
  do.call(rbind, lapply(seq_along(x$topics), function(number) {
    draws <- x$parameters[[number]]
    points <- vapply(draws, function(draw) sum(weights * draw$est), 1)
    within <- mean(vapply(draws, function(draw) drop(weights %*% draw$vcov %*% weights), 1))
    std_error <- sqrt(within + mean((points - mean(points))^2))
    keys <- data.frame(topic = x$topics[[number]], model = as.character(model))
    cbind(keys, tested_rows("", mean(points), std_error, df)[-1])
  }))
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
  do.call(rbind, lapply(seq_along(regressions$topics), function(number) {
    table <- regressions$tables[[number]]
    terms <- sprintf("topic %d: %s", regressions$topics[[number]], term_name(rownames(table)))
    estimate_rows(terms, table[, 1], table[, 2], df, statistic = table[, 3], p_value = table[, 4])
  }))
}

#' Regress topic prevalence on covariates
#'
#' What `stm::estimateEffect(uncertainty = "Global")` gives, number by number, in a tenth of the time: for each of
#' `n_draws` draws of all documents' topic proportions from their posterior, a linear model per topic.
#'
#' @param model what `fit_topics()` returned.
#' @param meta data frame of covariates: `prepared$meta`.
#' @param formula one-sided formula of the covariates, such as `~ condition * model`.
#' @param seed a whole number: the same seed gives the same draws, those of `set.seed(seed)` before stm's function. The
#'   session's own random numbers go on as if nothing had been drawn.
#' @param n_draws number of draws.
#' @return An object of class `estimateEffect`, for `summary()` and `plot()` of package stm.
#' @source Lee & Lai (2025), Table S14.
#' @noRd
topic_effects <- function(model, meta, formula = ~ condition * model, seed = 1048596, n_draws = 25) {
  need_package("stm", "regress topics")
  inside <- new.env(parent = asNamespace("stm"))
  # one draw of all documents' proportions: stm draws document after document, which a matrix filled by columns repeats
  inside$thetaPosterior <- function(model, ...) {
    eta <- model$eta
    mu <- model$mu$mu
    about <- if (ncol(mu) == 1) sweep(eta, 2, as.numeric(mu)) else eta - t(mu)
    factor <- chol(model$sigma - crossprod(about) / nrow(eta))
    noise <- matrix(stats::rnorm(length(eta)), ncol = nrow(eta))
    drawn <- cbind(crossprod(noise, factor) + eta, 0)
    list(exp(drawn - matrixStats::rowLogSumExps(drawn)))
  }
  estimate <- stm::estimateEffect
  environment(estimate) <- inside
  formula[[3]] <- formula[[length(formula)]]
  formula[[2]] <- call(":", 1, model$settings$dim$K) # stm names the topics to regress on the left
  effects <- with_seed(seed, estimate(formula, model, metadata = meta, uncertainty = "Global", nsims = n_draws))
  effects$call <- match.call()
  effects
}

# What can be read from a fitted topic model by itself: its words, how large and how good its topics are, examples.

# The words by which a topic differs from the others (FREX) and those that are most frequent in it, stm's own lists.
topic_words <- function(model, n = 20) {
  labels <- stm::labelTopics(model, n = min(n, length(model$vocab)))
  of_kind <- function(kind) {
    words <- labels[[kind]]
    data.frame(
      topic = rep(seq_len(nrow(words)), each = ncol(words)), kind = kind,
      place = rep(seq_len(ncol(words)), times = nrow(words)), word = as.vector(t(words))
    )
  }
  rbind(of_kind("frex"), of_kind("prob"))
}

topic_quality <- function(model, prepared, n_words = 10) {
  n_words <- min(n_words, length(model$vocab))
  largest <- apply(model$theta, 1, which.max)
  data.frame(
    topic = seq_len(ncol(model$theta)), proportion = colMeans(model$theta),
    n_dominant = tabulate(largest, ncol(model$theta)),
    semantic_coherence = stm::semanticCoherence(model, prepared$documents, M = n_words),
    exclusivity = stm::exclusivity(model, M = n_words, frexw = .7)
  )
}

topic_examples <- function(model, meta, rows, settings) {
  ids <- as.character(rows[[settings$id]])
  one_topic <- function(topic) {
    # The order of rows breaks ties, so that the same data give the same examples.
    best <- utils::head(order(-model$theta[, topic]), settings$n_examples)
    row <- match(meta[[settings$id]][best], ids)
    place <- function(name) if (name %in% names(rows)) as.character(rows[[name]][row]) else NA_character_
    data.frame(
      topic = topic, place = seq_along(best), trial_id = ids[row], model = place("model"), test = place("test"),
      condition = place(settings$contrast), proportion = model$theta[best, topic], text = rows[[settings$text]][row]
    )
  }
  do.call(rbind, lapply(seq_len(ncol(model$theta)), one_topic))
}

# Cohen's d of each model and test, over all answers, also those without a text. NULL where nothing is compared.
topic_cells <- function(data, outcome, contrast, levels) {
  if (is.null(outcome) || !all(c("model", "test") %in% names(data))) {
    return(NULL)
  }
  both <- levels[[contrast]]
  if (is.null(both)) both <- sort(unique(as.character(data[[contrast]])), method = "radix")
  sizes <- effect_size(data[c("model", "test", contrast, outcome)], outcome, contrast, both, by = c("model", "test"))
  sizes$estimates[c("model", "test", "estimate")]
}

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
    correlations <- do.call(rbind, lapply(split(rows, rows$topic), function(rows) {
      if (nrow(rows) < 4 || stats::sd(rows$estimate) == 0 || stats::sd(rows$cohens_d) == 0) {
        return(NULL)
      }
      test <- stats::cor.test(rows$estimate, rows$cohens_d)
      data.frame(
        topic = rows$topic[[1]], model = as.character(model), n_cells = nrow(rows), r = unname(test$estimate),
        conf_low = test$conf.int[[1]], conf_high = test$conf.int[[2]], df = unname(test$parameter),
        statistic = unname(test$statistic), p_value = test$p.value
      )
    }))
    if (is.null(correlations)) NULL else adjusted(correlations)
  }
  rows <- as_plain_rows(do.call(rbind, lapply(c(NA, unique(known$model)), of_model)))
  if (is.null(rows)) empty_correlations() else rows
}

empty_shifts <- function() {
  columns_of("topic:whole model:text test:text estimate std_error df statistic p_value conf_low conf_high cohens_d")
}

empty_correlations <- function() {
  columns_of("topic:whole model:text n_cells:whole r conf_low conf_high df statistic p_value p_holm p_bh")
}
