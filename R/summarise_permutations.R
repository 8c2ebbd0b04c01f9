#' Sum up a permutation test
#'
#' What was observed in each cell next to the distribution of the same quantity over the permutations.
#'
#' The observed value is that of `number` 0: the data as they are, fitted with the same settings as the permutations.
#' Its own Monte Carlo error is then exchangeable with theirs, as the test wants it; the main fit's value, from longer
#' chains, belongs next to it, not in its place. What it is to be compared with says [permutation_test()]: under
#' treatment coding the coefficients of the other cells include the reference cell's. A cell with hardly a failure
#' follows the reference cell's difference through the priors, and a small p there is no evidence of its own.
#'
#' Refits without a value (failed, or a condition of the cell was lost) don't take part, and are counted; those that are
#' doubtful (divergent, unconverged) do, and are counted.
#'
#' @param cells,refits data frames with one row per refit and cell, and one per refit: those of `refit_permutation()`,
#'   stacked, `number` 0 among them.
#' @param within names of the columns that make a cell.
#' @return The `tests` of [permutation_test()], which explains its columns. The interval of p says how far other
#'   permutations could move it; `noise_share` widens the null, and so makes p too large rather than too small.
#' @source Cohen & Kincaid (2026), section 3.2. p: Phipson & Smyth (2010).
#' @noRd
summarise_permutations <- function(cells, refits, within = c("model", "test")) {
  within <- our_words(within)
  check_columns(cells, c("number", within, "is_separated"), to = "sum up permutations")
  check_columns(refits, c("number", "status", "n_divergent"), to = "sum up permutations")
  columns <- intersect(c("delta_p", "delta_p_items", "s"), names(cells))
  numbers <- setdiff(refits$number, 0)
  if (!0 %in% refits$number || length(numbers) == 0 || anyDuplicated(refits$number) > 0) {
    stop_with("Can't sum up permutations: `refits` must hold number 0 (the data as observed) and others, each once.")
  }
  keys <- unit_keys(cells, within)
  by_column <- lapply(columns, function(column) {
    do.call(rbind, lapply(unique(keys), function(key) one_cell(cells[keys == key, ], refits, column, within)))
  })
  tests <- do.call(rbind, by_column)
  as_plain_rows(tests[!(is.na(tests$observed) & tests$n == 0), ])
}

one_cell <- function(rows, refits, column, within) {
  key <- rows[1, within, drop = FALSE]
  observed <- rows[[column]][rows$number == 0]
  observed <- if (length(observed) == 1) observed else NA_real_
  rows <- rows[rows$number != 0 & is.finite(rows[[column]]), ]
  refits <- refits[refits$number != 0, ]
  n_failed <- nrow(refits) - nrow(rows)
  cbind(
    key,
    data.frame(
      kind = if (column == "delta_p_items") "item_averaged" else "population",
      scale = if (column == "s") "s" else "delta_p", observed = observed
    ),
    null_distribution(rows[[column]]),
    data.frame(
      n = nrow(rows), n_failed = n_failed,
      n_divergent = sum(refits$n_divergent > 0, na.rm = TRUE),
      n_unconverged = if (is.null(rows$rhat)) 0L else sum(is_unconverged(rows)),
      n_warned = sum(refits$status == "warned"), n_separated = sum(rows$is_separated)
    ),
    tail_probabilities(rows[[column]], observed, n_failed),
    data.frame(noise_share = noise_share(rows, column))
  )
}

null_distribution <- function(values) {
  if (length(values) == 0) {
    return(as.data.frame(stats::setNames(as.list(rep(NA_real_, 5)), null_columns())))
  }
  quantiles <- stats::quantile(values, c(.025, .5, .975), names = FALSE)
  as.data.frame(stats::setNames(as.list(c(mean(values), stats::sd(values), quantiles)), null_columns()))
}

null_columns <- function() c("null_mean", "null_sd", "null_low", "null_median", "null_high")

tail_probabilities <- function(values, observed, n_failed) {
  n <- length(values)
  k <- c(sum(values >= observed), sum(values <= observed))
  if (is.na(observed) || n == 0) {
    k <- c(NA, NA)
  }
  larger <- clopper_pearson(k[[1]], n)
  smaller <- clopper_pearson(min(k), n)
  data.frame(
    n_as_large = as.integer(k[[1]]), p_one_sided = (1 + k[[1]]) / (1 + n), p_low = larger[[1]], p_high = larger[[2]],
    p_two_sided = min(1, 2 * (1 + min(k)) / (1 + n)), p_two_sided_low = min(1, 2 * smaller[[1]]),
    p_two_sided_high = min(1, 2 * smaller[[2]]), p_if_failed_large = (1 + k[[1]] + n_failed) / (1 + n + n_failed)
  )
}

# The exact 95 % interval of a share.
clopper_pearson <- function(k, n) {
  if (is.na(k)) {
    return(c(NA_real_, NA_real_))
  }
  c(
    if (k == 0) 0 else stats::qbeta(.025, k, n - k + 1),
    if (k == n) 1 else stats::qbeta(.975, k + 1, n - k)
  )
}

noise_share <- function(rows, column) {
  mcse <- rows[[paste0(column, "_mcse")]]
  if (is.null(mcse) || nrow(rows) < 2 || anyNA(mcse)) NA_real_ else mean(mcse^2) / stats::var(rows[[column]])
}
