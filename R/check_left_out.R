#' Does one word, wording or repetition carry the difference?
#'
#' The difference between two conditions in the share of an answer, as observed, without each word, each category, each
#' wording (or whatever columns are named) in turn. Nothing is fitted, so that it takes no time.
#'
#' @inheritParams check_missing_bounds
#' @param parts names of the columns whose values are left out in turn; one that has a single value takes no part.
#' @return A data frame with one row per group, further condition and value left out: `condition`, `reference`; `part`
#'   (the column), `left_out` (its value), `n_left_out` (valid answers); `delta_p_all`, of all valid answers (reference
#'   less condition) with `conf_low_all` and `conf_high_all` (Newcombe's 95 % interval); `delta_p` without these;
#'   `change`, the one less the other; `carries_effect`: 0 lies outside the interval of all, and without these the
#'   difference is less than half as large, or of the other sign; `status`, `messages`.
#' @references Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions.
#'   Statistics in Medicine, 17, 873-890. Tukey, J. W. (1958). Bias and confidence in not quite large samples. Annals of
#'   Mathematical Statistics, 29, 614.
#' @noRd
check_left_out <- function(data, by = NULL, parts = c("item", "wording"), outcome = "is_consistent",
                           contrast = "condition", levels = NULL) {
  levels <- conditions_of(data, contrast, levels)
  check_columns(data, c(outcome, parts), to = "leave rows out")
  data <- data[!is.na(data[[outcome]]), , drop = FALSE]
  empty <- data.frame(
    condition = character(), reference = character(), part = character(), left_out = character(),
    n_left_out = integer(), delta_p_all = double(), conf_low_all = double(), conf_high_all = double(),
    delta_p = double(), change = double(), carries_effect = logical()
  )
  check_each_group(data, by, c(outcome, contrast), empty, function(rows) {
    parts <- parts[vapply(rows[parts], function(values) length(unique(values)) > 1, NA)]
    if (length(parts) == 0) {
      stop_with("There is nothing to leave out: all of these answers are to one word in one wording.")
    }
    compared_with_reference(rows, contrast, levels, function(reference, other) {
      do.call(rbind, lapply(parts, function(part) without_each(reference, other, part, outcome)))
    })
  })
}

without_each <- function(reference, other, part, outcome) {
  values <- unique(c(as.character(reference[[part]]), as.character(other[[part]])))
  counts <- lapply(list(reference, other), function(rows) {
    labels <- factor(as.character(rows[[part]]), values)
    y <- zeros_and_ones(rows[[outcome]], outcome)
    data.frame(
      n = as.vector(table(labels)), true = as.vector(tapply(y, labels, sum, default = 0)), all_n = length(y),
      all_true = sum(y)
    )
  })
  left <- lapply(counts, function(side) data.frame(true = side$all_true - side$true, n = side$all_n - side$n))
  whole <- lapply(counts, function(side) side[1, ])
  all_rows <- share_difference(whole[[1]]$all_true, whole[[1]]$all_n, whole[[2]]$all_true, whole[[2]]$all_n)
  delta_p <- left[[1]]$true / left[[1]]$n - left[[2]]$true / left[[2]]$n
  delta_p[is.nan(delta_p)] <- NA_real_
  is_shown <- all_rows$conf_low > 0 || all_rows$conf_high < 0
  data.frame(
    part = part, left_out = values, n_left_out = counts[[1]]$n + counts[[2]]$n, delta_p_all = all_rows$delta_p,
    conf_low_all = all_rows$conf_low, conf_high_all = all_rows$conf_high, delta_p = delta_p,
    change = delta_p - all_rows$delta_p,
    carries_effect = is_shown & delta_p * sign(all_rows$delta_p) < abs(all_rows$delta_p) / 2
  )
}
