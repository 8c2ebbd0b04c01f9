# How often 95 % intervals hold the effect in studies that ended on precision, and what they saved; bench/stopping.py.
for (file in list.files("R", full.names = TRUE)) source(file)
n <- as.integer(commandArgs(TRUE)[[1]])
variances <- list(wording = 100, word = 400, residual = 14400, wording_intercept = 64, word_intercept = 100)
stopped <- stopped_coverage(n, 24, 12, 15, c(2, 4, 6, 8), effect = 10, variances = variances, seed = 1)
cat(unlist(stopped[c("coverage", "monte_carlo_error", "coverage_whole", "saved", "repetitions_error")]), "\n")
