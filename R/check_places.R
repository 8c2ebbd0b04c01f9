#' Is the option that is shown first chosen more often?
#'
#' In each condition of each group. Where it is known which option would have been right (`expected`: of a forced
#' choice, the consistent one), the share of right answers with that option first is set next to the share with it
#' second, by Fisher's exact test: a preference for a side makes these two differ, however often the right option is
#' chosen. Where none is right (a game), the share of first options is tested against chance, one over the number of
#' options, by the exact randomisation test of the order: had the place no effect, what was chosen would be the same
#' whichever group the draw had put first. The order is drawn once for a conversation (`cluster`), so that the rounds of
#' a game, in which a model goes on choosing the same group, count together.
#'
#' Fisher's test takes answers to be independent. A model that gives the same answer each time that it is asked the same
#' makes p values too small if questions are repeated.
#'
#' @inheritParams check_residuals
#' @param data a data frame with one row per answer; rows without a choice, or whose order is unknown, take no part.
#' @param chosen,first names of the columns that hold the option that was chosen, and the one that was shown first.
#' @param expected name of the column that holds the option that would be right; `NULL` if none is.
#' @param contrast name of the column that holds the condition (of a game, the class of jobs).
#' @param levels the conditions in their order; `NULL` takes that of the data.
#' @param cluster name of the column that distinguishes the conversations for which an order was drawn; `NULL`, or where
#'   the order differs within a conversation: one for each answer.
#' @param n_options the number of options, or the name of the column that holds it.
#' @return A data frame with one row per group and condition: `condition`; `n` answers; `n_first`, in which the first
#'   option was chosen; `rate_first` with `conf_low` and `conf_high` (Wilson's 95 % interval); `chance`;
#'   `detectable`, how far from it 80 % of such studies would find a share;
#'   `rate_expected_first` and `rate_expected_second`, the share of right answers when the right option was first and
#'   second (NA without `expected`), and `side_difference`, the one minus the other; `p_value`, NA where the
#'   order is always the same; `p_holm`, corrected by Holm's method for all rows; `status`, `messages`.
#' @references Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of
#'   the American Statistical Association, 22, 209-212. Fisher, R. A. (1935). The logic of inductive inference. Journal
#'   of the Royal Statistical Society, 98, 39-82. Pitman, E. J. G. (1937). Significance tests which may be applied to
#'   samples from any populations. Supplement to the Journal of the Royal Statistical Society, 4, 119-130.
#' @noRd
check_first_option <- function(data, by = NULL, chosen = "choice", first = "first_option", expected = NULL,
                               contrast = "condition", levels = NULL, n_options = 2, cluster = NULL) {
  levels <- conditions_of(data, contrast, levels)
  needed <- c(chosen, first, expected, cluster, if (is.character(n_options)) n_options)
  check_columns(data, needed, to = "check first options")
  data <- data[!is.na(data[[chosen]]), , drop = FALSE]
  empty <- columns_of(
    "condition:text n:whole n_first:whole rate_first conf_low conf_high chance detectable rate_expected_first",
    "rate_expected_second side_difference p_value"
  )
  table <- with_holm(check_each_group(data, by, c(chosen, contrast), empty, function(rows) {
    rows <- rows[!is.na(rows[[first]]), , drop = FALSE]
    if (nrow(rows) == 0) stop_with("It is not known which option was shown first.")
    # A letter is never the option that it names: such columns would make a share of 0.
    values <- as.character(rows[[chosen]])
    options <- as.character(rows[[first]])
    if (length(unique(options)) > 1 && !any(values %in% options)) {
      warning(sprintf(
        "Nothing in the column %s is among the options in %s: they hold %s and %s, say. Do both name options alike?",
        quoted(chosen), quoted(first), quoted(values[[1]]), quoted(options[[1]])
      ), call. = FALSE)
    }
    by_condition(rows, contrast, levels, first_option_in, chosen, first, expected, n_options, cluster)
  }))
  table$detectable <- detectable_of(table$detectable, sum(!is.na(table$p_value)))
  table
}

