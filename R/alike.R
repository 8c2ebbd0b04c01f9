#' Does a model answer as people do?
#'
#' Compares a model's answers with those of people who answered the same items in the same words: how far apart they
#' are, whether they could be shown to be close, whether the model varies as people do, orders the items as people do,
#' and, asked to be somebody, follows the people who are. What is found is about these items in this wording; whether it
#' says anything of a population depends on how the people were drawn.
#'
#' A unit is who answers: a person, or one repetition of the model (one session of it). Errors are over units on both
#' sides, so that a model needs to be asked several times. Items are those that both sides answered.
#'
#' Tests of spread and range are of permutations of units between the sides: if the model's answers were drawn from
#' those of people, each is significant in `alpha` of all data sets, whatever the distribution. Intervals of range and
#' distances are percentiles of a bootstrap of units (those of distances less what resampling adds to them), those of
#' ratios t with its standard errors, on the scale of logarithms. Of more than 2,000 units of a side, both are of 2,000
#' that are drawn at random.
#'
#' @param data a data frame with one row per answer of the model and of people.
#' @param outcome name of a numeric column: the answer. Rows without one are left out, which a message says.
#' @param item name of the column with what was asked.
#' @param unit name of the column with who answered.
#' @param people name of a column that is `TRUE` for people.
#' @param group name of a column with the group of a person, and the persona that the model was to be (a group of the
#'   same name; `NA`: none), or `NULL`. Answers as a persona are compared with its group alone.
#' @param effects names of columns with levels that were shown: also compared is what each level changes, against the
#'   first of `levels`.
#' @param levels a list by effect of its levels, the reference first; if not given, in alphabetical order.
#' @param bound the smallest difference that would matter, in standard deviations of people's answers.
#' @param alpha the level of tests; intervals of equivalence hold `1 - 2 * alpha`, all others `1 - alpha`.
#' @param by names of the columns that tell comparisons apart, or `NULL`.
#' @param n_draws number of permutations and of bootstrap samples.
#' @param seed of both, a whole number.
#' @return A list of five data frames, each with the columns `by` first, then those below, `status` and `messages`.
#'   \describe{
#'     \item{differences}{one row for all items (`kind` is `"all"`), per item (`"item"`) and level (`"effect"`): `name`,
#'       `n_model` and `n_people` (units), `mean_model` and `mean_people` (or effects), `difference` (model less
#'       people) with `std_error`, `df`, `conf_low`, `conf_high`, `p_value` and, for all of a kind (Holm), `p_adjusted`;
#'       `sd_people`, `bound` (in units of the outcome), `p_equivalence` of two one-sided tests,
#'       `p_equivalence_adjusted`, `equivalence_low` and `equivalence_high`; `finding`, of the bound alone (p by
#'       Holm within a kind): `"equivalent within the bound"` (two one-sided tests), `"differs by more than the
#'       bound"` (the interval lies beyond it) or `"not decided"`.}
#'     \item{spread}{one row for all items (`NA` as `item`) and per item: `sd_model`, `sd_people`, `variance_ratio` with
#'       `ratio_low`, `ratio_high`, `p_ratio`; `wasserstein` (the mean distance between sorted answers, in units of the
#'       outcome) with `wasserstein_low`, `wasserstein_high`, `expected` (the mean under permutation: it is above 0 for
#'       samples of one distribution), `p_wasserstein`; `p_ratio_adjusted`, `p_wasserstein_adjusted` over items.}
#'     \item{order}{one row: `n_items`, `correlation` of the means of items, `reliability_model`, `reliability_people`
#'       (the share of the variance between items that is no error), `corrected` for both with `conf_low`, `conf_high`.}
#'     \item{range}{one row for all items (`NA`) and per item: `model_outside`, the share of the model's answers outside
#'       the central 95 % of people's (of items that 40 people answered); `share_outside`, people's answers outside
#'       the central 95 % of the model's;
#'       `share_low` and `share_high`, below and above it; `conf_low`, `conf_high`; `expected` under
#'       permutation, `p_value`, `p_adjusted`.}
#'     \item{personas}{one row, if there are personas: `n_groups`, `n_cells` (groups and items), `correlation` over them
#'       of deviations from the mean of their item, model and people, with `conf_low`, `conf_high`; `slope` of people on
#'       the model (1: calibrated; below 1: personas are drawn too large), with `slope_low`, `slope_high`, both
#'       corrected for errors; `rmse_persona` and `rmse_plain`, how far the model's mean is from that of the group as
#'       its persona, and without one, without what error adds.}
#'   }
#' @source Lakens (2017), Equivalence tests, Social Psychological and Personality Science 8, 355-362 (two one-sided
#'   tests); Spearman (1904), American Journal of Psychology 15, 72-101 (the correction).
#' @export
#' @examples
#' answers <- expand.grid(unit = 1:60, item = letters[1:8])
#' answers$people <- answers$unit > 20
#' answers$rating <- round(4 + sin(as.integer(answers$item)) + sin(seq_len(nrow(answers)) * 7.7) * 2)
#' alike(answers, "rating", people = "people", n_draws = 99)$order
alike <- function(data, outcome, item = "item", unit = "unit", people = "is_people", group = NULL, effects = NULL,
                  levels = NULL, bound = .2, alpha = .05, by = NULL, n_draws = 999, seed = 1) {
  text <- argument_kinds$text
  texts <- argument_rules$attributes
  more <- list(
    item = text, unit = text, people = text, group = text, effects = texts, n_draws = argument_kinds$whole(1)
  )
  check_arguments(more = more)
  check_columns(data, c(outcome, item, unit, people, group, effects, by), to = "compare a model with people")
  say_what_is_missing(data[outcome], sum(is.na(data[[outcome]])))
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  check_outcome(data, outcome)
  group_of <- function(rows) if (is.null(group)) rep(NA_character_, nrow(rows)) else as.character(rows[[group]])
  answers <- frame_of(
    unit = paste(data[[people]], data[[unit]]), item = as.character(data[[item]]), value = as.double(data[[outcome]]),
    is_people = as.logical(data[[people]]), group = group_of(data)
  )
  whole <- as_plain_rows(cbind(data[unique(c(by, effects))], answers))
  table_of <- function(empty, make) check_each_group(whole, by, "is_people", empty, make)
  plain <- function(rows) rows[rows$is_people | is.na(rows$group) | !any(is.na(rows$group[!rows$is_people])), ]
  parts <- function(rows) alike_parts(plain(rows))
  nobody <- list(mean = double(), squared_error = double(), n = integer())
  none <- set_against_people(nobody, nobody, double(), 1, .05)
  list(
    differences = table_of(cbind(columns_of("kind:text name:text"), none), function(rows) {
      differences_of(parts(rows), plain(rows), effects, levels, bound, alpha)
    }),
    spread = table_of(empty_spread(), function(rows) spread_of(parts(rows), alpha, n_draws, seed)),
    order = table_of(empty_order(), function(rows) order_of(parts(rows), alpha)),
    range = table_of(empty_range(), function(rows) range_of(parts(rows), alpha, n_draws, seed)),
    personas = if (is.null(group)) {
      keys <- whole[0, by, drop = FALSE]
      as_plain_rows(cbind(keys, empty_personas(), columns_of("status:text messages:text")))
    } else {
      table_of(empty_personas(), function(rows) personas_of(rows, alpha, n_draws, seed))
    }
  )
}

