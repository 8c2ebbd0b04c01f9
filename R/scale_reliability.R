#' Reliability of scales, and the score of each respondent
#'
#' A questionnaire is read by its keys: items that are worded the other way are turned round (lowest + highest -
#' answer), and a scale is the mean of its items. How far its items hang together is said over respondents (people, or
#' personas and models): alpha, raw and standardised, omega, the correlation of each item with the mean of the others.
#'
#' Repetitions are averaged first; else alpha would be that of sampling noise. An item that has the same answer from
#' everybody has no correlation: it is left out of a scale's numbers and named. A negative alpha or correlation with the
#' rest mostly means that a key was not applied, and says so in `doubts`; `alpha_without_reversing` shows what the scale
#' would be without keys. The numbers of a scale are of the respondents who answered all its items.
#'
#' Omega total is (sum of loadings)^2 / ((sum of loadings)^2 + sum of (1 - loadings^2)) of one factor that reproduces
#' the correlations between items best (minres), as `psych::fa()` finds it.
#'
#' @param data a data frame with one row per answer: `respondent`, `item`, `rating`, and `repetition` or not.
#' @param keys a data frame with one row per item of a scale: `scale`, `item`, `key` (1, or -1 for an item that is
#'   turned round). An item may be of several scales.
#' @param limits the lowest and the highest answer that can be given, as in `c(1, 7)`.
#' @param by names of the columns that tell groups apart, such as `"model"`, or `NULL`.
#' @param least_answered the share of a scale's items that a respondent must have answered to have a score.
#' @return A list of three data frames, each with the columns `by` first:
#'   \describe{
#'     \item{scales}{one row per scale: `scale`, `n_items`, `n_reversed`, `n` (respondents with all items), `mean` and
#'       `sd` of their scores (in points of the scale), `alpha_raw`, `alpha_std`, `alpha_without_reversing`,
#'       `omega_total`, `mean_r` (between items), `n_negative` (items whose `item_rest_r` is below 0), `doubts` (text,
#'       `""` if none).}
#'     \item{items}{one row per scale and item: `scale`, `item`, `key`, `n`, `mean` and `sd` (turned round),
#'       `item_rest_r` and `loading` (`NA` of an item without differences).}
#'     \item{scores}{one row per respondent and scale: `respondent`, `scale`, `n_answered`, `score` (`NA` with fewer
#'       than `least_answered`).}
#'   }
#' @source Cronbach (1951); McDonald (1999), for omega total.
#' @export
#' @examples
#' answers <- expand.grid(item = c("calm", "tense", "relaxed"), respondent = 1:30)
#' answers$rating <- 1 + (answers$respondent * 7 + seq_len(nrow(answers)) %% 2) %% 7
#' keys <- data.frame(scale = "calmness", item = c("calm", "tense", "relaxed"), key = c(1, -1, 1))
#' scale_reliability(answers, keys, limits = c(1, 7))$scales
scale_reliability <- function(data, keys, limits, by = NULL, least_answered = .8) {
  check_arguments()
  if (least_answered < 0 || least_answered > 1) stop_with("`least_answered` must be a share, from 0 to 1.")
  check_columns(data, c("respondent", "item", "rating", by), to = "compute scales")
  keys <- checked_keys(keys, data)
  check_answers_within(data$rating, limits)
  groups <- group_rows(data, by)
  found <- lapply(groups, function(rows) {
    answers <- data[rows, , drop = FALSE]
    parts <- lapply(split(keys, factor(keys$scale, unique(keys$scale))), one_scale, answers, limits, least_answered)
    keyed <- function(table) {
      with_keys(answers[1, by, drop = FALSE], do.call(rbind, lapply(unname(parts), `[[`, table)))
    }
    list(scales = keyed("scales"), items = keyed("items"), scores = keyed("scores"))
  })
  names <- c(scales = "scales", items = "items", scores = "scores")
  lapply(names, function(table) as_plain_rows(do.call(rbind, lapply(unname(found), `[[`, table))))
}

checked_keys <- function(keys, data) {
  if (!is.data.frame(keys)) stop_with("`keys` must be a data frame with the columns scale, item and key.")
  check_columns(keys, c("scale", "item", "key"), to = "read keys")
  if (!all(keys$key %in% c(-1, 1))) {
    stop_with("Keys must be 1 or -1.", sprintf("Found: %s.", quoted(utils::head(setdiff(keys$key, c(-1, 1)), 3))))
  }
  if (anyDuplicated(keys[c("scale", "item")]) > 0) {
    twice <- keys[duplicated(keys[c("scale", "item")]), ][1, ]
    stop_with(sprintf("`keys` has \"%s\" twice in scale \"%s\".", twice$item, twice$scale))
  }
  if (length(lacking <- setdiff(keys$item, data$item)) > 0) {
    stop_with(sprintf("`keys` has items that nobody was asked: %s.", quoted(lacking)))
  }
  keys
}