first_option_in <- function(rows, chosen, first, expected, n_options, cluster) {
  is_first <- as.character(rows[[chosen]]) == as.character(rows[[first]])
  n <- length(is_first)
  n_first <- sum(is_first)
  n_options <- if (is.character(n_options)) rows[[n_options]] else rep(n_options, n)
  chance <- mean(1 / n_options)
  interval <- wilson(n_first, n)
  row <- data.frame(
    n = n, n_first = n_first, rate_first = n_first / n, conf_low = interval$rate_low, conf_high = interval$rate_high,
    chance = chance, detectable = sqrt(chance * (1 - chance) / n)
  )
  if (is.null(expected)) {
    games <- if (!is.null(cluster)) rows[[cluster]]
    p_value <- p_of_places(as.character(rows[[chosen]]), as.character(rows[[first]]), n_options, games)
    return(cbind(row, p_value = p_value))
  }
  is_right <- rows[[chosen]] == rows[[expected]]
  is_shown_first <- rows[[expected]] == rows[[first]]
  share <- function(where) if (any(where)) mean(is_right[where]) else NA_real_
  counts <- table(factor(is_right, c(FALSE, TRUE)), factor(is_shown_first, c(FALSE, TRUE)))
  cbind(row, data.frame(
    rate_expected_first = share(is_shown_first), rate_expected_second = share(!is_shown_first),
    side_difference = share(is_shown_first) - share(!is_shown_first),
    p_value = if (length(unique(is_shown_first)) == 2) stats::fisher.test(counts)$p.value else NA_real_
  ))
}

# How likely chance alone puts groups first that were chosen as often as those that were, or farther from what is
# expected, in all: the exact distribution of a sum over conversations, in each of which any group may be first.
p_of_places <- function(chosen, first, n_options, cluster) {
  unit <- if (is.null(cluster)) seq_along(chosen) else match(cluster, unique(cluster))
  is_alike <- tapply(first, unit, function(values) length(unique(values)) == 1)
  if (!all(is_alike)) unit <- seq_along(chosen)
  if (length(unique(first)) == 1 && max(n_options) > 1) { # a place that one group always has can't be separated from it
    return(NA_real_)
  }
  share <- 1 # of draws, by the number of first choices from 0 up
  for (rows in split(seq_along(chosen), unit)) {
    k <- n_options[[rows[[1]]]]
    times <- c(table(chosen[rows]))
    times <- c(times, rep(0, max(0, k - length(times))))
    steps <- tabulate(times + 1, length(rows) + 1) / length(times)
    longer <- rep(0, length(share) + length(steps) - 1)
    for (i in which(steps > 0)) {
      places <- i - 1 + seq_along(share)
      longer[places] <- longer[places] + steps[[i]] * share
    }
    share <- longer
  }
  off <- abs(seq_along(share) - 1 - sum((seq_along(share) - 1) * share))
  observed <- off[[sum(chosen == first) + 1]]
  min(1, sum(share[off >= observed - 1e-9]))
}

#' Can the condition be distinguished from the order of the options?
#'
#' In the RM-IAT as published the option that the first group goes to is named first, so that the order of the options
#' changes with the condition: whatever the order does to a model looks like an effect of the condition. Where the
#' order varies within conditions (the study's variant `balanced`), the effect of each is estimated next to the other.
#'
#' @inheritParams check_residuals
#' @param first name of the column that holds the option that is named first.
#' @param contrast name of the column that holds the condition.
#' @return A data frame with one row per group: `n` trials whose order is known; `n_orders`, how many options come first
#'   in some trial; `association`, Cramér's V of order and condition (1: one tells the other); `is_confounded` (V is 1);
#'   `estimate` and `p_value`, the condition effect with the order in the model, in units of the outcome;
#'   `estimate_order` and `p_order`, the effect of the order (the second option in alphabetical order first, minus
#'   the other); all four NA if the two can't be distinguished; `status`, `messages`.
#' @noRd
check_option_order <- function(data, formula = "tokens ~ condition + (1 | wording)", by = NULL, levels = NULL,
                               first = "first_option", contrast = "condition") {
  levels <- if (is.null(levels)) stats::setNames(list(levels_of(data, contrast)), contrast) else levels
  check_columns(data, c(first, contrast), to = "check the order of options")
  checked_formula(formula, names(data))
  empty <- columns_of("n:whole n_orders:whole association is_confounded:flag estimate p_value estimate_order p_order")
  check_each_group(data, by, contrast, empty, function(rows) {
    rows <- rows[!is.na(rows[[first]]), , drop = FALSE]
    if (nrow(rows) == 0) stop_with("It is not known which option was named first.")
    counts <- table(as.character(rows[[first]]), as.character(rows[[contrast]]))
    association <- cramers_v(counts)
    row <- data.frame(
      n = nrow(rows), n_orders = nrow(counts), association = association,
      is_confounded = !is.na(association) && association > 1 - 1e-9
    )
    can_tell <- !row$is_confounded && nrow(counts) > 1
    if (can_tell) cbind(row, order_effects(rows, formula, levels, first)) else row
  })
}

