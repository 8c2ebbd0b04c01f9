#' Clean reasoning texts for a topic model
#'
#' The published cleaning of the RM-IAT paper's topic model: the text in lower case; then every occurrence of the
#' words in `removed_words` is deleted, *inside of words too* (so that `"per"` eats the head of `"permanent"`, and the
#' paper's list of topic words holds `"manent"`); then all punctuation is deleted, and white space at both ends.
#'
#' @param texts character vector: one reasoning text per answer. `NA` counts as empty.
#' @param removed_words character vector: the words to delete. At one place in the text the first of them that fits is
#'   deleted, so their order counts. Upper and lower case are the same.
#' @return A character vector as long as `texts`; `""` where nothing is left.
#' @source Lee & Lai (2025), the topic model of their Supplement (Tables S13 and S14).
#' @export
#' @examples
#' topic_texts("The word PERMANENT isn't a flower.", c("per", "flower"))
topic_texts <- function(texts, removed_words) {
  texts <- tolower(ifelse(is.na(texts), "", texts))
  if (length(removed_words) > 0) {
    texts <- gsub(paste(tolower(removed_words), collapse = "|"), "", texts, perl = TRUE)
  }
  trimws(gsub("[[:punct:]]", "", texts))
}
