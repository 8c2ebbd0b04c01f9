# Measures the rounds of a CSV with nothing but R: no Python, no database. One line a cell and index.
# Rscript game_indices_from_csv.R ROUNDS.csv FOLDER_OF_R
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
found <- game_indices(read.csv(arguments[[1]]), by = "model", n_draws = 0, n_random = 0)
cat(sprintf("%s,%s,%.17g,%.17g", found$model, found$index, found$estimate, found$sd), sep = "\n")