# The answers of both sides to the items that both have, a matrix each (units x items; several answers of a unit to an
# item are averaged), and the names of the items.
alike_parts <- function(rows) {
  if (!any(rows$is_people) || all(rows$is_people)) {
    stop_with(sprintf("There are no answers of %s here.", if (any(rows$is_people)) "the model" else "people"))
  }
  items <- intersect(unique(rows$item[rows$is_people]), unique(rows$item[!rows$is_people]))
  if (length(items) == 0) stop_with("The model and people have no item in common.")
  left_out <- length(setdiff(rows$item, items))
  if (left_out > 0) message(sprintf("Left out: %s that only one side answered.", counted(left_out, "item")))
  side <- function(own) {
    own <- own[own$item %in% items, , drop = FALSE]
    values <- tapply(own$value, list(factor(own$unit, unique(own$unit)), factor(own$item, items)), mean)
    unname(values)
  }
  model <- side(rows[!rows$is_people, , drop = FALSE])
  people <- side(rows[rows$is_people, , drop = FALSE])
  if (min(nrow(model), nrow(people)) < 3) {
    stop_with(
      sprintf("The model answered %s and people %s: too few for errors.", counted(nrow(model), "time"),
              counted(nrow(people), "time")),
      "Ask the model again (collect --repetitions 30), at a temperature above 0."
    )
  }
  if (is_one_answer(model)) {
    stop_with(
      sprintf("The model gave the same answers all %d times: they count as one, which has no error.", nrow(model)),
      "Ask the model again at a temperature above 0 (collect --temperature 1), or in other words."
    )
  }
  list(model = model, people = people, items = items)
}

