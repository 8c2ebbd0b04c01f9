#' How far coders agree
#'
#' Any number of coders, people or models, who have each coded any of the texts. Percent agreement, Cohen's and Fleiss'
#' kappa, Krippendorff's alpha and Gwet's AC1 take chance off in different ways: where one code is far more frequent
#' than the others, kappa is low although coders agree, and AC1 is not.
#'
#' @param data a data frame, one row a code: columns for the text, the coder and the code.
#' @param code,coder,text names of these columns. A missing code is left out.
#' @param level what codes are: `"nominal"`, `"ordinal"` (numbers in an order) or `"interval"` (numbers).
#' @param each_code also compare each code with all others (nominal codes).
#' @param draws how many samples of texts are drawn for the intervals; 0 for none.
#' @inheritParams retest_reliability
#' @param seed the seed of these draws.
#' @return A data frame, for each group one row for all coders (`coder_1` is `"all"`) and one a pair that shares texts:
#'   with `each_code` first `code` (missing: all codes together); `coder_1`, `coder_2`, `n_texts` with two codes or
#'   more, `observed` (the share of pairs of codes of a text that are
#'   equal), `kappa` (Cohen's of a pair, Fleiss' of all), `alpha`, `ac1`, and the ends of their bootstrap intervals over
#'   texts: `kappa_low`, `kappa_high`, `alpha_low` and so on. What codes that are all alike can't tell is missing.
#' @references Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological
#'   Measurement, 20(1), 37-46. Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. Fleiss, J. L.
#'   (1971). Psychological Bulletin, 76(5), 378-382.
#'   Gwet, K. L. (2008). British Journal of Mathematical and Statistical Psychology, 61(1),
#'   29-48.
#' @seealso [coder_errors()], [fit_dsl()]; [read_notes()], whose notes it compares by `code = "label"`,
#'   `coder = "reader"`, `text = "trial_id"`.
#' @export
#' @examples
#' codes <- data.frame(
#'   text = rep(1:6, 2), coder = rep(c("anna", "model"), each = 6),
#'   code = c("a", "b", "a", "a", "b", "b", "a", "b", "a", "b", "b", "b")
#' )
#' agreement(codes, draws = 200)
agreement <- function(data, code = "code", coder = "coder", text = "text", level = c("nominal", "ordinal", "interval"),
                      by = NULL, each_code = FALSE, draws = 1000, alpha = .05, seed = 1) {
  check_arguments(more = list(draws = argument_kinds$whole(0)))
  level <- one_of(level, c("nominal", "ordinal", "interval"), "level")
  check_columns(data, c(code, coder, text, by), to = "compare coders")
  if (level != "nominal" && !is.numeric(data[[code]])) {
    stop_with(sprintf("Codes of the level \"%s\" must be numbers, and `%s` is not.", level, code))
  }
  data <- data[!is.na(data[[code]]), c(code, coder, text, by)]
  found <- lapply(group_rows(data, by), function(rows) {
    patterns <- code_patterns(code_matrix(chosen_rows(data, rows), code, coder, text))
    found <- agreement_of_sets(patterns, level, draws, alpha, seed)
    if (each_code) {
      values <- sort(unique(as.vector(patterns$codes)), method = "radix")
      of_codes <- lapply(values, function(value) {
        agreement_of_sets(list(codes = patterns$codes == value, n = patterns$n), level, draws, alpha, seed)
      })
      n <- c(nrow(found), vapply(of_codes, nrow, 1L))
      found <- cbind(frame_of(code = rep(c(NA, as.character(values)), n)), do.call(rbind, c(list(found), of_codes)))
    }
    cbind(as_plain_rows(data[rep(rows[[1]], nrow(found)), by, drop = FALSE]), found)
  })
  as_plain_rows(do.call(rbind, found))
}

# All coders together, then each pair that shares texts.
agreement_of_sets <- function(patterns, level, draws, alpha, seed) {
  codes <- patterns$codes
  pairs <- if (ncol(codes) > 2) utils::combn(ncol(codes), 2, simplify = FALSE) else list()
  shared <- vapply(pairs, function(pair) any(stats::complete.cases(codes[, pair])), NA)
  sets <- c(list(seq_len(ncol(codes))), pairs[shared])
  do.call(rbind, lapply(sets, function(set) {
    measured <- with_seed(seed, agreement_of(codes[, set, drop = FALSE], patterns$n, level, draws, alpha))
    is_all <- length(set) != 2
    cbind(frame_of(
      coder_1 = if (is_all) "all" else colnames(codes)[[set[[1]]]],
      coder_2 = if (is_all) "all" else colnames(codes)[[set[[2]]]]
    ), measured)
  }))
}

# A matrix of codes, a row a text and a column a coder.
code_matrix <- function(data, code, coder, text) {
  coders <- sort(unique(as.character(data[[coder]])), method = "radix")
  if (length(coders) < 2) stop_with(sprintf("Agreement is of two coders or more, and there is %d.", length(coders)))
  texts <- unique(data[[text]])
  place <- match(data[[text]], texts) + length(texts) * (match(as.character(data[[coder]]), coders) - 1)
  if (anyDuplicated(place) > 0) {
    stop_with("A coder has coded a text twice: name what sets these codes apart in `by`, or leave one out.")
  }
  codes <- matrix(if (is.numeric(data[[code]])) NA_real_ else NA_character_, length(texts), length(coders))
  codes[place] <- if (is.numeric(data[[code]])) data[[code]] else as.character(data[[code]])
  colnames(codes) <- coders
  codes
}

