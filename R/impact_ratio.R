#' Adverse impact ratios
#'
#' The rate of each level of an attribute (a group, say) over the rate of a reference, with an interval: the four-fifths
#' rule of the US Uniform Guidelines calls a ratio below .8 evidence of adverse impact. The verdict has three values:
#' `"below"` if the whole interval is, `"not below"` if none of it is, else `"undecided"`.
#'
#' Errors are those of the logarithm of the ratio, over clusters as in [marginal_means()], and at least what independent
#' answers would have; intervals are of t with the degrees of freedom of CR2. The highest rate is picked from the data:
#' against it (`reference = "highest"`, as published audits and the rule itself do) intervals hold for the ratios to all
#' other levels at once (Bonferroni over all pairs), so that a level is below if its ratio to some other level is. A
#' rate of 0 is a ratio of 0 with an upper limit (Donner & Zou 2012); a reference with a rate of 0 has no ratio. Choices
#' between profiles shown together depend on each other: prefer an outcome that each profile has alone.
#'
#' @inheritParams marginal_means
#' @param outcome name of a column of 0 and 1: selected or not.
#' @param reference what rates are divided by: `"others"`, the rate of all other levels together; a list by attribute of
#'   the level that the study compares with, as `list(gender = "man")`; `"first"`, the first of the `levels`;
#'   `"highest"`, the level with the highest rate.
#' @param favourable which answer is the good one: `"no"` of "Would you refuse?", whose rates are those of 0.
#' @return A [slant_fit]. `estimates` has a row per level but the one it is compared with: `estimate` is the ratio,
#'   `std_error` that of its logarithm, `p_value` of the ratio 1 (t; with `"highest"` corrected for all pairs).
#'   `tables$ratios` has all levels: `attribute`, `level`, `rate`, `n`, `reference`, `reference_rate`, `n_reference`,
#'   `ratio`, `p_value`, `conf_low`, `conf_high`, `is_below_four_fifths` (`NA`: undecided), `verdict`.
#' @source 29 CFR 1607.4 D (Uniform Guidelines on Employee Selection Procedures, 1978); Donner & Zou (2012),
#'   <https://doi.org/10.1177/0962280210383082>.
#' @export
#' @examples
#' profiles <- data.frame(group = rep(c("a", "b"), 100), hired = rep(c(1, 1, 1, 0), 50))
#' impact_ratio(profiles, "hired", "group")$tables$ratios
impact_ratio <- function(data, outcome, attributes, cluster = NULL, weights = NULL, levels = NULL, reference = "others",
                         favourable = c("yes", "no"), by = NULL, declared = NULL) {
  check_arguments(more = list(reference = list(
    must_be = "\"others\", \"highest\", \"first\", or a list of levels by attribute",
    is_right = function(value) {
      (is_text(value) && value %in% c("others", "highest", "first")) || (is.list(value) && !is.null(names(value)))
    }
  )))
  favourable <- one_of(favourable, c("yes", "no"), "favourable")
  to <- "compute impact ratios"
  fit_attributes(data, outcome, attributes, cluster, weights, levels, by, to, declared = declared, function(rows) {
    if (!all(rows$y %in% 0:1)) stop_with(sprintf("Can't compute impact ratios: \"%s\" must be 0 or 1.", outcome))
    if (favourable == "no") rows$y <- 1 - rows$y
    ratios <- do.call(rbind, lapply(attributes, function(name) ratio_rows(name, rows_of(rows, name), reference)))
    others <- ratios[!is.na(ratios$ratio) & ratios$level != ratios$reference, , drop = FALSE]
    list(
      estimates = estimate_rows(
        level_terms(others$attribute, others$level), others$ratio, others$std_error, others$df, others$statistic,
        others$p_value, conf_low = others$conf_low, conf_high = others$conf_high
      ),
      tables_of_group = list(ratios = cbind(
        term = level_terms(ratios$attribute, ratios$level),
        ratios[!names(ratios) %in% c("std_error", "df", "statistic")]
      ))
    )
  })
}

ratio_rows <- function(name, rows, reference) {
  values <- rows$factors[[name]]
  known <- levels(values)
  if (is.list(reference)) reference <- if (is.null(reference[[name]])) "others" else as.character(reference[[name]])
  if (reference == "first") reference <- known[[1]]
  if (!reference %in% c("others", "highest", known)) {
    stop_with(sprintf("\"%s\" has no level \"%s\" to compare with.", name, reference),
              sprintf("Levels there are: %s.", quoted(known)))
  }
  means <- means_of_levels(values, rows, "small_sample")
  rates <- unname(means$model$estimates)
  n <- tabulate(values, nlevels(values))
  parts <- if (reference == "others") {
    lapply(seq_along(known), function(i) { # a level next to all others together
      both <- factor(ifelse(as.integer(values) == i, "level", "others"), c("level", "others"))
      means <- means_of_levels(both, rows, "small_sample")
      rate <- unname(means$model$estimates[[2]])
      row <- log_ratios(1, 2, means, both, rows)
      cbind(frame_of(reference = "all others", reference_rate = rate, n_reference = sum(n[-i])), row[of_ratio])
    })
  } else {
    base <- if (reference == "highest") which.max(rates) else match(reference, known)
    pairs <- lapply(seq_along(known), function(i) log_ratios(i, setdiff(seq_along(known), i), means, values, rows))
    lapply(seq_along(known), function(i) {
      if (i == base) {
        return(no_ratio(known[[base]], rates[[base]], n[[base]], is_reference = TRUE))
      }
      pair <- pairs[[i]]
      row <- if (reference == "highest") {
        against_highest(pair, base, choose(length(known), 2))
      } else {
        pair[pair$other == base, , drop = FALSE]
      }
      cbind(frame_of(reference = known[[base]], reference_rate = rates[[base]], n_reference = n[[base]]), row[of_ratio])
    })
  }
  found <- do.call(rbind, parts)
  is_below <- four_fifths(found)
  is_reference <- found$reference == known
  cbind(
    frame_of(attribute = rep(name, length(known)), level = known, rate = rates, n = n),
    found, frame_of(
      is_below_four_fifths = is_below,
      verdict = ifelse(is_reference, NA, ifelse(is.na(is_below), "undecided", ifelse(is_below, "below", "not below")))
    )
  )
}

