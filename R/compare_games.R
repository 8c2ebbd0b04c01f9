#' Do two conditions of a hiring game stratify differently?
#'
#' Differences of the indices of [game_indices()] between conditions, with a bootstrap over whole games (each
#' condition's games are drawn again on their own) and a studentised permutation test: games are dealt out again to the
#' two conditions, and what is compared is the difference in standard errors. The paper prints such p values for a
#' higher temperature: ask with `between = "variant"` and `reference = "main"`. `analyze differences` keeps the same
#' numbers in the database, in the view `game_comparisons`.
#'
#' The standard error is the jackknife's, leaving out one game at a time (of a mean over games this is `sd / sqrt(n)`;
#' GASI, which is between games, has no other). p is exact where the games of both conditions are alike in all respects,
#' and holds as games become many where they have the same index but vary otherwise. The difference itself, dealt out in
#' the same way, gives `p_unstudentised`: too small where the condition with the fewer games is the more varied.
#' In 2,000 simulated pairs of 10 and 30 games with the same mean SI, the 10 far more varied, `p_unstudentised` was at
#' most .05 in 22 %, `p_value` in 6.5 % (Monte Carlo error .5; 7.7 % where the 10 were skewed, too).
#' Games of several models or answer formats that lie in one condition are not alike: name these columns in `strata`,
#' and games are dealt out, drawn again, and their variances taken, only among those of the same kind.
#'
#' @inheritParams game_indices
#' @param between name of the column that tells conditions apart.
#' @param reference the condition that each other one is compared with; `NULL` takes the first in the data.
#' @param by names of further columns: comparisons are made within each of their values (`"model"`).
#' @param indices names of the indices to compare.
#' @param strata names of columns of kinds of games that each condition holds, best as many of each (`"model"`).
#' @param n_draws number of bootstrap draws, and of permutations: 1 or more.
#' @param adjust method of [stats::p.adjust()]; all comparisons of one index are corrected together, those of other
#'   indices on their own: who looks for any difference in three indices looks three times.
#' @param seed of the draws, a whole number; each comparison starts from it again.
#' @return A data frame with one row per comparison and index: the columns `by`, `condition`, `reference`, `index`,
#'   `n_games`, `n_games_reference`, `difference` (condition minus reference), `std_error` (jackknife), `mde` (the
#'   smallest difference that a t test with this standard error finds with a power of 80 %; Welch's degrees of
#'   freedom), `boot_low` and `boot_high` (95 %), `p_value` (studentised) and `p_unstudentised` (both two-sided, `(1 +
#'   as far from 0) / (1 + permutations)`), `n_comparisons` and `p_adjusted` (of `p_value`). NA where an index is not
#'   defined; no bootstrap where a side has fewer than five games; no `p_value` where a game left out leaves no index
#'   (two games for GASI).
#' @source Wu, Liu, Bai & Griffiths, section 5.1 (p values for temperature; their test is not stated). Studentised
#'   permutation: Chung & Romano (2013), Annals of Statistics 41, 484-507.
#' @export
#' @examples
#' rounds <- data.frame(
#'   variant = rep(c("main", "steer_fair"), each = 48), game = rep(1:12, each = 8),
#'   class = rep(c("high", "low"), 48), choice = c(rep(c("A", "B"), 24),
#'     rep(c("A", "A", "B", "B"), 12))
#' )
#' compare_games(rounds, indices = "si", n_draws = 99)
compare_games <- function(data, between = "variant", reference = NULL, by = NULL, indices = c("si", "bgd", "gasi"),
                          n_classes = NULL, n_draws = 2000, adjust = "holm", seed = 20260101, strata = NULL) {
  check_arguments(more = list(n_draws = argument_kinds$whole(1)))
  check_columns(data, c(by, between, strata, "game", "class", "choice"), to = "compare games")
  unknown <- setdiff(indices, index_names)
  if (length(unknown) > 0 || length(indices) == 0) {
    stop_with(sprintf("Can't compare games: there is no index %s.", quoted(unknown)),
              sprintf("Indices are: %s.", quoted(index_names)))
  }
  if (!adjust %in% stats::p.adjust.methods) {
    stop_with(sprintf("Can't compare games: `adjust` must be one of %s.", quoted(stats::p.adjust.methods)))
  }
  check_games_apart(data, c(by, strata), between, to = "compare games")
  comparisons <- over_cells_of_games(data, by, function(rows) {
    compared_conditions(rows, between, reference, indices, n_classes, n_draws, seed, strata)
  })
  comparisons <- with_adjusted_p(comparisons, adjust)
  # Of more comparisons no p from so few permutations could come out small, but for false discovery rates, of many.
  n <- if (adjust %in% c("none", "BH", "fdr")) 1 else max(comparisons$n_comparisons)
  if (n / (1 + n_draws) > .05) {
    warning(
      sprintf("%.0f permutations are too few for %s: no corrected p can be below %.2g. ",
              n_draws, counted(max(comparisons$n_comparisons), "comparison"), min(n / (1 + n_draws), 1)),
      sprintf("`n_draws` must be %.0f or more.", 20 * n - 1), call. = FALSE
    )
  }
  comparisons
}

