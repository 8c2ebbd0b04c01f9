#' Deal the words of one cell to its two groups at random, again and again
#'
#' What a condition effect looks like when there is none. A word of the other group goes the other way in each
#' condition, so that to deal words to the groups at random is to swap the two conditions of a word with probability
#' 1/2. The unit is a word within a wording, with its repetitions; with `whole_words` a word with all its wordings,
#' which also holds if words differ in their effect. A unit that was answered in only one condition takes part: its
#' label is drawn, too.
#'
#' With `engine = "difference"` it is the difference of means with Welch's test, which needs no refit; with `"lme4"` the
#' formula by REML, tested by t with Satterthwaite's degrees of freedom of the data as observed: by [lme4::refit()], for
#' to swap the answers of a pair is to swap its labels, and by `lme4::lmer()` if a cell has answers without the other
#' one. A permutation depends on `seed`, its number and the names of words and wordings, not on the order of rows.
#'
#' @param data the rows of one model and test: the columns of the formula, `item`, `wording`; `group`, `repetition`.
#' @param formula the mixed model; of `"difference"` the outcome alone is used.
#' @param levels the two values of `contrast`, the reference first.
#' @inheritParams permutation_test
#' @param contrast name of the column with the two conditions.
#' @param whole_words whether a word's wordings are swapped together.
#' @param alpha of the rate of false positives.
#' @return A list of four data frames: `tests`, one row, and `values` (`cells`, there) as of [permutation_test()];
#'   `refits`, one row per permutation: `number`, `seed`; `counts`, one row: `n_rows`, `n_units` that are swapped,
#'   `n_one_condition` (those with one condition only).
#' @source p: Phipson & Smyth (2010).
#' @noRd
permute_pairs <- function(data, formula, levels, permutations = 1000, seed = 1, engine = "difference",
                          contrast = "condition", whole_words = FALSE, alpha = .05) {
  if (!engine %in% names(pair_engines)) {
    stop_with(
      sprintf("Can't permute conditions with %s.", quoted(engine)), sprintf("Engines: %s.", quoted(names(pair_engines)))
    )
  }
  levels <- two_levels(levels, contrast, to = "permute")
  used <- intersect(c("item", "group", "wording", "repetition"), names(data))
  check_columns(data, c("item", "wording", contrast), to = "permute")
  rows <- in_fixed_order(data[data[[contrast]] %in% levels, , drop = FALSE], formula, c(contrast, used))
  if (length(unique(rows[[contrast]])) < 2) {
    stop_with(sprintf("Can't permute: \"%s\" must have both of %s in the rows.", contrast, quoted(levels)))
  }
  units <- unit_keys(rows, setdiff(used, c("repetition", if (whole_words) "wording")))
  units <- match(units, sort(unique(units), method = "radix"))
  is_swapped <- swapped_units(max(units), permutations, seed)
  values <- pair_engines[[engine]](rows, checked_formula(formula, names(rows)), contrast, levels, units, is_swapped)
  values <- data.frame(number = seq_len(nrow(values)) - 1L, values)
  observed <- values[1, ]
  # sums of swapped answers, which are rounded, must not be less far out than what was observed
  null <- round(values$difference[-1], 9)
  p <- values$p_value[-1]
  n_small <- sum(p < alpha, na.rm = TRUE)
  rate <- clopper_pearson(n_small, sum(!is.na(p)))
  tests <- cbind(
    data.frame(kind = "population", scale = "difference", observed = observed$difference),
    null_distribution(null),
    data.frame(n = length(null), n_failed = 0L, n_divergent = 0L, n_unconverged = 0L, n_warned = 0L, n_separated = 0L),
    tail_probabilities(null, round(observed$difference, 9), 0L),
    data.frame(
      noise_share = NA_real_, p_engine = observed$p_value, false_positives = n_small / sum(!is.na(p)),
      false_positives_low = rate[[1]], false_positives_high = rate[[2]]
    )
  )
  list(
    tests = tests, values = values,
    refits = data.frame(
      number = values$number, seed = vapply(values$number, function(number) permutation_seed(seed, number), 1L)
    ),
    counts = data.frame(
      n_rows = nrow(rows), n_units = max(units),
      n_one_condition = sum(tapply(rows[[contrast]], units, function(labels) length(unique(labels)) == 1))
    )
  )
}

