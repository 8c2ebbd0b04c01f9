# What the text of a reasoning is: the reasoning itself (raw), or a summary that its provider wrote. Words of the two
# are never put together.

# `data` without the texts of another kind than `wanted` (NULL: the raw ones, where there are any), and how many that
# were. An unknown kind is taken for raw. Data without the column `reasoning_kind` are left as they are.
texts_of_one_kind <- function(data, text = "reasoning_text", wanted = NULL) {
  if (!is.null(wanted)) one_of(wanted, c("raw", "summary"), "reasoning_kind")
  if (text != "reasoning_text" || !all(c(text, "reasoning_kind") %in% names(data))) {
    return(list(data = data, kind = NULL, n_others = 0L))
  }
  kinds <- as.character(data$reasoning_kind)
  kinds[is.na(kinds)] <- "raw"
  has_text <- !is.na(data[[text]])
  kind <- if (!is.null(wanted)) wanted else if (any(kinds[has_text] == "raw")) "raw" else "summary"
  is_other <- has_text & kinds != kind
  data[[text]][is_other] <- NA
  list(data = data, kind = kind, n_others = sum(is_other))
}

# Says it if a person can read it; as a warning, for it changes what the texts are of.
say_of_kind <- function(of_kind) {
  if (of_kind$n_others > 0) {
    others <- setdiff(c("raw", "summary"), of_kind$kind)
    warning(sprintf(
      "%s left out, which are of the kind \"%s\": a fit is of texts of one kind, here \"%s\" (reasoning_kind).",
      counted(of_kind$n_others, "text"), others, of_kind$kind
    ), call. = FALSE)
  } else if (identical(of_kind$kind, "summary")) {
    message("The texts are summaries that their providers wrote, not the reasoning itself (reasoning_kind).")
  }
}
