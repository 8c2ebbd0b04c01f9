# What is found in simulated studies; bench/questions.py. From the checkout:
#
#   Rscript bench/simulations.R coverage|stopping|unequal DATA_SETS
#
# Prints one JSON array: coverage, its Monte Carlo error, both of the study's own model; of stopping the coverage of
# studies asked to the end, the share of trials saved, and the Monte Carlo error of repetitions; of games that vary
# unequally the share of small p and its error, studentised, then not.
for (file in c(list.files("R", full.names = TRUE), "tests/testthat/helper-simulations.R")) source(file)
words <- commandArgs(TRUE)
n <- as.integer(words[[2]])
variances <- function(residual) {
  list(wording = 100, word = 400, residual = residual, wording_intercept = 64, word_intercept = 100)
}
numbers <- switch(words[[1]],
  coverage = {
    crossed <- crossed_coverage(n, 40, 20, effect = 10, variances = variances(900), seed = 1)
    unlist(t(crossed[c("coverage", "monte_carlo_error")]))
  },
  stopping = {
    stopped <- stopped_coverage(n, 24, 12, 15, c(2, 4, 6, 8), effect = 10, variances = variances(14400), seed = 1)
    unlist(stopped[c("coverage", "monte_carlo_error", "coverage_whole", "saved", "repetitions_error")])
  },
  unequal = unlist(unequal_games_p(n, c(10, 30), seed = 1))
)
cat("[", toString(format(numbers, digits = 15, trim = TRUE)), "]\n", sep = "")
