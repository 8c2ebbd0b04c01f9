# In a checkout (`Rscript tests/testthat.R` from its root) the files of R/ are sourced; under R CMD check the installed
# package is tested. Ends with a line of counts; the exit status is not zero if a test failed.
library(testthat)

if (file.exists("DESCRIPTION") && dir.exists("R")) {
  Sys.setenv(NOT_CRAN = "true")
  sourced <- new.env(parent = globalenv())
  for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) {
    sys.source(file, envir = sourced)
  }
  test_dir("tests/testthat", env = sourced, reporter = "check", load_package = "none", stop_on_failure = TRUE)
} else {
  library(slant)
  test_check("slant")
}
