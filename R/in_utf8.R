# Computes `expression` where letters are those of UTF-8, and puts the session's own locale back: in another one (under
# LC_ALL=C, say) tolower() and [:punct:] know ASCII alone, and the same texts would give other words.
in_utf8 <- function(expression) {
  if (l10n_info()[["UTF-8"]]) {
    return(expression)
  }
  before <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", before))
  for (name in c("C.UTF-8", "en_US.UTF-8", "UTF-8", ".UTF-8")) {
    # A locale that is not there is a warning and no change.
    suppressWarnings(Sys.setlocale("LC_CTYPE", name))
    if (l10n_info()[["UTF-8"]]) {
      return(expression)
    }
  }
  stop_with(
    sprintf("Can't read texts in the locale \"%s\": their letters are those of UTF-8.", before),
    "This machine has no locale with UTF-8 that is known here; start R with one: LC_ALL=C.UTF-8 R"
  )
}
