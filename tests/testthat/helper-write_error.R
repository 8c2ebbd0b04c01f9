# An error's text alone, for snapshots: each version of testthat heads an error in its own way.
write_error <- function(code) {
  tryCatch({
    code
    writeLines("There was no error.")
  }, slant_error = function(error) writeLines(conditionMessage(error)))
}
