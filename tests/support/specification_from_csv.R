# Fits the specifications that a JSON file asks for, as an R user would, and prints their numbers in hexadecimal:
# Rscript specification_from_csv.R ROWS.csv FOLDER_OF_R JOBS.json
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "\\.R$", full.names = TRUE)) source(file)
rows <- utils::read.csv(arguments[[1]], encoding = "UTF-8", na.strings = "")
for (name in names(rows)) {
  if (all(rows[[name]] %in% c("true", "false", NA))) rows[[name]] <- rows[[name]] == "true"
}
for (job in jsonlite::fromJSON(arguments[[3]], simplifyDataFrame = FALSE, simplifyMatrix = FALSE)) {
  found <- fit_specification(
    rows, job$engine, job$arguments, job$contrast,
    drop_flags = job$drop_flags, drop_outcomes = job$drop_outcomes, missing_as = job$missing_as
  )$estimates
  columns <- found[c("estimate", "conf_low", "conf_high", "p_value", "d", "d_low", "d_high")]
  numbers <- as.vector(t(as.matrix(columns))) # row after row
  cat(ifelse(is.na(numbers), "NA", sprintf("%a", as.double(numbers))), sep = "\n")
}
