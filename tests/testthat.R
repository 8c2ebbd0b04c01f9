# In a checkout (`Rscript tests/testthat.R [FILTER]` from its root) the files of R/ are sourced, once, and two processes
# that are forked from this one share the tests; under R CMD check the installed package is tested. Ends with lines of
# counts; the exit status is not zero if a test failed.
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

# Adds a line for each file to the ledger of `make test` (tests/support/ledger.py), processes that R started counted.
seconds_of_files <- R6::R6Class("seconds_of_files", inherit = Reporter, public = list(
  file = NULL, begun = NULL,
  start_file = function(name) {
    self$write()
    self$file <- name
    self$begun <- proc.time()
  },
  end_reporter = function() self$write(),
  write = function() {
    ledger <- Sys.getenv("SLANT_TEST_LEDGER")
    if (nzchar(ledger) && !is.null(self$file)) {
      used <- proc.time() - self$begun
      line <- sprintf("tests/testthat/%s\t%.2f\t%.2f\t\n", self$file, sum(used[-3], na.rm = TRUE), used[[3]])
      cat(line, file = ledger, append = TRUE)
    }
  }
))

# Runs the test files of these names and returns whether a test failed; what it says is shown together at its end.
run_share <- function(names, env) {
  said <- utils::capture.output({
    results <- test_dir(
      "tests/testthat", filter = sprintf("^(%s)$", paste(names, collapse = "|")), env = env, load_package = "none",
      reporter = MultiReporter$new(list(CheckReporter$new(), seconds_of_files$new())), stop_on_failure = FALSE
    )
  })
  writeLines(said)
  if (nzchar(Sys.getenv("SLANT_TEST_COUNTS"))) {
    write_counts(results, Sys.getenv("SLANT_TEST_COUNTS"))
  }
  outcomes <- as.data.frame(results)
  any(outcomes$failed > 0, outcomes$error)
}

if (file.exists("DESCRIPTION") && dir.exists("R")) {
  Sys.setenv(NOT_CRAN = "true")
  sourced <- new.env(parent = globalenv())
  for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) {
    sys.source(file, envir = sourced)
  }
  files <- list.files("tests/testthat", "^test-.*\\.R$", full.names = TRUE)
  names <- sub("^test-(.*)\\.R$", "\\1", basename(files))
  names <- names[order(file.size(files), decreasing = TRUE)]
  names <- grep(c(commandArgs(trailingOnly = TRUE), "")[[1]], names, value = TRUE)
  n_shares <- if (.Platform$OS.type == "unix") min(2, length(names)) else 1
  shares <- split(names, seq_along(names) %% max(1, n_shares))
  has_failed <- parallel::mclapply(shares, run_share, env = sourced, mc.cores = max(1, n_shares), mc.preschedule = FALSE)
  # What is no answer is the error that a process ended with.
  all_good <- length(names) > 0 && all(vapply(has_failed, isFALSE, logical(1)))
  quit(status = as.integer(!all_good), save = "no")
} else {
  library(slant)
  test_check("slant")
}
