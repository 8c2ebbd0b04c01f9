# In a checkout (`Rscript tests/testthat.R [FILTER]` from its root) the files of R/ are sourced; under R CMD check the
# installed package is tested. Ends with a line of counts; the exit status is not zero if a test failed.
library(testthat)

# Adds to the file that `make test` counts from: outcome, number, reason.
write_counts <- function(results, file) {
  all <- unlist(lapply(results, function(test) test$results), recursive = FALSE)
  kind <- vapply(all, function(result) class(result)[[1]], character(1))
  reasons <- vapply(all[kind == "expectation_skip"], conditionMessage, character(1))
  reasons <- gsub("^Reason: |[{}]", "", reasons)
  reasons <- sub("^([[:alnum:].]+) (is not installed|cannot be loaded)$", "R package \\1 is not here", reasons)
  failed <- sum(kind %in% c("expectation_failure", "expectation_error"))
  passed <- sum(kind == "expectation_success")
  lines <- c(sprintf("passed\t%d\t", passed), sprintf("failed\t%d\t", failed), sprintf("skipped\t1\t%s", reasons))
  cat(lines, file = file, sep = "\n", append = TRUE)
}

if (file.exists("DESCRIPTION") && dir.exists("R")) {
  Sys.setenv(NOT_CRAN = "true")
  sourced <- new.env(parent = globalenv())
  for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) {
    sys.source(file, envir = sourced)
  }
  filter <- c(commandArgs(trailingOnly = TRUE), list(NULL))[[1]]
  results <- test_dir(
    "tests/testthat", filter = filter, env = sourced, reporter = "check", load_package = "none", stop_on_failure = FALSE
  )
  if (nzchar(Sys.getenv("SLANT_TEST_COUNTS"))) {
    write_counts(results, Sys.getenv("SLANT_TEST_COUNTS"))
  }
  outcomes <- as.data.frame(results)
  quit(status = as.integer(any(outcomes$failed > 0, outcomes$error)), save = "no")
} else {
  library(slant)
  test_check("slant")
}