# A row a permutation, a column a unit: is it swapped? The first row, number 0, is as observed.
swapped_units <- function(n_units, permutations, seed) {
  drawn <- lapply(seq_len(permutations), function(number) {
    with_seed(permutation_seed(seed, number), stats::runif(n_units) < .5)
  })
  rbind(rep(FALSE, n_units), do.call(rbind, drawn))
}

# A swap moves a unit's answers from one side to the other: their number, sum and sum of squares.
differences_of_means <- function(rows, formula, contrast, levels, units, is_swapped) {
  values <- as.numeric(eval(formula[[2]], rows, environment(formula)))
  powers <- cbind(1, values - mean(values), (values - mean(values))^2)
  is_first <- rows[[contrast]] == levels[[1]]
  moved <- is_swapped %*% rowsum(powers * ifelse(is_first, -1, 1), units)
  first <- sides_moments(sweep(moved, 2, colSums(powers[is_first, , drop = FALSE]), `+`))
  second <- sides_moments(sweep(-moved, 2, colSums(powers[!is_first, , drop = FALSE]), `+`))
  std_error <- sqrt(first$part + second$part)
  df <- std_error^4 / (first$part^2 / (first$n - 1) + second$part^2 / (second$n - 1))
  difference <- second$mean - first$mean
  data.frame(difference, p_value = 2 * stats::pt(-abs(difference / std_error), df))
}

# `part`: of the squared standard error of the difference.
sides_moments <- function(sums) {
  n <- sums[, 1]
  list(n = n, mean = sums[, 2] / n, part = pmax(sums[, 3] - sums[, 2]^2 / n, 0) / (n - 1) / n)
}

refitted_effects <- function(rows, formula, contrast, levels, units, is_swapped) {
  need_package("lmerTest", "refit mixed models")
  if (length(random_terms(formula)) == 0) stop_with("Can't refit: the formula has no random effect.")
  rows[[contrast]] <- factor(as.character(rows[[contrast]]), levels)
  term <- paste0(contrast, levels[[2]])
  observed <- stats::coef(summary(suppressMessages(lmerTest::lmer(formula, rows))))
  if (!term %in% rownames(observed)) {
    stop_with(sprintf("Can't refit: the formula has no effect of %s.", quoted(contrast)))
  }
  # derivatives at the end only serve warnings, and take as long as the fit
  fit_rows <- function(rows) lme4::lmer(formula, rows, control = lme4::lmerControl(calc.derivs = FALSE))
  fit <- suppressMessages(fit_rows(rows))
  answers <- stats::model.response(stats::model.frame(fit))
  # The place of the answer in the other condition to the same word and wording; NA where there is none.
  key <- unit_keys(rows, intersect(c("item", "group", "wording", "repetition"), names(rows)))
  side <- as.integer(rows[[contrast]])
  nth <- stats::ave(seq_along(key), key, side, FUN = seq_along)
  other <- match(paste(key, nth, 3L - side, sep = "\037"), paste(key, nth, side, sep = "\037"))
  refits <- apply(is_swapped[, units, drop = FALSE], 1, function(is_moved) {
    refit <- suppressWarnings(suppressMessages(if (anyNA(other)) {
      moved <- rows
      moved[[contrast]][is_moved] <- rev(levels(rows[[contrast]]))[as.integer(rows[[contrast]][is_moved])]
      fit_rows(moved)
    } else {
      lme4::refit(fit, ifelse(is_moved, answers[other], answers))
    }))
    c(lme4::fixef(refit)[[term]], sqrt(stats::vcov(refit)[term, term]))
  })
  p_value <- 2 * stats::pt(-abs(refits[1, ] / refits[2, ]), observed[term, "df"])
  data.frame(difference = refits[1, ], p_value = p_value)
}

pair_engines <- list(difference = differences_of_means, lme4 = refitted_effects)