# The rows of a matrix of codes, each once and in an order of their own, and how many texts have it: few, mostly.
code_patterns <- function(codes) {
  values <- sort(unique(as.vector(codes)), method = "radix")
  key <- rep(0, nrow(codes))
  for (column in seq_len(ncol(codes))) {
    key <- key * (length(values) + 1) + match(codes[, column], values, nomatch = 0L)
    key <- match(key, sort(unique(key)))
  }
  n <- tabulate(key)
  list(codes = codes[match(seq_along(n), key), , drop = FALSE], n = n)
}

agreement_of <- function(codes, n, level, draws, alpha) {
  values <- sort(unique(as.vector(codes)), method = "radix")
  counts <- matrix(0, nrow(codes), length(values)) # how many coders gave each code to each text
  for (column in seq_len(ncol(codes))) {
    place <- cbind(seq_len(nrow(codes)), match(codes[, column], values))
    place <- place[!is.na(place[, 2]), , drop = FALSE]
    counts[place] <- counts[place] + 1
  }
  pair <- if (ncol(codes) == 2) matrix(match(codes, values), ncol = 2)
  shared <- which(rowSums(counts) >= 2)
  n_texts <- sum(n[shared])
  measured <- agreement_measures(counts, pair, values, level, matrix(n, 1))
  drawn <- matrix(NA_real_, draws, 3)
  at_once <- max(1, 1e6 %/% length(n))
  for (first in seq(1, by = at_once, length.out = if (n_texts < 2) 0 else ceiling(draws / at_once))) {
    rows <- first:min(draws, first + at_once - 1)
    times <- t(stats::rmultinom(length(rows), n_texts, n[shared]))
    of_pair <- pair[shared, , drop = FALSE]
    drawn[rows, ] <- agreement_measures(counts[shared, , drop = FALSE], of_pair, values, level, times)[, -1]
  }
  ends <- apply(drawn, 2, stats::quantile, c(alpha / 2, 1 - alpha / 2), na.rm = TRUE, names = FALSE)
  frame_of(
    n_texts = n_texts, observed = measured[[1]], kappa = measured[[2]], alpha = measured[[3]],
    ac1 = measured[[4]], kappa_low = ends[1, 1], kappa_high = ends[2, 1], alpha_low = ends[1, 2],
    alpha_high = ends[2, 2], ac1_low = ends[1, 3], ac1_high = ends[2, 3]
  )
}

# A row of observed, kappa, alpha, ac1 for each row of `times`: how many texts have each pattern of `counts`. NA of what
# these codes can't tell.
agreement_measures <- function(counts, pair, values, level, times) {
  n_codes <- rowSums(counts)
  shared <- n_codes >= 2
  if (!any(shared)) {
    return(matrix(NA_real_, nrow(times), 4))
  }
  n <- n_codes[shared]
  times_shared <- times[, shared, drop = FALSE]
  agreeing <- rowSums(counts[shared, , drop = FALSE] * (counts[shared, , drop = FALSE] - 1)) / (n * (n - 1))
  observed <- drop(times_shared %*% agreeing) / rowSums(times_shared)
  known <- n_codes > 0
  share <- times[, known, drop = FALSE] %*% (counts[known, , drop = FALSE] / n_codes[known])
  share <- share / rowSums(times[, known, drop = FALSE])
  beyond <- function(expected, observed) ifelse(expected < 1, (observed - expected) / (1 - expected), NA_real_)
  kappa <- if (is.null(pair)) beyond(rowSums(share^2), observed) else kappas_of(pair, length(values), times, beyond)
  by_chance <- rowSums(share * (1 - share)) / max(1, length(values) - 1)
  ac1 <- if (length(values) < 2) NA_real_ else beyond(by_chance, observed)
  cbind(observed, kappa, krippendorffs_alpha(counts[shared, , drop = FALSE], n, values, level, times_shared), ac1)
}

# Cohen's kappa of a pair.
kappas_of <- function(pair, n_values, times, beyond) {
  both <- stats::complete.cases(pair)
  times <- times[, both, drop = FALSE]
  n <- rowSums(times)
  margins <- lapply(1:2, function(side) times %*% outer(pair[both, side], seq_len(n_values), `==`))
  equal <- drop(times %*% (pair[both, 1] == pair[both, 2]))
  beyond(rowSums(margins[[1]] * margins[[2]]) / n^2, equal / n)
}

krippendorffs_alpha <- function(counts, n, values, level, times) {
  totals <- times %*% counts
  n_all <- rowSums(totals)
  if (level == "nominal") {
    observed <- drop(times %*% ((n^2 - rowSums(counts^2)) / (n - 1)))
    expected <- n_all^2 - rowSums(totals^2)
  } else { # of squared distances of places on a line
    below <- totals %*% upper.tri(diag(length(values)), diag = TRUE) - totals / 2 # half of those that are the same, too
    places <- if (level == "ordinal") below else matrix(values, nrow(times), length(values), byrow = TRUE)
    places <- places - rowSums(totals * places) / n_all
    apart <- n * (counts %*% t(places^2)) - (counts %*% t(places))^2
    observed <- 2 * rowSums(times * t(apart / (n - 1)))
    expected <- 2 * n_all * rowSums(totals * places^2)
    expected[expected <= 1e-20 * (n_all * max(abs(values)))^2] <- 0
  }
  ifelse(expected > 0, 1 - (n_all - 1) * observed / expected, NA_real_)
}
