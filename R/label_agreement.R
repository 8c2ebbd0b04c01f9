#' How far two readers agree
#'
#' Cohen's kappa of two readers' labels: over all labels, and for each label against all others. Trials that only one
#' of them has labelled are left out and counted.
#'
#' @param notes a data frame with `reader`, `trial_id` and `label`, of two readers: [read_notes()].
#' @return A data frame, one row for all labels together (`label` is `NA`) and one per label: `n` trials that both have
#'   labelled, `n_one_reader` that one has, `n_agreed`, the share `observed`, the share `expected` of readers who label
#'   at random as often as these, and `kappa` = (observed - expected) / (1 - expected); `NaN` if both give one label
#'   throughout.
#' @references Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological
#'   Measurement, 20(1), 37-46.
#' @export
#' @examples
#' notes <- data.frame(
#'   reader = rep(c("anna", "ben"), each = 4), trial_id = rep(1:4, 2),
#'   label = c("plain", "plain", "evasive", "evasive", "plain", "evasive", "evasive", "evasive")
#' )
#' label_agreement(notes)
label_agreement <- function(notes) {
  check_columns(notes, c("reader", "trial_id", "label"), to = "compare readers")
  notes <- notes[!is.na(notes$label), ]
  readers <- unique(notes$reader)
  if (length(readers) != 2) {
    stop_with(sprintf("Agreement is of two readers, and these notes have labels of %d.", length(readers)))
  }
  first <- notes[notes$reader == readers[[1]], ]
  place <- match(first$trial_id, notes$trial_id[notes$reader == readers[[2]]])
  other <- notes$label[notes$reader == readers[[2]]][place]
  both <- !is.na(place)
  n_one_reader <- nrow(notes) - 2 * sum(both)
  one <- first$label[both]
  two <- other[both]
  labels <- sort(unique(c(one, two)), method = "radix")
  of_labels <- lapply(labels, function(label) cohens_kappa(one == label, two == label))
  kappas <- do.call(rbind, c(list(cohens_kappa(one, two)), of_labels))
  cbind(data.frame(label = c(NA, labels), n = length(one), n_one_reader = n_one_reader), kappas)
}

cohens_kappa <- function(one, two) {
  values <- unique(c(one, two))
  shares <- table(factor(one, values), factor(two, values)) / length(one)
  observed <- sum(diag(shares))
  expected <- sum(rowSums(shares) * colSums(shares))
  data.frame(
    n_agreed = sum(one == two), observed = observed, expected = expected,
    kappa = (observed - expected) / (1 - expected)
  )
}
