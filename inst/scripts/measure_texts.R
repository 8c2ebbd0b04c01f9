# Answers each text on standard input with the number that a function of somebody's script makes of it:
#   Rscript measure_texts.R SCRIPT FUNCTION
# A text is a line, encoded as a part of an address; its number the line after "value".
words <- commandArgs(TRUE)
source(words[[1]])
measure <- match.fun(words[[2]])
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  text <- utils::URLdecode(line)
  Encoding(text) <- "UTF-8"
  cat("value\n", format(as.double(measure(text))[[1]], digits = 15), "\n", sep = "")
}
