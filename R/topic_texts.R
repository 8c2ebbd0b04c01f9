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

#' Prepare texts for a topic model
#'
#' What `stm::textProcessor()` (lower case, stop words, numbers and punctuation out, stems) followed by
#' `stm::prepDocuments(lower.thresh = 300)` gives, as in the RM-IAT paper. `"fast"` does with each different word once
#' what `"tm"`, the published route, does with each text.
#'
#' @param texts character vector: cleaned texts (see `topic_texts()`), one per document.
#' @param meta data frame with one row per text: the covariates.
#' @param preprocessing `"fast"`, or `"tm"` for the published route; both give the same documents, words and rows.
#' @param lower_thresh words in this many documents or fewer are left out.
#' @return A list of `documents` (one integer matrix per document: numbers of words, and counts), `vocab` (the words, in
#'   the order of the C locale) and `meta` (the rows whose documents hold any word). A message counts the texts that
#'   hold none.
#' @noRd
prepare_topics <- function(texts, meta, preprocessing = c("fast", "tm"), lower_thresh = 300) {
  preprocessing <- match.arg(preprocessing)
  for (package in c("stm", "tm", "SnowballC")) {
    need_package(package, "prepare topics")
  }
  check_columns(meta, character(), to = "prepare topics")
  if (nrow(meta) != length(texts)) {
    stop_with(sprintf("Can't prepare topics: there are %d texts, but %d rows of `meta`.", length(texts), nrow(meta)))
  }
  texts <- ifelse(is.na(texts), "", texts)
  # The order of words is tm's sort(), which follows the locale, and would decide how numbers are rounded.
  locale <- Sys.getlocale("LC_COLLATE")
  on.exit(Sys.setlocale("LC_COLLATE", locale))
  Sys.setlocale("LC_COLLATE", "C")
  prepare <- if (preprocessing == "tm") prepare_by_text else prepare_by_word
  prepared <- in_utf8(prepare(texts, meta, lower_thresh))
  n_empty <- length(texts) - length(prepared$documents)
  if (n_empty > 0) message(counted(n_empty, "text"), " without any word left after cleaning left out.")
  prepared
}

prepare_by_text <- function(texts, meta, lower_thresh) {
  processed <- stm::textProcessor(texts, metadata = meta, verbose = FALSE)
  prepared <- withCallingHandlers(
    stm::prepDocuments(
      processed$documents, processed$vocab, processed$meta,
      lower.thresh = lower_thresh, verbose = FALSE
    ),
    # What is dropped is counted and said by prepare_topics(), in one sentence.
    warning = function(condition) {
      if (grepl("drops documents", conditionMessage(condition))) tryInvokeRestart("muffleWarning")
    }
  )
  prepared[c("documents", "vocab", "meta")]
}

prepare_by_word <- function(texts, meta, lower_thresh) {
  pieces <- strsplit(stringr::str_replace_all(texts, "[^[:graph:]]+", " "), " ", fixed = TRUE)
  document <- rep(seq_along(pieces), lengths(pieces))
  pieces <- unlist(pieces)
  different <- unique(pieces)
  # What textProcessor() makes of a word between blanks, in its order; none of its steps looks across a blank.
  words <- different
  words <- tm::removePunctuation(tolower(words), preserve_intra_word_dashes = TRUE)
  words <- tm::removeNumbers(tm::removeWords(words, tm::stopwords("en")))
  stems <- SnowballC::wordStem(words, "en")
  stems <- ifelse(nchar(stems) >= 3, stems, NA)
  vocab <- sort(unique(stems), method = "radix")
  word <- match(stems, vocab)[match(pieces, different)]
  counts <- count_words(document[!is.na(word)], word[!is.na(word)])
  frequent <- which(tabulate(counts$word, length(vocab)) > lower_thresh)
  counts <- counts[counts$word %in% frequent, ]
  entries <- rbind(match(counts$word, frequent), counts$n)
  row.names(meta) <- NULL
  list(
    documents = lapply(split(as.vector(entries), rep(counts$document, each = 2)), matrix, nrow = 2),
    vocab = vocab[frequent], meta = meta[unique(counts$document), , drop = FALSE]
  )
}

# One row for each word of each document, in order.
count_words <- function(document, word) {
  order <- order(document, word, method = "radix")
  document <- document[order]
  word <- word[order]
  is_first <- c(TRUE, diff(document) != 0 | diff(word) != 0)[seq_along(word)]
  starts <- which(is_first)
  data.frame(document = document[starts], word = word[starts], n = diff(c(starts, length(word) + 1L)))
}
