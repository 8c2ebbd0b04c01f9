# Fits stage B to a CSV with nothing but R, and keeps its draws: no Python, no database.
# Rscript draws_from_csv.R ROWS.csv FOLDER_OF_R DRAWS.parquet SEED
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
rows <- read.csv(arguments[[1]], stringsAsFactors = FALSE)
for (name in c("is_valid", "is_consistent")) rows[[name]] <- c(true = TRUE, false = FALSE)[rows[[name]]]
found <- fit_brms(
  rows, "is_consistent ~ block * model * domain + (1 | item)",
  levels = list(block = c("congruent", "incongruent"), domain = c("gender_career", "gender_science")),
  chains = 1, iterations = 200, warmup = 100, seed = as.integer(arguments[[4]]), draws_to = arguments[[3]]
)
