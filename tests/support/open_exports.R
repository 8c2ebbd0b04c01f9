# Reads exports with nothing but R and compares them with the database: Rscript open_exports.R DATABASE FOLDER_OF_R FILE…
# Prints for each file its number of rows and the columns that differ.
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
opened <- open_trials(arguments[[1]])
rows <- as.data.frame(opened)
close_trials(opened)
for (file in arguments[-(1:2)]) {
  exported <- read_trials(file)
  is_same <- vapply(names(rows), function(name) identical(as.character(exported[[name]]), as.character(rows[[name]])), NA)
  counts <- is.integer(exported$tokens) && is.logical(exported$is_refusal)
  cat(basename(file), nrow(exported), counts, toString(names(rows)[!is_same]), "\n", sep = ";")
}