# All comparisons of one index make a family.
with_adjusted_p <- function(comparisons, adjust) {
  index <- comparisons$index
  p_value <- comparisons$p_value
  comparisons$n_comparisons <- as.integer(stats::ave(as.double(!is.na(p_value)), index, FUN = sum))
  comparisons$p_adjusted <- stats::ave(p_value, index, FUN = function(p) stats::p.adjust(p, adjust))
  comparisons
}

compared_conditions <- function(rows, between, reference, indices, n_classes, n_draws, seed, strata = NULL) {
  conditions <- unique(as.character(rows[[between]]))
  reference <- if (is.null(reference)) conditions[[1]] else reference
  others <- setdiff(conditions, reference)
  if (!reference %in% conditions || length(others) == 0) {
    stop_with(
      sprintf("Can't compare games: \"%s\" must have the reference %s and another value.", between, quoted(reference)),
      sprintf("Found: %s.", quoted(conditions))
    )
  }
  do.call(rbind, lapply(others, function(other) {
    compared <- rows[as.character(rows[[between]]) %in% c(reference, other), , drop = FALSE]
    # two conditions may number their games alike
    compared$game <- paste(as.character(compared[[between]]), compared$game, sep = "\r")
    counts <- game_counts(compared)
    is_other <- startsWith(dimnames(counts)[[1]], paste0(other, "\r"))
    stratum <- group_codes(compared, strata)[match(dimnames(counts)[[1]], compared$game)]
    tested <- tested_difference(measured_games(counts, n_classes), is_other, indices, n_draws, seed, stratum)
    cbind(data.frame(condition = other, reference = reference), tested)
  }))
}

tested_difference <- function(measured, is_other, indices, n_draws, seed, stratum = rep(1L, length(is_other))) {
  n <- length(is_other)
  strata <- unname(split(seq_len(n), stratum))
  k <- seq_along(indices)
  # three sets of weights side by side: who is dealt to the condition, and either condition's games drawn again
  differences <- function(weights) {
    part <- function(k) weights[, (k - 1) * n + seq_len(n), drop = FALSE]
    drawn_again <- difference_of(measured, part(2), part(3), indices)
    cbind(drawn_again, studentised_difference(measured, part(1), strata, indices))
  }
  observed <- studentised_difference(measured, t(+is_other), strata, indices)[1, ]
  again <- function(side) {
    drawn <- lapply(strata, function(games) games[side[games]][sample.int(sum(side[games]), replace = TRUE)])
    tabulate(unlist(drawn), n)
  }
  dealt_out <- function() {
    is_dealt <- is_other
    for (games in strata) is_dealt[games] <- is_other[games][sample.int(length(games))]
    +is_dealt
  }
  draw <- function() c(dealt_out(), again(is_other), again(!is_other))
  drawn <- with_seed(seed, measured_draws(n_draws, 3 * n, draw, differences))
  dealt <- drawn[, -k, drop = FALSE]
  limits <- apply(drawn[, k, drop = FALSE], 2, stats::quantile, probs = c(.025, .975), na.rm = TRUE, names = FALSE)
  limits[, min(sum(is_other), sum(!is_other)) < least_games_drawn | is.na(observed[k])] <- NA_real_
  # Rounding must not make a permutation less far out than itself.
  n_as_far <- rowSums(abs(t(dealt)) >= abs(observed) * (1 - 1e-12) - 1e-12, na.rm = TRUE)
  p_value <- unname(ifelse(is.na(observed), NA_real_, (1 + n_as_far) / (1 + colSums(!is.na(dealt)))))
  std_error <- unname(observed[k + 2 * length(k)])
  df <- difference_df(measured, is_other, strata, indices)
  data.frame(
    index = indices, n_games = sum(is_other), n_games_reference = sum(!is_other), difference = unname(observed[k]),
    std_error = std_error, mde = minimum_detectable_effect(std_error, df), boot_low = limits[1, ],
    boot_high = limits[2, ], p_value = p_value[k + length(k)], p_unstudentised = p_value[k], row.names = NULL
  )
}

# Welch's degrees of freedom of each index: every stratum of either side has a mean of its own.
difference_df <- function(measured, is_other, strata, indices) {
  parts <- lapply(list(is_other, !is_other), function(side) {
    lapply(strata, function(games) {
      own <- intersect(games, which(side))
      variance <- jackknife_variance(measured, t(+side), list(own), indices)[1, ]
      list(variance = variance, squared_by_df = variance^2 / (length(own) - 1))
    })
  })
  parts <- unlist(parts, recursive = FALSE)
  total <- function(name) Reduce(`+`, lapply(parts, `[[`, name))
  unname(total("variance")^2 / total("squared_by_df"))
}

# For each row of weights (1: a game of the condition, 0: of the reference): the difference of each index, the same in
# standard errors, and these.
studentised_difference <- function(measured, weights, strata, indices) {
  difference <- difference_of(measured, weights, 1 - weights, indices)
  variance <- jackknife_variance(measured, weights, strata, indices) +
    jackknife_variance(measured, 1 - weights, strata, indices)
  std_error <- sqrt(variance)
  t <- difference / ifelse(std_error < 1e-12, 0, std_error)
  t[abs(difference) < 1e-12 & !is.na(variance)] <- 0 # games that are all alike neither differ nor vary
  cbind(difference, t, std_error)
}

difference_of <- function(measured, weights, weights_reference, indices) {
  (weighted_indices(measured, weights) - weighted_indices(measured, weights_reference))[, indices, drop = FALSE]
}
