# Which versions made a result: R and the packages that took part, next to every result, and compared with those here.

# One row per package that is installed, R first.
versions_of <- function(packages) {
  installed <- packages[vapply(packages, requireNamespace, logical(1), quietly = TRUE)]
  versions <- vapply(installed, version_of_loaded, character(1), USE.NAMES = FALSE)
  frame_of(package = c("R", installed), version = c(as.character(getRversion()), versions))
}

# Of a package that is loaded, and so stays what it is until R ends: each result names it.
version_of_loaded <- function(name) {
  if (is.null(loaded_versions[[name]])) loaded_versions[[name]] <- as.character(utils::packageVersion(name))
  loaded_versions[[name]]
}

loaded_versions <- new.env(parent = emptyenv())

# The table `versions` of each text that the database keeps, such as {"R": "4.2.2", "lme4": "1.1.31"}.
# Flat, and written by slant itself; a JSON package for this alone would be one more thing to install.
parse_versions <- function(text) {
  pairs <- regmatches(text, gregexpr("\"[^\"]+\": *\"[^\"]*\"", text))[[1]]
  parts <- regmatches(pairs, gregexpr("\"[^\"]*\"", pairs))
  part <- function(i) gsub("\"", "", vapply(parts, `[[`, character(1), i))
  data.frame(package = part(1), version = part(2))
}

# What of `made_with` is of another version here, in words; NA where nothing is. What is slant's own is not compared.
other_versions <- function(made_with) {
  then <- made_with[!made_with$package %in% c("slant", "definition", "machine", "slant's R code"), ]
  installed <- versions_of(setdiff(then$package, "R"))
  now <- installed$version[match(then$package, installed$package)]
  # R writes one version in two ways: 1.1-31 and 1.1.31.
  differs <- is.na(now) | gsub("-", ".", then$version, fixed = TRUE) != gsub("-", ".", now, fixed = TRUE)
  if (!any(differs)) {
    return(NA_character_)
  }
  here_in_words <- ifelse(is.na(now), "missing here", sprintf("here %s", now))
  paste(sprintf("%s %s (%s)", then$package, then$version, here_in_words)[differs], collapse = ", ")
}
