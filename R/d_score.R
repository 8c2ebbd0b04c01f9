# The D score of an implicit association test, by the improved algorithm of Greenwald, Nosek & Banaji (2003, Table 4):
#
# 1. Latencies above 10,000 ms are dropped.
# 2. People with more than 10 % of their latencies below 300 ms are left out.
# 3. An error counts as the mean of the correct latencies of its block, plus 600 ms.
# 4. Of each phase (practice, test): the second condition's mean less the first's, over the standard deviation of all
#    latencies of both blocks together, as they came (errors with their own latency; n - 1).
# 5. D is the mean of the phases.

max_latency <- 10000
fast_latency <- 300
max_fast_share <- .1
error_penalty <- 600

# An engine. `data`: a row per trial of a person (`unit`): `outcome` is the latency in milliseconds, `error` a column
# that is TRUE where the wrong key was pressed, `phase` one that tells practice from test (NULL, or where no row says
# it: one phase). `levels`:
# the compatible condition, then the other. `estimates`: the mean D over people ("d_score"), with t over people;
# `tables$people`: D of each, and why somebody is left out.
d_score <- function(data, outcome = "response_time_ms", contrast = "condition", levels = NULL, by = NULL,
                    unit = "participant", error = "is_error", phase = "phase") {
  to <- "compute D scores"
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to)
  columns <- c(outcome, contrast, unit, error)
  check_columns(data, c(columns, phase, by), to)
  is_unsaid <- !is.null(phase) && all(is.na(data[[phase]]))
  phase <- if (is_unsaid) NULL else phase
  slant_fit(fit_each_group(data, by, c(columns, phase), function(rows) {
    check_outcome(rows, outcome)
    if (is_unsaid) message("No row says its phase: D is of one phase.")
    trials <- frame_of(
      unit = as.character(rows[[unit]]), latency = as.double(rows[[outcome]]), side = as.character(rows[[contrast]]),
      is_error = as.logical(rows[[error]]), phase = if (is.null(phase)) rep("", nrow(rows)) else rows[[phase]]
    )
    trials <- trials[trials$side %in% levels, , drop = FALSE]
    people <- do.call(rbind, lapply(split(trials, factor(trials$unit, unique(trials$unit))), d_of_person, levels))
    people <- as_plain_rows(people)
    scores <- people$d[!is.na(people$d)]
    n_out <- sum(nzchar(people$left_out))
    n_each <- table(people$left_out[nzchar(people$left_out)])
    who <- if (n_out == 1) "1 person" else paste(n_out, "people")
    if (n_out > 0) message(sprintf("%s left out: %s.", who, toString(sprintf("%d %s", n_each, names(n_each)))))
    if (length(scores) < 2) stop_with("A mean D needs at least two people who are not left out.")
    std_error <- stats::sd(scores) / sqrt(length(scores))
    list(
      estimates = tested_rows("d_score", mean(scores), std_error, length(scores) - 1),
      fit = list(n_groups = length(scores), singular = FALSE, optimiser = "D, Greenwald, Nosek & Banaji (2003)"),
      variances = frame_of(group = unit, term = "d_score", variance = stats::var(scores), n_groups = length(scores)),
      tables_of_group = list(people = people)
    )
  }))
}

d_of_person <- function(trials, levels) {
  kept <- trials[trials$latency <= max_latency, , drop = FALSE]
  n_slow <- nrow(trials) - nrow(kept)
  share_fast <- if (nrow(kept) > 0) mean(kept$latency < fast_latency) else NA_real_
  is_fast <- isTRUE(share_fast > max_fast_share)
  of_phases <- vapply(split(kept, kept$phase), d_of_phase, 1, levels)
  d <- if (is_fast || length(of_phases) == 0 || anyNA(of_phases)) NA_real_ else mean(of_phases)
  frame_of(
    unit = trials$unit[[1]], d = d, n = nrow(kept), n_slow = n_slow, n_errors = sum(kept$is_error),
    share_fast = share_fast, n_phases = length(of_phases),
    left_out = if (is_fast) "too fast" else if (is.na(d)) "a block is missing" else ""
  )
}

# NA where a block of one of both conditions is missing, has no correct answer, or nothing varies.
d_of_phase <- function(trials, levels) {
  spread <- stats::sd(trials$latency)
  means <- vapply(levels, function(level) {
    block <- trials[trials$side == level, , drop = FALSE]
    correct <- mean(block$latency[!block$is_error])
    mean(ifelse(block$is_error, correct + error_penalty, block$latency))
  }, 1)
  d <- (means[[2]] - means[[1]]) / spread
  if (is.finite(d)) d else NA_real_
}
