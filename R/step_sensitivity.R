#' Cohen's d if tokens are only known to the step
#'
#' o3-mini's token counts are multiples of 64: a count of 128 means any number from 65 to 128. How far d may be off
#' for that is found by drawing: in each of `n_draws` rounds every count is replaced by a number drawn uniformly from
#' its step, between `count - (step - 1)` and `count`, and d is computed again as [effect_size()] does it.
#'
#' A count of 0 is taken for a step like any other (as in the published script), although no model reasons for less than
#' no tokens. The second row of each group leaves 0 what it is. Where many counts are 0, the two differ.
#'
#' The step belongs to how a model's tokens are counted, and is found over all of its rows: a test in which a model
#' happens to have counted 128, 256 and 384 only is drawn in steps of 64 if its other tests show that, and counts that
#' are exact are not drawn if those of one test happen to be even.
#'
#' Same rows in the same order, same seed: same numbers, on every machine and from both languages. The random numbers
#' of the session stay as they were.
#'
#' @inheritParams effect_size
#' @param step width of a step in units of the outcome, or the name of a column that holds it. `NULL` finds it as the
#'   greatest common divisor of all counts above 0 of the same `source`, `study`, `study_version`, `variant`, `model`
#'   and `token_source` (those of them that `data` has), as the view `token_sources` does; so give all rows of a model.
#'   A group whose step is not known, because there are fewer than two different counts, fails. With a step of 1 there
#'   is nothing to draw: d comes alone, without a spread, and a message says so.
#' @param n_draws number of rounds.
#' @param seed of the draws, a whole number; each group starts from it again.
#' @param save_to path of an `.rds` file for the drawn d's (a list named by group, each a matrix with one column per
#'   term), or `NULL`.
#' @return The same list of data frames as [effect_size()]. `estimates` has two rows per group, with the terms
#'   `"cohens_d"` and `"cohens_d_zeros_kept"`: `estimate` is the mean of the drawn d's, `std_error` their standard
#'   deviation, `conf_low` and `conf_high` their 2.5 % and 97.5 % quantiles (R's type 7). This says what the steps do,
#'   and nothing about sampling: the interval of d itself is that of [effect_size()].
#' @source Lee & Lai's later repository draws 1,000 times (`runif(tokens - 63, tokens)`); the paper's footnote 1 says
#'   that counts are rounded up.
#' @noRd
step_sensitivity <- function(data, outcome = "tokens", contrast = "condition", levels = NULL, by = NULL, step = NULL,
                             n_draws = 1000, seed = 20250930, save_to = NULL) {
  check_arguments(more = list(n_draws = argument_kinds$whole(2)))
  to <- "find how far steps matter"
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to)
  check_columns(data, c(outcome, contrast, by), to)
  data[[".step"]] <- steps_of_rows(data, outcome, step, to)
  fit_one <- function(rows) {
    check_outcome(rows, outcome)
    labels <- as.character(rows[[contrast]])
    values <- sides(rows[[outcome]], labels, levels, contrast)
    width <- unlist(sides(rows[[".step"]], labels, levels, contrast))
    check_steps(unlist(values), width)
    drawn <- if (all(width == 1)) {
      message("The counts come in steps of 1: nothing is drawn.")
      pooled_variance_of(values[[1]], values[[2]], outcome)
      d <- plain_d(unlist(values), rep(c(TRUE, FALSE), lengths(values)))
      cbind(cohens_d = d, cohens_d_zeros_kept = d)
    } else {
      with_seed(seed, drawn_differences(values, width, n_draws))
    }
    described_draws(drawn, sort(unique(width)), seed)
  }
  slant_fit(fit_each_group(data, by, c(outcome, contrast, ".step"), fit_one, save_to))
}

# The step of each row: as given, or that of all counts of its model; 0 where it is not known, so that no row is
# taken for one with a missing value.
steps_of_rows <- function(data, outcome, step, to) {
  if (is.character(step) && length(step) == 1) {
    check_columns(data, step, to)
    steps <- as.double(data[[step]])
  } else if (!is.null(step)) {
    if (!is.numeric(step) || length(step) != 1 || !is.finite(step) || step < 1) {
      stop_with(sprintf("Can't %s: `step` must be a number, 1 or more, or the name of a column.", to))
    }
    steps <- rep(step, nrow(data))
  } else {
    kinds <- intersect(c("source", "study", "study_version", "variant", "model", "token_source"), names(data))
    steps <- rep(NA_real_, nrow(data))
    for (rows in group_rows(data, kinds)) {
      counts <- data[[outcome]][rows]
      counts <- counts[!is.na(counts)]
      if (is.numeric(counts) && all(is.finite(counts))) { # else check_outcome() says what is wrong
        steps[rows] <- if (any(counts != round(counts))) 1 else token_step(counts)
      }
    }
  }
  replace(steps, is.na(steps), 0)
}

check_steps <- function(counts, steps) {
  if (any(steps < 1)) {
    stop_with(
      "The step of the counts is not known: the model has fewer than two different counts above 0.",
      "Give it as `step`, a number, 1 or more; in a study file: settings = { step = 1 }."
    )
  }
  is_off <- counts %% steps != 0 & steps != 1
  if (any(is_off)) {
    stop_with(sprintf("Not all counts are multiples of the step %s.", format(steps[is_off][[1]])))
  }
}

# One row per draw: d with every count drawn, and with the counts of 0 left alone.
drawn_differences <- function(values, step, n_draws) {
  counts <- unlist(values)
  is_reference <- seq_along(counts) <= length(values[[1]])
  is_zero <- counts == 0
  lowest <- counts - (step - 1)
  differences <- vapply(seq_len(n_draws), function(i) {
    drawn <- stats::runif(length(counts), lowest, counts)
    c(plain_d(drawn, is_reference), plain_d(replace(drawn, is_zero, 0), is_reference))
  }, c(cohens_d = 1, cohens_d_zeros_kept = 1))
  t(differences)
}

described_draws <- function(drawn, step, seed) {
  of_column <- function(statistic, ...) unname(apply(drawn, 2, statistic, ...))
  list(
    estimates = estimate_rows(
      colnames(drawn), of_column(mean), if (nrow(drawn) > 1) of_column(stats::sd) else 0,
      conf_low = of_column(stats::quantile, .025), conf_high = of_column(stats::quantile, .975)
    ),
    fit = list(
      n_groups = 2L, singular = FALSE,
      optimiser = sprintf(
        "%d draws, step %s, seed %s", nrow(drawn) * any(step > 1), paste(format(step), collapse = " and "), format(seed)
      )
    ),
    model = drawn
  )
}

# d alone, without the checks and the interval: it is computed thousands of times.
plain_d <- function(values, is_reference) {
  reference <- values[is_reference]
  other <- values[!is_reference]
  (mean(other) - mean(reference)) / sqrt(pooled_variance(reference, other))
}

# The greatest common divisor of all counts but 0.
token_step <- function(tokens) {
  counts <- unique(tokens[tokens > 0])
  if (length(counts) < 2) NA_real_ else greatest_divisor(counts)
}

greatest_divisor <- function(counts) {
  divisor <- function(a, b) if (b == 0) a else divisor(b, a %% b)
  Reduce(divisor, counts)
}
