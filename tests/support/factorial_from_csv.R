# Fits a CSV with nothing but R's own functions: no function of slant, no database. Prints each number exactly.
# Rscript factorial_from_csv.R ROWS.csv
rows <- read.csv(commandArgs(trailingOnly = TRUE)[[1]], stringsAsFactors = FALSE)
rows$gender <- factor(rows$gender, c("woman", "man"))
rows$job <- factor(rows$job, c("clerk", "nurse"))
rated <- rows[rows$question == "rating" & rows$outcome == "answered", ]
hired <- rows[rows$question == "hire" & rows$outcome == "answered", ]
numbers <- c(
  stats::coef(stats::lm(rating ~ gender * job, data = rated)),
  stats::coef(stats::glm(chosen ~ gender + job, data = hired, family = "binomial")),
  lme4::fixef(lmerTest::lmer(rating ~ gender * job + (1 | name), data = rated))
)
cat(sprintf("%a", numbers), sep = "\n")
