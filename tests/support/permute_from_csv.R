# Permutes the rows of a CSV with nothing but R, and prints each number exactly, in hexadecimal.
# Rscript permute_from_csv.R ROWS.csv FOLDER_OF_R ENGINE PERMUTATIONS [chains, iterations, warm-up]
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "\\.R$", full.names = TRUE)) source(file)
rows <- utils::read.csv(arguments[[1]], stringsAsFactors = FALSE)
of_chains <- as.list(as.numeric(arguments[-(1:4)]))
names(of_chains) <- c("chains", "iterations", "warmup")[seq_along(of_chains)]
levels <- list(
  block = c("congruent", "incongruent"), model = c("claude-sonnet-4", "gemini-2.5-pro", "gpt-5"),
  domain = c("gender_career", "gender_science")
)
found <- do.call(permutation_test, c(list(
  rows, "is_consistent ~ block * model * domain + (1 | item)", as.numeric(arguments[[4]]),
  engine = arguments[[3]], levels = levels
), of_chains))
cat(sprintf("%a", unlist(found$cells[c("delta_p", "delta_p_items", "s")], use.names = FALSE)), sep = "\n")
