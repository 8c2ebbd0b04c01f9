# The levels to compare where nobody gives them: in the order of a factor, or of the column NAME_no that the views have,
# else in alphabetical order, which is said. The first one is the reference. Two there must be, unless there
# `may_be_fewer`, or `may_be_more`.
levels_of <- function(data, contrast, levels = NULL, may_be_fewer = FALSE, may_be_more = FALSE) {
  if (!is.null(levels)) {
    return(levels)
  }
  check_columns(data, contrast)
  values <- data[[contrast]]
  number <- paste0(contrast, "_no")
  if (is.factor(values)) {
    present <- levels(droplevels(values))
  } else if (number %in% names(data) && !anyNA(data[[number]])) {
    present <- unique(as.character(values)[order(data[[number]], method = "radix")])
  } else {
    present <- sort(unique(as.character(values[!is.na(values)])), method = "radix")
    message(sprintf(
      "The reference level of %s is %s, the first in the alphabet; for another: levels = c(\"%s\").",
      contrast, quoted(present[1]), paste(rev(present), collapse = "\", \"")
    ))
  }
  if (length(present) == 0 && !may_be_fewer) {
    stop_with(sprintf(
      "Can't compare: %s.",
      if (nrow(data) == 0) "there are no rows" else sprintf("the column %s has no values", quoted(contrast))
    ))
  }
  if (length(present) != 2 && !(may_be_fewer && length(present) < 2) && !(may_be_more && length(present) > 2)) {
    stop_with(
      sprintf(
        "Can't compare: the column %s has %d values (%s), not two.", quoted(contrast), length(present),
        toString(present)
      ),
      "Name two of them, the reference first: levels = c(\"...\", \"...\")."
    )
  }
  present
}
