# Fits a CSV with nothing but R: no Python, no database. Prints each number exactly, in hexadecimal.
# Rscript fit_from_csv.R ROWS.csv FOLDER_OF_R
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
rows <- read.csv(arguments[[1]], stringsAsFactors = FALSE)
levels <- c("compatible", "incompatible")
mixed <- fit_lme4(
  rows, "tokens ~ condition + (1 | wording)", levels = list(condition = levels), polish = FALSE # as the study's fit
)
size <- effect_size(rows, levels = levels)
numbers <- c(
  unlist(mixed$estimates[-1]), mixed$variances$variance, mixed$fits$log_lik, mixed$fits$aic,
  unlist(size$estimates[c("estimate", "std_error", "df", "conf_low", "conf_high")])
)
cat(sprintf("%a", numbers), sep = "\n")
