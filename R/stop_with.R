#' Stop with a sentence that a person can act on
#'
#' @param what one sentence: what can't happen.
#' @param ... further lines: what must hold, what was found, what to type next. `NULL` is left out.
#' @return Nothing; signals an error of class `slant_error`.
#' @noRd
stop_with <- function(what, ...) {
  details <- as.character(unlist(list(...)))
  text <- paste(c(what, sprintf("  %s", details)), collapse = "\n")
  stop(structure(list(message = text, call = NULL), class = c("slant_error", "error", "condition")))
}

# The entry of `known` that is closest to `word`, as "Did you mean …?"; NULL where none is close.
nearest_known <- function(word, known) {
  if (length(known) == 0) {
    return(NULL)
  }
  distance <- utils::adist(word, known, ignore.case = TRUE)[1, ]
  if (min(distance) > max(2, nchar(word) %/% 3)) {
    return(NULL)
  }
  sprintf("Did you mean \"%s\"?", known[[which.min(distance)]])
}

quoted <- function(words) paste(sprintf("\"%s\"", words), collapse = ", ")

# "1 row", "2 rows".
counted <- function(n, what) sprintf("%d %s%s", as.integer(n), what, if (n == 1) "" else "s")

# "a, b and c"
all_in_words <- function(names) {
  if (length(names) < 2) names else paste(paste(names[-length(names)], collapse = ", "), "and", names[[length(names)]])
}

# Stops unless `data` is a data frame that has all `columns`; names the nearest column for the first that is missing.
check_columns <- function(data, columns, to = "fit") {
  if (!is.data.frame(data)) {
    stop_with(
      sprintf("Can't %s: `data` must be a data frame, but it is of class %s.", to, quoted(class(data)[[1]])),
      if (inherits(data, "tbl_lazy")) "To get the rows of a lazy table: dplyr::collect(data)",
      if (inherits(data, "slant_fit")) "To take the estimates of a fit: data$estimates"
    )
  }
  # What bit64 makes of a BIGINT is taken for numbers near 0 without that package.
  is_long <- vapply(intersect(columns, names(data)), function(name) inherits(data[[name]], "integer64"), NA)
  if (any(is_long)) {
    name <- names(is_long)[is_long][[1]]
    stop_with(
      sprintf("Can't %s: the column %s is of class \"integer64\", which R's own functions misread.", to, quoted(name)),
      sprintf("With package bit64 loaded: data$%s <- as.numeric(data$%s)", name, name),
      "Or have numbers from the start: duckdb::duckdb(file, bigint = \"numeric\"), as open_trials() does."
    )
  }
  missing <- setdiff(columns, names(data))
  if (length(missing) > 0) {
    stop_with(
      sprintf("Can't %s: the data have no column %s.", to, quoted(missing)),
      nearest_known(missing[[1]], names(data)),
      sprintf("Columns there are: %s.", paste(names(data), collapse = ", "))
    )
  }
  invisible(data)
}

# Stops with the way to get `package`, where it is not installed. `for_what` ends the sentence "Can't …".
need_package <- function(package, for_what) {
  if (requireNamespace(package, quietly = TRUE)) {
    return(invisible(TRUE))
  }
  if (any(file.exists(file.path(.libPaths(), package, "DESCRIPTION")))) {
    # Installed, and still not to be had: R says why only where it is loaded for itself.
    why <- tryCatch(
      suppressWarnings({
        loadNamespace(package)
        "?"
      }),
      error = conditionMessage
    )
    stop_with(
      sprintf("Can't %s: the R package \"%s\" is installed, but it can't be loaded.", for_what, package),
      sprintf("R says: %s", gsub("[[:space:]]+", " ", why)),
      # Debian's RcppParallel, which rstan needs, asks it for a folder.
      if (grepl("dpkg-architecture", why)) "To have it: sudo apt-get install dpkg-dev"
    )
  }
  debian <- c("lme4", "lmerTest", "ggplot2", "DBI", "dplyr", "dbplyr", "testthat", "brms", "rstan", "posterior", "loo",
              "metafor", "ordinal", "sandwich", "clubSandwich", "survival")
  stop_with(
    sprintf("Can't %s: the R package \"%s\" must be installed, but it is not.", for_what, package),
    sprintf("From CRAN: install.packages(\"%s\")", package),
    if (package %in% debian) sprintf("On Debian: sudo apt-get install r-cran-%s", tolower(package))
  )
}
