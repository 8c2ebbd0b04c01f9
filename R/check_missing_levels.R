#' Which answers are missing, and are they more at one level of an attribute?
#'
#' Counts refused, filtered, cut-off, malformed and rejected answers by level, and tests whether the share of missing
#' ones differs between the levels of an attribute.
#'
#' Answers to one prompt that is asked again are held back together. So the test permutes prompts: what each prompt came
#' to (asked how often, answered how often) is dealt to the prompts at random, and the chi-squared statistic compared.
#' An
#' attribute whose levels are properties of another's (the gender of a name) is tested over those levels, not prompts.
#' Where prompts were asked once, or each level has one prompt and prompts are what is compared, it is Fisher's exact
#' test (with many counts the chi-squared test).
#'
#' @inheritParams check_missing_answers
#' @param once names of the columns that tell which answer a row is of: several profiles of one answer count once for
#'   each level that they show. `NULL`: each row is an answer.
#' @param prompt names of the columns that tell what was shown. `NULL`: each answer is to a prompt of its own.
#' @param data a data frame with one row per profile and answer, whatever came: `outcome` is `"answered"`, or why there
#'   is no answer.
#' @param attributes names of the columns with the levels that were shown.
#' @param n_draws number of permutations; ten times as many where hardly any is as large.
#' @param seed of them, a whole number.
#' @return A data frame with one row per group, attribute and level, within an attribute the level with most missing
#'   answers first: `attribute`; `level`; `n`, `n_missing` and its parts, `rate_missing`, `conf_low` and `conf_high` as
#'   of `check_missing_answers()`; `rate_others`, the rate of all other levels; `p_value` of the difference between the
#'   levels of the attribute, NA with one level; `p_holm`, corrected by Holm's method for all groups and attributes;
#'   `unit`, what the test permutes (`"prompt"`, the name of an attribute, or `"answer"`), and `n_units`; `detectable`,
#'   the difference of rates (this level and all others) that would be found with a power of 80 % after correction;
#'   `status`, `messages`.
#' @references Fisher, R. A. (1935). The logic of inductive inference. Journal of the Royal Statistical Society, 98,
#'   39-82.
#' @noRd
check_missing_levels <- function(data, attributes, by = NULL, once = NULL, prompt = NULL, n_draws = 1999, seed = 1) {
  check_columns(data, c("outcome", attributes, by, once, prompt), to = "count missing answers")
  empty <- cbind(
    missing_by_level(data.frame(outcome = character(), level = character()), "level"),
    frame_of(p_value = double(), p_holm = double(), unit = character(), n_units = integer(), detectable = double())
  )
  table <- check_each_group(data, by, c("outcome", attributes), empty, function(rows) {
    answer <- if (is.null(once)) seq_len(nrow(rows)) else group_codes(rows, once)
    tested <- lapply(attributes, function(name) {
      own <- !duplicated(data.frame(answer, as.character(rows[[name]])))
      table <- missing_by_level(rows[own, , drop = FALSE], name)
      cbind(table, test_of_missing(rows, table, dealt_units(rows, name, attributes, answer, prompt), n_draws, seed))
    })
    do.call(rbind, tested)
  })
  is_first <- !duplicated(table[c(by, "attribute")])
  p_holm <- rep(NA_real_, nrow(table))
  p_holm[is_first] <- stats::p.adjust(table$p_value[is_first], method = "holm")
  table$p_holm <- p_holm[is_first][cumsum(is_first)]
  n_tests <- sum(!is.na(table$p_value[is_first]))
  table$detectable <- pmin(1, detectable_of(table$detectable, n_tests))
  table
}

# Counted at once for all levels: taking the rows of each level apart would copy a large study once a level.
missing_by_level <- function(rows, name) {
  levels <- sort(unique(as.character(rows[[name]])))
  kinds <- union(c("answered", kinds_of_missing), rows$outcome)
  counts <- unclass(table(factor(as.character(rows[[name]]), levels), factor(rows$outcome, kinds)))
  n <- as.integer(rowSums(counts))
  n_missing <- n - unname(counts[, "answered"])
  interval <- wilson(n_missing, n)
  others <- sum(n) - n
  table <- frame_of(
    attribute = rep(name, length(levels)), level = levels, n = n, n_missing = n_missing,
    n_refused = unname(counts[, "refused"]), n_filtered = unname(counts[, "filtered"]),
    n_truncated = unname(counts[, "truncated"]), n_malformed = unname(counts[, "malformed"]),
    n_rejected = unname(counts[, "rejected"]), rate_missing = n_missing / n,
    conf_low = interval$rate_low, conf_high = interval$rate_high,
    rate_others = ifelse(others > 0, (sum(n_missing) - n_missing) / others, NA_real_)
  )
  table[order(-table$rate_missing, table$level), , drop = FALSE]
}

