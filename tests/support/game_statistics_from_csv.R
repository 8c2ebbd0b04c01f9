# Indices and differences of the rounds of a CSV with nothing but R: no Python, no database. Numbers to the last bit.
# Rscript game_statistics_from_csv.R ROUNDS.csv FOLDER_OF_R
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "[.]R$", full.names = TRUE)) source(file)
rounds <- read.csv(arguments[[1]])
bits <- function(kind, frame, key, values) {
  for (row in seq_len(nrow(frame))) {
    cat(kind, unlist(lapply(frame[row, key], as.character)), sprintf("%.17g", unlist(frame[row, values])), sep = ",")
    cat("\n")
  }
}
found <- game_indices(
  rounds, by = c("variant", "model"), n_draws = 50, n_random = 5, seed = 7, n_groups = 4, class_sizes = c(1, 1, 1, 1)
)
bits("indices", found, c("variant", "model", "index"), c(
  "estimate", "sd", "conf_low", "conf_high", "boot_low", "boot_high", "random_level", "random_low", "random_high"
))
compared <- compare_games(rounds, "variant", "main", by = "model", n_draws = 60, adjust = "BH", seed = 7)
bits("differences", compared, c("condition", "model", "index"), c(
  "difference", "std_error", "boot_low", "boot_high", "p_value", "p_unstudentised", "p_adjusted"
))