check_answers_within <- function(ratings, limits) {
  if (!is.numeric(limits) || length(limits) != 2 || !all(is.finite(limits)) || limits[[1]] >= limits[[2]]) {
    stop_with("`limits` must be the lowest and the highest answer, as in c(1, 7).")
  }
  if (!is.numeric(ratings)) stop_with("The column \"rating\" must be a number.")
  outside <- ratings[!is.na(ratings) & (ratings < limits[[1]] | ratings > limits[[2]])]
  if (length(outside) > 0) {
    stop_with(
      sprintf("%s outside of `limits` (%g to %g).", counted(length(outside), "answer"), limits[[1]], limits[[2]]),
      sprintf("Found: %s.", quoted(utils::head(sort(unique(outside)), 3)))
    )
  }
}

# One scale of the answers of a group: rows of `scales`, `items` and `scores`.
one_scale <- function(keys, answers, limits, least_answered) {
  own <- answers[answers$item %in% keys$item & !is.na(answers$rating), , drop = FALSE]
  respondents <- unique(answers$respondent)
  means <- tapply(own$rating, list(factor(own$respondent, respondents), factor(own$item, keys$item)), mean)
  turned <- means
  is_reversed <- keys$key == -1
  turned[, is_reversed] <- sum(limits) - means[, is_reversed]
  n_answered <- rowSums(!is.na(turned))
  score <- ifelse(n_answered >= least_answered * ncol(turned) - 1e-9, rowMeans(turned, na.rm = TRUE), NA_real_)
  is_complete <- n_answered == ncol(turned)
  complete <- turned[is_complete, , drop = FALSE]
  sd <- apply(complete, 2, stats::sd)
  is_used <- !is.na(sd) & sd > 0
  numbers <- scale_numbers(complete[, is_used, drop = FALSE], means[is_complete, is_used, drop = FALSE])
  whole <- function(values) replace(rep(NA_real_, length(is_used)), is_used, values)
  name <- keys$scale[[1]]
  n_complete <- nrow(complete)
  negative <- keys$item[is_used][!is.na(numbers$item_rest_r) & numbers$item_rest_r < 0]
  parts <- c(
    if (any(!is_used)) sprintf("The same answer from everybody, left out: %s.", quoted(keys$item[!is_used])),
    if (isTRUE(numbers$alpha_raw < 0)) "Alpha is below 0: was a key not applied?",
    if (length(negative) > 0) {
      sprintf("Against the rest of the scale: %s. Was a key not applied?", quoted(negative))
    },
    if (n_complete < length(n_answered)) {
      sprintf("%d of %d respondents answered all items.", n_complete, length(n_answered))
    },
    if (is.na(numbers$alpha_raw)) "Too few items or respondents that differ.",
    if (!is.na(numbers$alpha_raw) && n_complete < 30) few_respondents(numbers$alpha_raw, n_complete, sum(is_used))
  )
  list(
    scales = frame_of(
      scale = name, n_items = nrow(keys), n_reversed = sum(is_reversed), n = nrow(complete),
      mean = mean(rowMeans(complete)), sd = stats::sd(rowMeans(complete)), alpha_raw = numbers$alpha_raw,
      alpha_std = numbers$alpha_std, alpha_without_reversing = numbers$alpha_without_reversing,
      omega_total = numbers$omega_total, mean_r = numbers$mean_r, n_negative = sum(numbers$item_rest_r < 0),
      doubts = paste(parts, collapse = " ")
    ),
    items = frame_of(
      scale = keys$scale, item = as.character(keys$item), key = as.integer(keys$key),
      n = unname(colSums(!is.na(turned))),
      mean = unname(colMeans(turned, na.rm = TRUE)), sd = unname(apply(turned, 2, stats::sd, na.rm = TRUE)),
      item_rest_r = whole(numbers$item_rest_r), loading = whole(numbers$loadings)
    ),
    scores = frame_of(
      respondent = respondents, scale = name, n_answered = as.integer(unname(n_answered)), score = unname(score)
    )
  )
}

few_respondents <- function(alpha, n, k) {
  ends <- 1 - (1 - alpha) * stats::qf(c(.975, .025), n - 1, (n - 1) * (k - 1)) # Feldt (1965)
  sprintf("Only %d respondents: the 95 %% interval of alpha is %.2f to %.2f.", n, ends[[1]], ends[[2]])
}

