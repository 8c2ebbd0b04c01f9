# The baseline of `analyze compare`: the mixed models of Tables S6 to S9 as one would write them down: read the authors'
# CSVs, fit one after another, look at the summary.
#
#   Rscript bench/plain.R ../shared/data/rmiat
#
# Prints one row a model: file, n, the estimate of condition, its p. Nothing of slant is used.
suppressPackageStartupMessages(library(lmerTest))

labels_of <- list(
  age_valence = c("pleasant", "unpleasant"), career_family = c("career", "family"),
  math_arts = c("math", "arts"), mental_physical = c("temporary", "permanent"), science_arts = c("science", "arts")
)

# A refusal, as in the paper, is whatever is not exactly one of the two labels.
is_answer <- function(answer, test, is_local) {
  labels <- if (is.null(labels_of[[test]])) c("pleasant", "unpleasant") else labels_of[[test]]
  answer %in% (if (is_local) labels else tools::toTitleCase(labels))
}

fit_file <- function(file, is_local) {
  rows <- read.csv(file)
  rows <- rows[is_answer(rows$attribute, sub("\\.csv$", "", basename(file)), is_local), ]
  rows$prompt <- factor(if (is.null(rows$prompt_id)) rows$prompt else rows$prompt_id)
  is_compatible <- rows$condition %in% c("Stereotype-Consistent", "Association Compatible")
  rows$condition <- factor(ifelse(is_compatible, "compatible", "incompatible"))
  model <- lmer(tokens ~ condition + (1 | prompt), data = rows)
  found <- coef(summary(model))["conditionincompatible", ]
  cat(file, nrow(rows), found[["Estimate"]], found[["Pr(>|t|)"]], "\n")
}

folder <- commandArgs(trailingOnly = TRUE)[[1]]
for (model in c("o3-mini", "DeepSeek-R1", "Claude3.7", "GPT-OSS-20B")) {
  for (file in list.files(file.path(folder, model), pattern = "\\.csv$", full.names = TRUE)) {
    suppressMessages(fit_file(file, is_local = model == "GPT-OSS-20B"))
  }
}
