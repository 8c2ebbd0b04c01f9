# Checks a CSV of trials with nothing but R: no Python, no database. Prints each number exactly, in hexadecimal.
# Rscript check_from_csv.R ROWS.csv FOLDER_OF_R
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
rows <- read.csv(arguments[[1]], stringsAsFactors = FALSE)
rows$is_refusal <- rows$is_refusal == "true"
rows$is_valid <- rows$is_valid == "true"
answered <- rows[rows$is_valid, ]
formula <- "tokens ~ condition + (1 | wording)"
levels <- list(condition = c("compatible", "incompatible"))
influence <- check_influence(fit_leave_one_out(answered, formula, levels = levels)$estimates)
numbers <- c(
  unlist(check_residuals(answered)[c("skewness", "sd_ratio", "qq_correlation")]),
  unlist(check_skew(answered)[c("d_log", "p_ranks")]),
  unlist(check_refusals(rows)[c("d_lowest", "d_highest", "tipping_sd")]),
  influence$estimate, influence$cooks_distance
)
cat(sprintf("%a", numbers), sep = "\n")
