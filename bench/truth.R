# The gate: what pages and help claim of errors and intervals, simulated; bench/truth.py. From the checkout:
#
#   Rscript bench/truth.R CLAIM DATA_SETS     prints a JSON array, one object a row
#   Rscript bench/truth.R                     prints the names of the claims; with --long, of those that take long
#
# A claim is a function of the number of data sets that gives rows of `held()`. Whoever claims something new adds one.
topics <- c("clusters", "effects", "measures", "profiles", "people", "ratings", "learning", "verdicts", "regressions", "codes")
sources <- c(list.files("R", full.names = TRUE), sprintf("bench/claims_of_%s.R", topics))
for (file in sources) source(file)
for (name in c("simulations", "balanced", "choices")) source(sprintf("tests/testthat/helper-%s.R", name))

# A row: a share of data sets, between `least` and `most` if the claim is right. `holds`: one logical a data set.
held <- function(claim, design, holds, least = 0, most = 1) {
  data.frame(claim, design, value = mean(holds), n = length(holds), least, most)
}

# A row whose number is only printed.
printed <- function(claim, design, holds) held(claim, design, holds)

claims <- c(
  claims_of_clusters, claims_of_effects, claims_of_measures, claims_of_profiles, claims_of_people, claims_of_verdicts,
  claims_of_regressions, claims_of_codes
)

words <- commandArgs(TRUE)
if (length(words) < 2) {
  writeLines(names(if ("--long" %in% words) long_claims else claims))
} else {
  rows <- c(claims, long_claims)[[words[[1]]]](as.integer(words[[2]]))
  values <- lapply(rows, function(column) if (is.numeric(column)) format(column, digits = 15, trim = TRUE) else {
    sprintf("\"%s\"", gsub("\"", "\\\"", column, fixed = TRUE))
  })
  fields <- Map(function(name, value) sprintf("\"%s\": %s", name, value), names(rows), values)
  objects <- do.call(paste, c(unname(fields), sep = ", "))
  cat("[", paste0("{", objects, "}", collapse = ", "), "]\n", sep = "")
}