cramers_v <- function(counts) {
  if (min(dim(counts)) < 2) {
    return(NA_real_)
  }
  expected <- outer(rowSums(counts), colSums(counts)) / sum(counts)
  sqrt(sum((counts - expected)^2 / expected) / sum(counts) / (min(dim(counts)) - 1))
}

order_effects <- function(rows, formula, levels, first) {
  options <- sort(unique(as.character(rows[[first]])), method = "radix")
  rows$first_option_ <- as.character(rows[[first]])
  fit <- fit_lme4(
    rows, paste(deparse1(checked_formula(formula, names(rows))), "+ first_option_"),
    levels = c(levels, list(first_option_ = options))
  )
  if (fit$fits$status == "failed") stop_with(fit$fits$error)
  for (text in fit$messages$text) warning(text, call. = FALSE)
  is_order <- startsWith(fit$estimates$term, "first_option_")
  effect <- fit$estimates[fit$estimates$term != "intercept" & !is_order, ][1, ]
  of_order <- fit$estimates[is_order, ][1, ]
  data.frame(
    estimate = effect$estimate, p_value = effect$p_value,
    estimate_order = of_order$estimate, p_order = of_order$p_value
  )
}

#' Is the effect of the condition the same with the order in the model?
#'
#' A logistic regression ([stats::glm()]) of each further condition against the first, without the order, with it, and
#' with an interaction of both. The order is whatever column is named: whether the right option was shown first, or
#' whether a block was asked first. p values are of likelihood ratios, which stay valid if all answers of a cell are
#' alike and Wald's do not; there the coefficients have no finite value and are NA.
#'
#' @inheritParams check_first_option
#' @param data a data frame with one row per answer; those that are not valid (`outcome` is NA) take no part.
#' @param outcome name of the column that is TRUE or FALSE (or 1 and 0).
#' @param order name of the column that holds the order, of two values.
#' @param alpha the level of significance.
#' @return A data frame with one row per group and further condition: `condition`, `reference`; `n` answers whose order
#'   is known; `association`, Cramér's V of order and condition; `is_confounded` (V is 1: one tells the other, and
#'   nothing below is known); `estimate` and `p_value`, of the condition in log odds, reference less condition;
#'   `estimate_ordered` and `p_ordered`, the same with the order in the model; `estimate_order` and `p_order`, of the
#'   order (its second value less its first); `p_interaction`; `changes_conclusion` (significant, or of another sign
#'   while significant, in only one of the two); `p_holm`, `p_interaction` corrected by Holm's method for all rows;
#'   `status`, `messages`.
#' @references McCullagh, P. & Nelder, J. A. (1989). Generalized Linear Models, chapter 4. Hauck, W. W. & Donner, A.
#'   (1977). Wald's test as applied to hypotheses in logit analysis. Journal of the American Statistical Association,
#'   72, 851-853.
#' @noRd
check_order_effect <- function(data, order, by = NULL, outcome = "is_consistent", contrast = "condition", levels = NULL,
                               alpha = .05) {
  check_arguments()
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(outcome, order), to = "check the order")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- columns_of(
    "condition:text reference:text n:whole association is_confounded:flag estimate p_value estimate_ordered",
    "p_ordered estimate_order p_order p_interaction changes_conclusion:flag"
  )
  with_holm(check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    rows <- rows[!is.na(rows[[order]]), , drop = FALSE]
    if (length(unique(rows[[order]])) < 2) {
      stop_with(if (nrow(rows) == 0) "The order is not known." else "The order is the same in all answers.")
    }
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      both <- rbind(reference, other)
      is_other <- rep(0:1, c(nrow(reference), nrow(other)))
      order_in_logit(zeros_and_ones(both[[outcome]], outcome), is_other, as.character(both[[order]]), alpha)
    })
  }), "p_interaction")
}

order_in_logit <- function(y, is_other, order, alpha) {
  counts <- table(order, is_other)
  association <- cramers_v(counts)
  row <- data.frame(
    n = length(y), association = association, is_confounded = is.na(association) || association > 1 - 1e-9
  )
  if (row$is_confounded) {
    return(row)
  }
  second <- as.integer(order == max(order))
  fits <- list(none = cbind(1), order = cbind(1, second), condition = cbind(1, is_other),
               both = cbind(1, is_other, second), crossed = cbind(1, is_other, second, is_other * second))
  # Warnings of probabilities of 0 and 1 say what check_separation() says.
  fits <- lapply(fits, function(x) {
    suppressWarnings(stats::glm.fit(matrix(x, length(y), ncol(x)), y, family = stats::binomial()))
  })
  p_of <- function(small, large) {
    gain <- max(0, fits[[small]]$deviance - fits[[large]]$deviance)
    stats::pchisq(gain, fits[[large]]$rank - fits[[small]]$rank, lower.tail = FALSE)
  }
  alone <- -fits$condition$coefficients[[2]]
  both <- -fits$both$coefficients[[2]]
  p_alone <- p_of("none", "condition")
  p_both <- p_of("order", "both")
  cbind(row, data.frame(
    estimate = finite(alone), p_value = p_alone, estimate_ordered = finite(both), p_ordered = p_both,
    estimate_order = finite(fits$both$coefficients[[3]]), p_order = p_of("condition", "both"),
    p_interaction = p_of("both", "crossed"),
    changes_conclusion = conclusion(alone, p_alone, alpha) != conclusion(both, p_both, alpha)
  ))
}

