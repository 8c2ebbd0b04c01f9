# Runs one engine on a CSV of rows, as an R user would, and prints its estimates bit by bit (hexadecimal):
# Rscript engine_from_csv.R ROWS.csv FOLDER_OF_R ENGINE
arguments <- commandArgs(trailingOnly = TRUE)
for (file in list.files(arguments[[2]], pattern = "\\.R$", full.names = TRUE)) {
  source(file)
}
data <- utils::read.csv(arguments[[1]])
if (!is.null(data$is_refusal)) data$is_refusal <- data$is_refusal == "true"
if (!is.null(data$is_valid)) data$is_valid <- data$is_valid == "true"
found <- switch(arguments[[3]],
  welch = welch_test(data),
  step_sensitivity = step_sensitivity(
    data,
    by = intersect(c("model", "test"), names(data)), step = if (!is.null(data$token_step)) "token_step",
    seed = 20250930
  )
)
numbers <- found$estimates[c("estimate", "std_error", "df", "statistic", "p_value", "conf_low", "conf_high")]
cat(sprintf("%a", unlist(numbers, use.names = FALSE)), sep = "\n")
