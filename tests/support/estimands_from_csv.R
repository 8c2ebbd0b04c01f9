# Estimands of attributes by slant's R functions alone, from an export: Rscript estimands_from_csv.R ROWS.csv FOLDER_OF_R
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "\\.R$", full.names = TRUE)) source(file)
rows <- utils::read.csv(arguments[[1]], stringsAsFactors = FALSE)
rows <- rows[rows$outcome == "answered", ]
levels <- list(gender = c("woman", "man"), job = c("clerk", "nurse"), template = c("plain", "short"))
hired <- rows[rows$question == "hire", ]
rated <- rows[rows$question == "rating", ]
attributes <- names(levels)
declared <- list(
  properties = list(gender = "name"), cells = c("name", "job", "template"),
  prompt = c("item", "template", "respondent", "position")
)
found <- list(
  marginal_means(rated, "measured", attributes, "item", levels = levels, declared = declared),
  amce(rated, "measured", attributes, "item", levels = levels, declared = declared),
  impact_ratio(hired, "chosen", c("gender", "job"), "item", levels = levels, declared = declared),
  mean_contrasts(rated, "measured", attributes, "item", levels = levels, declared = declared),
  amie(rated, "measured", c("gender", "job"), "item", levels = levels, declared = declared)
)
numbers <- lapply(found, function(fit) unlist(fit$estimates[c("estimate", "std_error")], use.names = FALSE))
cat(sprintf("%a", unlist(numbers)), sep = "\n")
