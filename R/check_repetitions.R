#' Are repetitions answers of their own?
#'
#' A model that is asked the same again may answer the same again, to the token, as most do at temperature 0: such
#' repetitions are one answer, and an analysis that counts each of them has intervals that are too narrow. This counts
#' the combinations (a word in a wording and condition) whose repetitions are all the same, by temperature, next to how
#' many would be if answers were drawn at random from those of the group: short or stepwise counts agree by chance.
#'
#' @inheritParams check_skew
#' @param data a data frame with one row per trial: `item`, `wording`, the outcome and the contrast; used if present:
#'   `group`, and `temperature` (missing: the provider's own).
#' @return A data frame with one row per group and temperature: `temperature`, `n` trials, `n_repeated` combinations
#' that
#'   were asked more than once, `n_repetitions` (the most), `n_identical` of them whose answers are all the same,
#'   `share_identical`, `share_by_chance`, `n_effective`, trials with such repetitions counted once; `status`,
#'   `messages`.
#' @noRd
check_repetitions <- function(data, by = NULL, outcome = "tokens", contrast = "condition") {
  if (is.null(data$temperature)) data$temperature <- rep(NA_real_, nrow(data))
  if (is.null(data$group)) data$group <- rep("", nrow(data))
  empty <- frame_of(
    temperature = double(), n = integer(), n_repeated = integer(), n_repetitions = integer(), n_identical = integer(),
    share_identical = double(), share_by_chance = double(), n_effective = integer()
  )
  check_each_group(data, by, c(outcome, contrast, "item", "wording"), empty, function(rows) {
    known <- as.double(rows$temperature)
    parts <- lapply(sort(unique(known), na.last = TRUE), function(at) {
      repetitions_of(rows[known %in% at, , drop = FALSE], at, outcome, contrast)
    })
    do.call(rbind, parts)
  })
}

repetitions_of <- function(rows, temperature, outcome, contrast) {
  keys <- c(intersect(c("model", "test"), names(rows)), "group", "item", "wording", contrast)
  values <- split(rows[[outcome]], group_codes(rows, keys))
  repeated <- values[lengths(values) > 1]
  is_identical <- vapply(repeated, function(answers) length(unique(answers)) == 1, NA)
  shares <- table(rows[[outcome]]) / nrow(rows)
  by_chance <- vapply(lengths(repeated), function(n) sum(shares^n), 1)
  frame_of(
    temperature = as.double(temperature), n = nrow(rows), n_repeated = length(repeated),
    n_repetitions = max(lengths(values)), n_identical = sum(is_identical),
    share_identical = if (length(repeated) > 0) mean(is_identical) else NA_real_,
    share_by_chance = if (length(repeated) > 0) mean(by_chance) else NA_real_,
    n_effective = nrow(rows) - sum(lengths(repeated)[is_identical] - 1L)
  )
}
