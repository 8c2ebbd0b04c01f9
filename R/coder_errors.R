#' How often a coder errs, and whether it errs more often in one condition
#'
#' Sensitivity and false positives of a model's codes, measured against people's on a random sample, with weights
#' 1 / pi. Errors that are as frequent in all conditions make differences smaller; errors that are more frequent in one
#' condition make differences that are none. So the differences between the levels of a factor come with their
#' intervals.
#'
#' Intervals are Wilson's of the effective number of texts (Kish's, or that which the variance over clusters gives, if
#' it is smaller, with t of as many clusters less one for each level); those of differences are put together
#' from them (Newcombe 1998, method 10), and so take levels as independent.
#'
#' @param data a data frame, one row a text: codes as 0 and 1, people's missing where nobody has coded.
#' @param people,coder names of the columns of people's and the coder's codes.
#' @param attributes names of the columns whose levels are compared.
#' @param probability the name of the column with the probability with which each text was drawn; `NULL`: all had the
#'   same.
#' @param cluster the name of the column of what texts share, or `NULL`.
#' @param levels a named list of the levels of `attributes`, the reference first; `NULL`: in their order as texts.
#' @inheritParams retest_reliability
#' @return A data frame, for each group: `measure` (`"sensitivity"`, `"false_positives"`), `factor` and `level`
#'   (missing: all texts), `reference` (missing: a rate; else `estimate` is the level's minus that of this one),
#'   `estimate`, `conf_low`, `conf_high`, `n` texts with (or without) the code by people. What no text can tell is
#'   missing.
#' @references Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions.
#'   Statistics in Medicine, 17(8), 873-890.
#' @seealso [agreement()], [fit_dsl()].
#' @export
#' @examples
#' set.seed(1)
#' texts <- data.frame(condition = rep(c("plain", "polite"), 200), people = rbinom(400, 1, .4))
#' false <- ifelse(texts$condition == "polite", .3, .05)
#' texts$coder <- ifelse(texts$people == 1, 1, rbinom(400, 1, false))
#' coder_errors(texts, attributes = "condition")
coder_errors <- function(data, people = "people", coder = "coder", attributes = NULL, probability = NULL,
                         cluster = NULL, levels = NULL, by = NULL, alpha = .05) {
  check_arguments()
  check_columns(data, c(people, coder, attributes, probability, cluster, by), to = "measure a coder's errors")
  data <- data[!is.na(data[[people]]) & !is.na(data[[coder]]), ]
  weight <- if (is.null(probability)) rep(1, nrow(data)) else 1 / data[[probability]]
  known <- lapply(stats::setNames(nm = attributes), function(name) {
    seen <- sort(unique(as.character(data[[name]])), method = "radix")
    c(intersect(as.character(levels[[name]]), seen), setdiff(seen, levels[[name]]))
  })
  as_plain_rows(do.call(rbind, lapply(group_rows(data, by), function(rows) {
    kinds <- list(sensitivity = data[[people]][rows], false_positives = 1 - data[[people]][rows])
    of_kinds <- Map(function(measure, counts) {
      units <- list(counts = counts * weight[rows], code = as.double(data[[coder]][rows]))
      units$cluster <- if (!is.null(cluster)) as.character(data[[cluster]][rows])
      all <- error_rate(units, rep(TRUE, length(rows)), alpha)
      by_factor <- lapply(attributes, function(name) {
        rates_compared(units, as.character(data[[name]][rows]), name, known[[name]], alpha)
      })
      none <- NA_character_
      rates <- rbind(cbind(frame_of(factor = none, level = none, reference = none), all), do.call(rbind, by_factor))
      cbind(frame_of(measure = rep(measure, nrow(rates))), rates)
    }, names(kinds), kinds)
    of_kinds <- do.call(rbind, unname(of_kinds))
    cbind(as_plain_rows(data[rep(rows[1], nrow(of_kinds)), by, drop = FALSE]), of_kinds)
  })))
}

# One row: the weighted share of these units to which the coder gives the code.
error_rate <- function(units, is_in, alpha, n_levels = 1) {
  counts <- units$counts[is_in]
  total <- sum(counts)
  n <- sum(counts > 0)
  if (total == 0) {
    return(frame_of(estimate = NA_real_, conf_low = NA_real_, conf_high = NA_real_, n = 0L))
  }
  rate <- sum(counts * units$code[is_in]) / total
  n_effective <- total^2 / sum(counts^2)
  quantile <- stats::qnorm(1 - alpha / 2)
  if (!is.null(units$cluster)) {
    names <- units$cluster[is_in & units$counts > 0]
    n_clusters <- length(unique(names))
    residual <- (counts * (units$code[is_in] - rate) / total)[counts > 0]
    variance <- if (n_clusters > 1) n_clusters / (n_clusters - 1) * sum(rowsum(residual, names)^2) else Inf
    if (variance > 0) n_effective <- min(n_effective, max(1, rate * (1 - rate) / variance))
    n_all <- length(unique(units$cluster[units$counts > 0]))
    quantile <- stats::qt(1 - alpha / 2, max(1, n_all - n_levels))
  }
  ends <- wilson_of_rates(rate, n_effective, quantile)
  frame_of(estimate = rate, conf_low = ends$low, conf_high = ends$high, n = n)
}

# The rates of each level, and their differences from the first one's.
rates_compared <- function(units, values, name, levels, alpha) {
  levels <- levels[levels %in% values]
  rates <- lapply(levels, function(level) error_rate(units, !is.na(values) & values == level, alpha, length(levels)))
  own <- Map(function(level, rate) {
    cbind(frame_of(factor = name, level = level, reference = NA_character_), rate)
  }, levels, rates)
  differences <- Map(function(level, rate) {
    first <- rates[[1]]
    difference <- rate$estimate - first$estimate
    below <- sqrt((rate$estimate - rate$conf_low)^2 + (first$conf_high - first$estimate)^2)
    above <- sqrt((rate$conf_high - rate$estimate)^2 + (first$estimate - first$conf_low)^2)
    cbind(frame_of(factor = name, level = level, reference = levels[[1]]), frame_of(
      estimate = difference, conf_low = difference - below, conf_high = difference + above, n = rate$n + first$n
    ))
  }, levels[-1], rates[-1])
  do.call(rbind, unname(c(own, differences)))
}
