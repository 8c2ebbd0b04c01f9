#' Clean reasoning texts for a topic model
#'
#' The published cleaning of the RM-IAT paper's topic model: the text in lower case; then every occurrence of the
#' words in `removed_words` is deleted, *inside of words too* (so that `"per"` eats the head of `"permanent"`, and the
#' paper's list of topic words holds `"manent"`); then all punctuation is deleted, and white space at both ends.
#'
#' The paper's code tries one word after another at each place of a text. Here the words are a tree of their letters,
#' which finds the same places in a tenth of the time.
#'
#' @param texts character vector: one reasoning text per answer. `NA` counts as empty.
#' @param removed_words character vector: the words to delete. Where several fit at one place in the text, the first of
#'   the list is deleted, so their order counts. Upper and lower case are the same.
#' @return A character vector as long as `texts`; `""` if nothing is left.
#' @source Lee & Lai (2025), the topic model of their Supplement (Tables S13 and S14).
#' @noRd
topic_texts <- function(texts, removed_words) {
  in_utf8(cleaned_texts(texts, removed_words))
}

cleaned_texts <- function(texts, removed_words) {
  texts <- tolower(enc2utf8(ifelse(is.na(texts), "", as.character(texts))))
  # For bytes alone the regular expression is a third faster.
  is_ascii <- !grepl("[^ -~[:space:]]", texts, perl = TRUE, useBytes = TRUE)
  words <- alternation(tolower(removed_words))
  for (some in list(is_ascii, !is_ascii)) {
    if (nzchar(words)) texts[some] <- gsub(words, "", texts[some], perl = TRUE)
    texts[some] <- gsub("[[:punct:]]+", "", texts[some])
  }
  gsub("^[ \t\r\n]+|[ \t\r\n]+$", "", texts, perl = TRUE)
}

# A regular expression that finds what "first|second|third" finds. A word that begins with an earlier one is never
# reached there; of those that are left, the longer comes before the shorter it begins with, so the longest fits.
alternation <- function(words) {
  words <- unique(words[nzchar(words)])
  is_reached <- vapply(seq_along(words), function(i) !any(startsWith(words[i], words[seq_len(i - 1)])), logical(1))
  letter_tree(words[is_reached])
}

letter_tree <- function(words) {
  further <- words[nzchar(words)]
  if (length(further) == 0) {
    return("")
  }
  first <- substr(further, 1, 1)
  branches <- vapply(unique(first), function(letter) {
    paste0(sub("([^[:alnum:]])", "\\\\\\1", letter), letter_tree(substring(further[first == letter], 2)))
  }, character(1))
  is_optional <- length(further) < length(words)
  if (length(branches) == 1 && !is_optional) {
    return(branches)
  }
  paste0("(?:", paste(branches, collapse = "|"), ")", if (is_optional) "?")
}
