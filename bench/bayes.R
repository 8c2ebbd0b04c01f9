# The interference study's Bayesian model with nothing but R. From the checkout:
#
#   Rscript bench/bayes.R compile            compiles the model, or finds it in the cache
#   Rscript bench/bayes.R fit ROWS.csv       fits stage B with the paper's settings, keeps the model and its draws
#
# Prints one JSON object: the seconds that compiling took.
for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) source(file)
arguments <- commandArgs(trailingOnly = TRUE)
formula <- "is_consistent ~ condition * model * test + (1 | item)"
levels <- list(
  condition = c("congruent", "incongruent"), model = c("claude-sonnet-4", "gemini-2.5-pro", "gpt-5"),
  test = c("gender_career", "gender_science")
)
compile_s <- 0
if (arguments[[1]] == "compile") {
  trials <- simulate_forced_choice(n_words = 2)
  trials <- trials[trials$is_valid, ]
  compile_s <- attr(compiled_model(brms_parts(trials, formula, levels)$code), "compile_s")
} else {
  rows <- read.csv(arguments[[2]])
  priors <- read.csv(sub("[.]csv$", ".settings.csv", arguments[[2]]))
  kept <- tempfile()
  found <- fit_brms(
    rows, formula, levels, stats::setNames(as.list(priors$value), priors$name),
    seed = 20260612, save_to = paste0(kept, ".rds"), draws_to = paste0(kept, ".parquet")
  )
  stopifnot(nrow(found$estimates) > 12)
}
cat(sprintf("{\"compile_s\": %.3f}\n", compile_s))