# Do all units answer alike, so that asking again told nothing?
is_one_answer <- function(values) {
  all(apply(values, 2, function(own) length(unique(own[!is.na(own)])) <= 1))
}

# Means of columns with their errors over units.
column_means <- function(values) {
  n <- colSums(!is.na(values))
  means <- colMeans(values, na.rm = TRUE)
  variance <- colSums((values - rep(means, each = nrow(values)))^2, na.rm = TRUE) / ifelse(n > 1, n - 1, NA)
  list(mean = means, squared_error = variance / n, n = n, variance = variance)
}

# The mean of the items' means, items weighted alike: one that is refused mostly counts as all others. Its error is over
# units, each by what it adds to the means of the items that it answered.
mean_of_items <- function(values) {
  means <- colMeans(values, na.rm = TRUE)
  n_answers <- colSums(!is.na(values))
  added <- sweep(sweep(values, 2, means), 2, n_answers, "/")
  of_units <- rowSums(added, na.rm = TRUE) / ncol(values)
  n <- nrow(values)
  frame_of(mean = mean(means), squared_error = sum(of_units^2) * n / (n - 1), n = n)
}

differences_of <- function(parts, rows, effects, levels, bound, alpha) {
  model <- column_means(parts$model)
  people <- column_means(parts$people)
  keyed <- function(kind, names, found) {
    as_plain_rows(cbind(frame_of(kind = rep(kind, length(names)), name = names), found))
  }
  of_items <- keyed("item", parts$items, set_against_people(model, people, sqrt(people$variance), bound, alpha))
  sd_people <- sqrt(mean(people$variance, na.rm = TRUE))
  of_all <- keyed("all", NA_character_, set_against_people(
    mean_of_items(parts$model), mean_of_items(parts$people), sd_people, bound, alpha
  ))
  of_effects <- do.call(rbind, lapply(effects, function(name) {
    sides <- lapply(c(FALSE, TRUE), function(is_people) {
      side_effects(rows[rows$is_people == is_people & rows$item %in% parts$items, ], name, levels[[name]])
    })
    shared <- intersect(sides[[1]]$level, sides[[2]]$level)
    of <- lapply(sides, function(side) side[match(shared, side$level), , drop = FALSE])
    keyed("effect", level_terms(name, shared)[seq_along(shared)], set_against_people(
      of[[1]], of[[2]], rep(sd_people, length(shared)), bound, alpha
    ))
  }))
  if (!is.null(of_effects)) of_effects <- with_adjusted(of_effects, alpha)
  rbind(of_all, with_adjusted(of_items, alpha), of_effects)
}