# Of items that differ between respondents; NA where there are fewer than two of them, or than three respondents.
scale_numbers <- function(turned, as_given) {
  k <- ncol(turned)
  if (k < 2 || nrow(turned) < 3) {
    unknown <- rep(NA_real_, k)
    return(list(
      alpha_raw = NA_real_, alpha_std = NA_real_, alpha_without_reversing = NA_real_, omega_total = NA_real_,
      mean_r = NA_real_, item_rest_r = unknown, loadings = unknown
    ))
  }
  r <- stats::cor(turned)
  mean_r <- mean(r[upper.tri(r)])
  loadings <- minres_loadings(r)
  list(
    alpha_raw = alpha_of(turned), alpha_std = k * mean_r / (1 + (k - 1) * mean_r),
    alpha_without_reversing = alpha_of(as_given),
    omega_total = sum(loadings)^2 / (sum(loadings)^2 + sum(1 - loadings^2)), mean_r = mean_r,
    item_rest_r = vapply(seq_len(k), function(item) {
      rest <- rowMeans(turned[, -item, drop = FALSE])
      if (stats::sd(rest) == 0) NA_real_ else stats::cor(turned[, item], rest)
    }, 1),
    loadings = loadings
  )
}

alpha_of <- function(values) {
  k <- ncol(values)
  k / (k - 1) * (1 - sum(apply(values, 2, stats::var)) / stats::var(rowSums(values)))
}

# Loadings on one factor with the least squared residuals of the correlations between items (Harman & Jones 1966), from
# the first principal component; of two items only their product is known, and they are alike.
minres_loadings <- function(r) {
  if (ncol(r) == 2) {
    return(c(1, sign(r[[1, 2]])) * sqrt(abs(r[[1, 2]])))
  }
  first <- eigen(r, symmetric = TRUE)
  start <- first$vectors[, 1] * sqrt(first$values[[1]]) * .9
  if (sum(start) < 0) start <- -start
  residuals <- function(loadings) {
    left <- r - tcrossprod(loadings)
    diag(left) <- 0
    left
  }
  found <- stats::optim(
    start, function(loadings) sum(residuals(loadings)^2) / 2,
    function(loadings) -2 * as.vector(residuals(loadings) %*% loadings),
    method = "L-BFGS-B", lower = -.9975, upper = .9975, control = list(factr = 10, maxit = 1000)
  )
  found$par
}

# The reliability of scales as an engine: what scale_reliability() finds, of rows that carry their own keys.

# `data`: a row per answer. `respondent`, `item`, `scale` and `key` (1 or -1) name columns, and so do the two `limits`
# (the lowest and the highest point). `estimates` has a row per scale and number (`"order: alpha"`); `tables` are those
# of scale_reliability().
fit_reliability <- function(data, outcome, respondent = "respondent", item = "item", scale = "scale", key = "key",
                            limits = c("low", "high"), by = NULL, least_answered = .8) {
  columns <- c(outcome, respondent, item, scale, key, limits)
  check_columns(data, c(columns, by), to = "compute scales")
  slant_fit(fit_each_group(data, by, columns, function(rows) {
    answers <- frame_of(respondent = rows[[respondent]], item = rows[[item]], rating = as.double(rows[[outcome]]))
    keys <- keys_of_rows(rows, scale, item, key)
    found <- scale_reliability(answers, keys, limits_of_rows(rows, limits), least_answered = least_answered)
    doubts <- found$scales$doubts
    for (i in which(nzchar(doubts))) warning(sprintf("%s: %s", found$scales$scale[[i]], doubts[[i]]), call. = FALSE)
    numbers <- c(
      alpha = "alpha_raw", "standardised alpha" = "alpha_std", "alpha without reversing" = "alpha_without_reversing",
      "omega total" = "omega_total", "mean r" = "mean_r"
    )
    of_scale <- lapply(seq_len(nrow(found$scales)), function(i) {
      values <- unlist(found$scales[i, numbers], use.names = FALSE)
      estimate_rows(level_terms(found$scales$scale[[i]], names(numbers)), values, NA_real_)
    })
    list(
      estimates = do.call(rbind, of_scale), variances = NULL, tables_of_group = found,
      fit = list(singular = FALSE, optimiser = "closed form", n_groups = length(unique(answers$respondent)))
    )
  }))
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
  unname(vapply(limits, function(name) {
    values <- unique(as.double(rows[[name]]))
    if (length(values) != 1) stop_with(sprintf("Scales of different lengths are put together (\"%s\").", name))
    values
  }, 1))
}
