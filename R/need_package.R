# Stops with the way to get `package`, where it is not installed. `for_what` ends the sentence "Can't …".
need_package <- function(package, for_what) {
  if (requireNamespace(package, quietly = TRUE)) {
    return(invisible(TRUE))
  }
  debian <- c("lme4", "lmerTest", "ggplot2", "DBI", "dplyr", "dbplyr", "testthat")
  stop_with(
    sprintf("Can't %s: the R package \"%s\" must be installed, but it is not.", for_what, package),
    sprintf("From CRAN: install.packages(\"%s\")", package),
    if (package %in% debian) sprintf("On Debian: sudo apt-get install r-cran-%s", tolower(package))
  )
}
