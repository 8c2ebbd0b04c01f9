# Lints all R code, or these files, by .lintr and ends with 1 where something is found. Run from the top:
# Rscript tools/lint_r.R [FILE ...]
# The linters are made once: making them for each file, as lint() does by itself, takes as long as the linting.

linters <- eval(parse(text = read.dcf(".lintr", fields = "linters")[[1]]), envir = asNamespace("lintr"))
files <- list.files(c("R", "tools", "tests/testthat"), pattern = "\\.R$", full.names = TRUE)
if (length(chosen <- commandArgs(trailingOnly = TRUE)) > 0) files <- intersect(files, chosen)
found <- do.call(c, lapply(files, lintr::lint, linters = linters, parse_settings = FALSE))
for (lint in found) {
  message(lint$filename, ":", lint$line_number, ":", lint$column_number, " ", lint$message)
}
message(length(files), " files, ", length(found), " lints")
quit(status = as.integer(length(found) > 0), save = "no")
