# Stops with the way to get `package`, where it is not installed. `for_what` ends the sentence "Can't …".
need_package <- function(package, for_what) {
  if (requireNamespace(package, quietly = TRUE)) {
    return(invisible(TRUE))
  }
  if (any(file.exists(file.path(.libPaths(), package, "DESCRIPTION")))) {
    stop_unloaded(package, for_what)
  }
  debian <- c("lme4", "lmerTest", "ggplot2", "DBI", "dplyr", "dbplyr", "testthat", "brms", "rstan", "posterior", "loo",
              "metafor", "ordinal", "sandwich", "clubSandwich", "survival")
  stop_with(
    sprintf("Can't %s: the R package \"%s\" must be installed, but it is not.", for_what, package),
    sprintf("From CRAN: install.packages(\"%s\")", package),
    if (package %in% debian) sprintf("On Debian: sudo apt-get install r-cran-%s", tolower(package))
  )
}

# Installed, and still not to be had: R says why only where it is loaded for itself.
stop_unloaded <- function(package, for_what) {
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
