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
  check_alpha(alpha)
  check_columns(data, c(code, coder, text, by), to = "compare coders")
  if (level != "nominal" && !is.numeric(data[[code]])) {
    stop_with(sprintf("Codes of the level \"%s\" must be numbers, and `%s` is not.", level, code))
  }
  data <- data[!is.na(data[[code]]), ]
  groups <- if (is.null(by)) list(seq_len(nrow(data))) else group_rows(data, by)
  found <- lapply(groups, function(rows) {
    codes <- code_matrix(data[rows, ], code, coder, text)
    found <- agreement_of_sets(codes, level, draws, alpha, seed)
    if (each_code) {
      values <- sort(unique(as.vector(codes)), method = "radix")
      of_codes <- lapply(values, function(value) agreement_of_sets(codes == value, level, draws, alpha, seed))
      n <- c(nrow(found), vapply(of_codes, nrow, 1L))
      found <- cbind(frame_of(code = rep(c(NA, as.character(values)), n)), do.call(rbind, c(list(found), of_codes)))
    }
    if (is.null(by)) found else cbind(as_plain_rows(data[rep(rows[[1]], nrow(found)), by, drop = FALSE]), found)
  })
  as_plain_rows(do.call(rbind, found))
}

# All coders together, then each pair that shares texts.
agreement_of_sets <- function(codes, level, draws, alpha, seed) {
  pairs <- if (ncol(codes) > 2) utils::combn(ncol(codes), 2, simplify = FALSE) else list()
  shared <- vapply(pairs, function(pair) sum(stats::complete.cases(codes[, pair])) > 0, NA)
  sets <- c(list(seq_len(ncol(codes))), pairs[shared])
  do.call(rbind, lapply(sets, function(set) {
    measured <- with_seed(seed, agreement_of(codes[, set, drop = FALSE], level, draws, alpha))
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
  # In an order of their own: draws then do not depend on that of the rows.
  texts <- sort(unique(as.character(data[[text]])), method = "radix")
  if (length(coders) < 2) stop_with(sprintf("Agreement is of two coders or more, and there is %d.", length(coders)))
  place <- cbind(match(as.character(data[[text]]), texts), match(as.character(data[[coder]]), coders))
  if (anyDuplicated(place) > 0) {
    stop_with("A coder has coded a text twice: name what sets these codes apart in `by`, or leave one out.")
  }
  codes <- matrix(if (is.numeric(data[[code]])) NA_real_ else NA_character_, length(texts), length(coders))
  codes[place] <- if (is.numeric(data[[code]])) data[[code]] else as.character(data[[code]])
  colnames(codes) <- coders
  codes
}

agreement_of <- function(codes, level, draws, alpha) {
  values <- sort(unique(as.vector(codes)), method = "radix")
  counts <- matrix(0, nrow(codes), length(values)) # how many coders gave each code to each text
  for (column in seq_len(ncol(codes))) {
    place <- cbind(seq_len(nrow(codes)), match(codes[, column], values))
    place <- place[!is.na(place[, 2]), , drop = FALSE]
    counts[place] <- counts[place] + 1
  }
  pair <- if (ncol(codes) == 2) matrix(match(codes, values), ncol = 2)
  is_shared <- rowSums(counts) >= 2
  measured <- agreement_measures(counts, pair, values, level)
  texts <- which(is_shared)
  drawn <- matrix(NA_real_, draws, 3)
  for (draw in seq_len(if (length(texts) < 2) 0 else draws)) {
    rows <- texts[sample.int(length(texts), replace = TRUE)]
    drawn[draw, ] <- agreement_measures(counts[rows, , drop = FALSE], pair[rows, , drop = FALSE], values, level)[-1]
  }
  ends <- apply(drawn, 2, stats::quantile, c(alpha / 2, 1 - alpha / 2), na.rm = TRUE, names = FALSE)
  frame_of(
    n_texts = sum(is_shared), observed = measured[[1]], kappa = measured[[2]], alpha = measured[[3]],
    ac1 = measured[[4]], kappa_low = ends[1, 1], kappa_high = ends[2, 1], alpha_low = ends[1, 2],
    alpha_high = ends[2, 2], ac1_low = ends[1, 3], ac1_high = ends[2, 3]
  )
}

# c(observed, kappa, alpha, ac1); NA of what these codes can't tell.
agreement_measures <- function(counts, pair, values, level) {
  n_codes <- rowSums(counts)
  is_shared <- n_codes >= 2
  if (!any(is_shared)) {
    return(rep(NA_real_, 4))
  }
  shared <- counts[is_shared, , drop = FALSE]
  n <- n_codes[is_shared]
  observed <- mean(rowSums(shared * (shared - 1)) / (n * (n - 1)))
  share <- colMeans(counts[n_codes > 0, , drop = FALSE] / n_codes[n_codes > 0])
  by_chance <- sum(share * (1 - share)) / max(1, length(values) - 1)
  corrected <- function(expected) if (isTRUE(expected < 1)) (observed - expected) / (1 - expected) else NA_real_
  kappa <- if (is.null(pair)) {
    corrected(sum(share^2))
  } else {
    both <- stats::complete.cases(pair)
    kappa_of(cross_table(pair[both, , drop = FALSE], length(values)))
  }
  ac1 <- if (length(values) < 2) NA_real_ else corrected(by_chance)
  c(observed, kappa, krippendorffs_alpha(shared, n, values, level), ac1)
}

krippendorffs_alpha <- function(counts, n, values, level) {
  coincidences <- crossprod(counts, counts / (n - 1)) - diag(colSums(counts / (n - 1)), ncol(counts))
  totals <- colSums(coincidences)
  distance <- if (level == "nominal") {
    1 - diag(length(values))
  } else if (level == "interval") {
    outer(values, values, "-")^2
  } else {
    below <- cumsum(totals) - totals / 2 # codes below, and half of those that are the same
    outer(below, below, "-")^2
  }
  expected <- sum(outer(totals, totals) * distance)
  if (!isTRUE(expected > 0)) NA_real_ else 1 - (sum(totals) - 1) * sum(coincidences * distance) / expected
}
