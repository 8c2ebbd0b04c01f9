#' Prepare texts for a topic model
#'
#' What `stm::textProcessor()` (lower case, stop words, numbers and punctuation out, stems) followed by
#' `stm::prepDocuments(lower.thresh = 300)` gives, as in the RM-IAT paper.
#'
#' @param texts character vector: cleaned texts (see [topic_texts()]), one per document.
#' @param meta data frame with one row per text: the covariates.
#' @param preprocessing `"fast"`, or `"tm"` for the published route; both give the same documents, words and rows.
#' @param lower_thresh words in this many documents or fewer are left out.
#' @return A list of `documents` (one integer matrix per document: numbers of words, and counts), `vocab` (the words)
#'   and `meta` (the rows whose documents hold any word).
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE) && requireNamespace("tm", quietly = TRUE)
#' texts <- c("think about names", "names think of stereotypes", "stereotypes and names")
#' prepare_topics(texts, data.frame(model = c("a", "a", "b")), lower_thresh = 1)
prepare_topics <- function(texts, meta, preprocessing = c("fast", "tm"), lower_thresh = 300) {
  preprocessing <- match.arg(preprocessing)
  processed <- stm::textProcessor(texts, metadata = meta, verbose = FALSE)
  prepared <- stm::prepDocuments(
    processed$documents, processed$vocab, processed$meta, lower.thresh = lower_thresh, verbose = FALSE
  )
  prepared[c("documents", "vocab", "meta")]
}
