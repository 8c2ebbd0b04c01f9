#' Does taking words for a sample change the conclusion?
#'
#' Compares the condition effects of two fits of the same cells: the paper's, and one with a random effect
#' of the word, such as `(1 | item)` (words differ) or `(1 | item) + (1 | item:condition)` (the effect differs from word
#' to word, so that its standard error tells how it would come out with other words).
#'
#' @param data the `estimates` of [fit_lme4()] with the paper's formula.
#' @param with_words those of the fit with the word in it.
#' @inheritParams check_influence
#' @return A data frame with one row per group: `term`, the condition effect; `estimate`, `std_error` and `p_value` with
#'   the paper's formula; `estimate_words`, `std_error_words` and `p_words` with the word; `std_error_ratio`, the second
#'   over the first; `changes_sign`; and `changes_conclusion` (significant, or of another sign, in only one of the two).
#'   A group whose second fit failed has no second numbers.
#' @noRd
check_word_effects <- function(data, with_words, by = NULL, alpha = .05) {
  for (frame in list(data, with_words)) {
    check_columns(frame, c(by, "term", "estimate", "std_error", "p_value"), to = "compare the fits")
  }
  check_alpha(alpha)
  paper <- data[data$term != "intercept", , drop = FALSE]
  keys <- c(by, "term")
  codes <- group_codes(rbind(paper[keys], with_words[keys]), keys)
  matched <- with_words[match(codes[seq_len(nrow(paper))], codes[-seq_len(nrow(paper))]), , drop = FALSE]
  cbind(
    paper[c(keys, "estimate", "std_error", "p_value")],
    data.frame(
      estimate_words = matched$estimate, std_error_words = matched$std_error, p_words = matched$p_value,
      std_error_ratio = matched$std_error / paper$std_error,
      changes_sign = sign(matched$estimate) != sign(paper$estimate),
      changes_conclusion = conclusion(matched$estimate, matched$p_value, alpha) !=
        conclusion(paper$estimate, paper$p_value, alpha)
    ),
    row.names = NULL
  )
}