kinds_of_missing <- c("refused", "filtered", "truncated", "malformed", "rejected")

# What answers have in common that may be held back together: `name`; `shown`, a matrix of levels and units; `n` and
# `n_missing` answers of each unit.
dealt_units <- function(rows, name, attributes, answer, prompt) {
  level <- as.character(rows[[name]])
  owners <- Filter(function(other) owns_levels(as.character(rows[[other]]), level), setdiff(attributes, name))
  if (length(owners) > 0) {
    unit_name <- owners[[which.min(vapply(owners, function(other) length(unique(rows[[other]])), 1L))]]
    unit <- match(rows[[unit_name]], unique(rows[[unit_name]]))
  } else {
    unit_name <- if (is.null(prompt)) "answer" else "prompt"
    shown_together <- vapply(split(level, answer), function(own) paste(sort(unique(own)), collapse = "\037"), "")
    together <- unname(shown_together)[match(answer, as.integer(names(shown_together)))]
    unit <- if (is.null(prompt)) answer else group_codes(cbind(rows[prompt], together), c(prompt, "together"))
  }
  once <- !duplicated(data.frame(answer, unit))
  list(
    name = unit_name, shown = unclass(table(factor(level, sort(unique(level))), unit)) > 0,
    n = tabulate(unit[once], max(unit)), n_missing = tabulate(unit[once & rows$outcome != "answered"], max(unit))
  )
}

# Is each level of `other` of one of these levels, all of which have several, as genders have several names?
owns_levels <- function(other, level) {
  pairs <- unique(data.frame(other, level))
  n_owners <- table(pairs$level)
  !anyDuplicated(pairs$other) && length(n_owners) > 1 && all(n_owners > 1)
}

# One row a row of `table`: p of all levels, and the standard error of each one's difference from all others.
test_of_missing <- function(rows, table, units, n_draws, seed) {
  std_error <- error_from_others(table$n_missing, table$n)
  p_value <- NA_real_
  # answers of one to a prompt have nothing in common; where a level has one prompt, prompts are what is compared
  is_independent <- all(units$n == 1) && all(colSums(units$shown) == 1) || all(rowSums(units$shown) == 1)
  if (nrow(table) > 1 && is_independent) {
    units$name <- "answer"
    p_value <- p_of_missing(table$n_missing, table$n)
  } else if (nrow(table) > 1) {
    shown <- units$shown[table$level, , drop = FALSE]
    permuted <- permuted_rates(shown, units$n, units$n_missing, n_draws, seed)
    if (permuted$n_as_large < 10) permuted <- permuted_rates(shown, units$n, units$n_missing, 10 * n_draws, seed)
    p_value <- (permuted$n_as_large + 1) / (permuted$n_draws + 1)
    std_error <- pmax(std_error, permuted$std_error)
  }
  frame_of(
    p_value = rep(p_value, nrow(table)), p_holm = rep(NA_real_, nrow(table)), unit = rep(units$name, nrow(table)),
    n_units = rep(if (units$name == "answer") sum(units$n) else ncol(units$shown), nrow(table)),
    detectable = std_error
  )
}

# The standard error of the difference of each rate from that of all others, were they alike.
error_from_others <- function(n_missing, n) {
  rate <- (sum(n_missing) + 1) / (sum(n) + 2)
  sqrt(rate * (1 - rate) * (1 / n + 1 / pmax(1, sum(n) - n)))
}

# What units came to, dealt to them at random: how often the statistic is as large as it is, and how far each level's
# rate is then from that of all others.
permuted_rates <- function(shown, n, n_missing, n_draws, seed) {
  draws <- with_seed(seed, vapply(seq_len(n_draws), function(k) sample.int(length(n)), integer(length(n))))
  draws <- cbind(seq_along(n), matrix(draws, length(n)))
  of_levels <- shown %*% matrix(n[draws], length(n))
  missing <- shown %*% matrix(n_missing[draws], length(n))
  rate <- sum(n_missing) / sum(n)
  others <- pmax(1, rep(colSums(of_levels), each = nrow(shown)) - of_levels)
  apart <- missing / pmax(1, of_levels) - (rep(colSums(missing), each = nrow(shown)) - missing) / others
  statistic <- colSums((missing - rate * of_levels)^2 / pmax(1, of_levels))
  list(
    n_draws = n_draws, n_as_large = sum(statistic[-1] >= statistic[[1]] * (1 - 1e-9)),
    std_error = sqrt(rowMeans(apart[, -1, drop = FALSE]^2))
  )
}