of_ratio <- c("ratio", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high")

no_ratio <- function(reference, rate, n, is_reference = FALSE) {
  empty <- as.list(stats::setNames(rep(NA_real_, length(of_ratio)), of_ratio))
  if (is_reference) empty$ratio <- if (rate > 0) 1 else NA_real_
  do.call(frame_of, c(list(reference = reference, reference_rate = rate, n_reference = n), empty))
}

# The ratio of a rate to each of some other ones, as rows with `other`, `log_error` and `df`: t on the log scale, with
# the error of the difference of logarithms over clusters, and at least what independent answers would have. A rate of 0
# is a ratio of 0, whose upper limit is of both rates' intervals (Donner & Zou 2012); over a rate of 0 there is none.
log_ratios <- function(i, others, means, values, rows) {
  rates <- unname(means$model$estimates)
  n <- means$n_effective
  of_log <- function(which) (1 - rates[which]) / (rates[which] * 1 / diag(means$model$bread)[which])
  has_log <- rates[[i]] > 0 & rates[others] > 0
  contrasts <- matrix(0, length(others), length(rates))
  contrasts[cbind(seq_along(others), others)] <- ifelse(has_log, -1 / rates[others], 0)
  contrasts[, i] <- ifelse(has_log, 1 / rates[[i]], 0)
  if (!any(has_log)) contrasts[] <- 1 # computed for its degrees of freedom only
  error <- error_of_logs(contrasts, means, values, rows)
  log_error <- ifelse(has_log, sqrt(pmax(error$std_error^2, of_log(i) + of_log(others))), NA_real_)
  ratio <- rates[[i]] / rates[others]
  statistic <- log(ratio) / log_error
  half <- stats::qt(.975, error$df) * log_error
  frame <- frame_of(
    ratio = ratio, std_error = log_error, df = ifelse(is.na(log_error), NA_real_, error$df), statistic = statistic,
    p_value = 2 * stats::pt(-abs(statistic), error$df), conf_low = ratio * exp(-half), conf_high = ratio * exp(half)
  )
  frame$other <- others
  is_zero <- rates[[i]] == 0 & rates[others] > 0
  if (any(is_zero)) {
    intervals <- means$rows[c("conf_low", "conf_high")]
    low <- intervals$conf_low[others]
    limit <- intervals$conf_high[[i]] / sqrt(low * pmax(2 * rates[others] - low, low))
    frame[is_zero, c("ratio", "conf_low", "conf_high")] <- cbind(0, 0, limit)[is_zero, , drop = FALSE]
  }
  frame$ratio[rates[others] == 0] <- NA_real_
  frame
}

# Of a factor's own levels, whose items have one level each, the error is pooled: how much more answers vary between
# items, next to what was crossed with it, than independent ones (at least 1), for all levels alike.
error_of_logs <- function(contrasts, means, values, rows) {
  pooled <- dispersion_of(values, rows)
  if (is.null(pooled)) {
    return(contrast_error(means$model, contrasts, values, rows$choice, "none", FALSE, counts = FALSE)$error)
  }
  rates <- unname(means$model$estimates)
  variance <- as.vector(contrasts^2 %*% (rates * (1 - rates) * diag(means$model$bread)))
  frame_of(std_error = sqrt(pooled$dispersion * variance), df = rep(pooled$df, nrow(contrasts)))
}

dispersion_of <- function(values, rows) {
  codes <- rows$choice$codes[[1]]
  is_own <- rows$name %in% names(rows$cells) && nlevels(values) == nlevels(rows$factors[[rows$name]]) &&
    length(rows$choice$codes) == 1 && is_nested(values, codes) &&
    min(clusters_at_levels(values, codes)) < fewest_clusters
  if (!is_own) {
    return(NULL)
  }
  model <- cell_regression(c(list(levels = values), crossed_blocks(rows$name, rows, others_of(rows$name, rows))), rows)
  least <- least_variance(model)
  pooled <- pooled_error(model, diag(length(model$estimates))[2, , drop = FALSE], codes, least)
  if (is.null(pooled) || least == 0) NULL else list(dispersion = attr(pooled, "variance") / least, df = pooled$df)
}

# The highest rate was picked from the data: the interval holds for the ratios to all other levels at once (Bonferroni,
# over all pairs), and ends where the lowest of them does. A level is below if its ratio to some other level is.
against_highest <- function(pairs, base, n_pairs) {
  row <- pairs[pairs$other == base, , drop = FALSE]
  quantile <- stats::qt(1 - .025 / n_pairs, pairs$df)
  has_log <- !is.na(pairs$std_error)
  if (any(has_log)) {
    row$conf_low <- min((pairs$ratio * exp(-quantile * pairs$std_error))[has_log])
    row$conf_high <- min((pairs$ratio * exp(quantile * pairs$std_error))[has_log])
    row$p_value <- min(1, row$p_value * n_pairs)
  }
  row
}

# TRUE below, FALSE not below, NA undecided: by the whole interval.
four_fifths <- function(rows) {
  has_interval <- !is.na(rows$conf_low) & !is.na(rows$conf_high)
  ifelse(has_interval & rows$conf_high < .8, TRUE, ifelse(has_interval & rows$conf_low >= .8, FALSE, NA))
}
