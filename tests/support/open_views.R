# Opens views with nothing but R: Rscript open_views.R DATABASE FOLDER_OF_R VIEW… Prints view and number of rows as CSV.
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
for (view in arguments[-(1:2)]) {
  rows <- open_trials(arguments[[1]], view = view)
  cat(view, ",", nrow(as.data.frame(rows)), "\n", sep = "")
  close_trials(rows)
}
