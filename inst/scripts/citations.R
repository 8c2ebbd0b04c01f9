# R's own citations as BibTeX, for `collect methods --bibtex`: Rscript citations.R lme4 lmerTest ...
# "R" is R itself; a package that is not installed is left out. A line "%% NAME VERSION" stands before its entries.
for (name in commandArgs(trailingOnly = TRUE)) {
  is_here <- name == "R" || requireNamespace(name, quietly = TRUE)
  if (!is_here) next
  version <- if (name == "R") getRversion() else utils::packageVersion(name)
  entries <- suppressWarnings(utils::citation(if (name == "R") "base" else name))
  cat(sprintf("%%%% %s %s\n", name, version))
  cat(paste(enc2utf8(format(entries, style = "bibtex")), collapse = "\n\n"), "\n", sep = "")
}