# Log odds beyond 10 are those of cells in which all answers are alike: they grow as long as glm() goes on.
finite <- function(log_odds) if (abs(log_odds) > 10) NA_real_ else log_odds

#' Does the place of a profile, or of a question in a session, change the answer?
#'
#' Two things: do answers differ between places (the second of two profiles is chosen less often, say), and do levels of
#' an attribute matter more at one place than at another?
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per profile.
#' @param outcome name of the column with the choice (0 or 1) or the rating.
#' @param places names of the columns with places: of the profile in its question, of the question in the session.
#' @param attributes names of the columns with the levels that were shown, or `NULL`.
#' @param cluster see [marginal_means()].
#' @return A data frame with one row per place (`kind` is `"place"`): `place` (the column), `at`, `n`, `estimate` (the
#'   mean there), `std_error`, and of the whole column `chi_squared`, `df`, `p_value` (Wald's test that all means are
#'   the same, over clusters); and one per column and attribute (`"attribute"`): `attribute`, with the test that
#'   differences between its levels are the same at all places; `detectable`, a difference between two places (of the
#'   difference between two levels) that 80 % of such studies would find; `status`, `messages`.
#' @noRd
check_position_effects <- function(data, by = NULL, outcome = "chosen", places = "position", attributes = NULL,
                                   cluster = NULL) {
  check_columns(data, cluster, to = "look for effects of places")
  empty <- columns_of(
    "kind:text place:text at:text attribute:text n:whole estimate std_error chi_squared df p_value detectable"
  )
  check_each_group(data, by, c(outcome, places, attributes, cluster), empty, function(rows) {
    used <- attribute_rows(rows, outcome, c(places, attributes), cluster, NULL, NULL)
    stacked(lapply(places, function(place) {
      levels_at <- lapply(attributes, function(name) attribute_at_places(name, place, used))
      found <- cell_means(used$factors[[place]], used)
      n <- length(found$mean)
      means <- data.frame(
        kind = "place", place = place, at = levels(used$factors[[place]]), n = found$n, estimate = found$mean,
        std_error = sqrt(diag(found$covariance)), wald_test(cbind(-1, diag(n - 1)), found, used$cluster)
      )
      stacked(c(list(means), levels_at))
    }))
  })
}

# Each difference between levels at each place, less that at the first place.
attribute_at_places <- function(name, place, rows) {
  cells <- interaction(rows$factors[[name]], rows$factors[[place]], sep = "\037", lex.order = FALSE)
  if (any(tabulate(cells, nlevels(cells)) == 0)) {
    warning(sprintf("Not every level of \"%s\" was shown at every %s: it is not compared.", name, place), call. = FALSE)
    return(NULL)
  }
  found <- cell_means(cells, rows)
  less_first <- function(n) cbind(-1, diag(n - 1))
  weights <- kronecker(less_first(nlevels(rows$factors[[place]])), less_first(nlevels(rows$factors[[name]])))
  tested <- wald_test(weights, found, rows$cluster)
  data.frame(kind = "attribute", place = place, attribute = name, n = sum(found$n), tested)
}

# Of few clusters the statistic is an F distribution's.
wald_test <- function(weights, found, cluster) {
  difference <- weights %*% found$mean
  covariance <- weights %*% found$covariance %*% t(weights)
  solved <- tryCatch(solve(covariance, difference), error = function(problem) NULL)
  chi_squared <- if (is.null(solved)) NA_real_ else sum(difference * solved)
  df <- as.double(nrow(weights))
  n_left <- length(unique(cluster)) - df
  if (n_left < 1) n_left <- chi_squared <- NA_real_
  list(
    chi_squared = chi_squared, df = df,
    p_value = stats::pf(chi_squared * n_left / (df * (n_left + df - 1)), df, n_left, lower.tail = FALSE),
    detectable = sqrt(noncentrality_of_squares(df, .001) * max(diag(covariance)))
  )
}
