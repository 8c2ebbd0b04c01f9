# Hostile answers from the database and from an export: R has the same ones, and prints them.
given <- commandArgs(TRUE)
for (file in list.files(file.path(given[[1]], "R"), full.names = TRUE)) source(file)
opened <- as.data.frame(open_trials(given[[2]]))
read <- read_trials(given[[3]])
print(opened[c("model", "answer", "outcome", "tokens")], right = FALSE)
# In a CSV, R takes a carriage return for the end of a line, wherever it stands.
lines <- function(texts) sort(gsub("\r\n?", "\n", texts))
cat(identical(lines(opened$answer), lines(read$answer)), "\n", sep = "")