# What each level changes against the first, of one side, with errors over its units.
side_effects <- function(rows, name, levels) {
  present <- unique(as.character(rows[[name]]))
  known <- if (is.null(levels)) sort(present) else intersect(as.character(unlist(levels)), present)
  rows <- rows[!is.na(match(as.character(rows[[name]]), known)), , drop = FALSE]
  if (length(known) < 2) {
    return(frame_of(level = character(), mean = double(), squared_error = double(), n = integer()))
  }
  found <- cell_means(factor(as.character(rows[[name]]), known), list(
    y = rows$value, weights = rep(1, nrow(rows)), cluster = match(rows$unit, unique(rows$unit))
  ))
  variance <- diag(found$covariance) + found$covariance[1, 1] - 2 * found$covariance[1, ]
  frame_of(
    level = known[-1], mean = (found$mean - found$mean[[1]])[-1], squared_error = variance[-1],
    n = rep(length(unique(rows$unit)), length(known) - 1)
  )
}

# `model`, `people`: a `mean` with its `squared_error` and `n` each. `sd` are those of people's answers. Welch's degrees
# of freedom.
set_against_people <- function(model, people, sd, bound, alpha) {
  squared <- model$squared_error + people$squared_error
  std_error <- sqrt(squared)
  df <- squared^2 / (model$squared_error^2 / (model$n - 1) + people$squared_error^2 / (people$n - 1))
  difference <- model$mean - people$mean
  limit <- bound * sd
  p_value <- 2 * stats::pt(-abs(difference / std_error), df)
  p_equivalence <- stats::pt((abs(difference) - limit) / std_error, df)
  half <- stats::qt(1 - alpha / 2, df) * std_error
  half_of_test <- stats::qt(1 - alpha, df) * std_error
  frame_of(
    n_model = as.integer(model$n), n_people = as.integer(people$n), mean_model = model$mean, mean_people = people$mean,
    difference = difference, std_error = std_error, df = df, conf_low = difference - half,
    conf_high = difference + half, p_value = p_value, p_adjusted = p_value, sd_people = sd, bound = limit,
    p_equivalence = p_equivalence, p_equivalence_adjusted = p_equivalence, equivalence_low = difference - half_of_test,
    equivalence_high = difference + half_of_test, finding = verdict_of(difference, limit, std_error, df, alpha)
  )
}

with_adjusted <- function(rows, alpha) {
  rows$p_adjusted <- stats::p.adjust(rows$p_value, "holm")
  rows$p_equivalence_adjusted <- stats::p.adjust(rows$p_equivalence, "holm")
  beyond <- stats::pt((abs(rows$difference) - rows$bound) / rows$std_error, rows$df, lower.tail = FALSE)
  rows$finding <- words_of_verdict(
    rows$p_equivalence_adjusted < alpha, stats::p.adjust(beyond, "holm") < alpha / 2 & rows$std_error > 0
  )
  rows
}

empty_order <- function() {
  columns_of("n_items:whole correlation reliability_model reliability_people corrected conf_low conf_high")
}

order_of <- function(parts, alpha) {
  sides <- lapply(parts[c("model", "people")], function(values) {
    found <- column_means(values)
    frame_of(estimate = found$mean, std_error = sqrt(found$squared_error))
  })
  n <- length(parts$items)
  result <- empty_order()[NA_integer_, ]
  result$n_items <- n
  result[paste0("reliability_", names(sides))] <- lapply(sides, reliability_of)
  if (n < fewest_words || !varies(sides$model$estimate) || !varies(sides$people$estimate)) {
    message(sprintf("%s: too few, or all alike, for an order.", counted(n, "item")))
    return(result)
  }
  result$correlation <- stats::cor(sides$model$estimate, sides$people$estimate)
  units <- frame_of(
    model = seq_len(n), test = rep(1L, n), x = sides$model$estimate, y = sides$people$estimate,
    x_error = sides$model$std_error, y_error = sides$people$std_error
  )
  if (!anyNA(units)) {
    found <- suppressWarnings(level_correlations(units, alpha))["corrected", ]
    if (!is.na(found[[1]])) result[c("corrected", "conf_low", "conf_high")] <- as.list(found)
  }
  if (is.na(result$corrected)) {
    reason <- if (anyNA(units)) "an item has a single answer" else "means of items differ no more than by chance"
    message(sprintf("The order of items is not corrected for errors: %s on one side.", reason))
  }
  result
}
