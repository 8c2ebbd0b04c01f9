# What open_trials() says of a file whose view reads another one, and of one with a macro; then a view of a person's own.
given <- commandArgs(TRUE)
for (file in list.files(file.path(given[[1]], "R"), full.names = TRUE)) source(file)
said <- function(code) {
  tryCatch(
    {
      code
      "no error"
    },
    error = conditionMessage
  )
}
cat(said(print(as.data.frame(open_trials(given[[2]], view = "association_trials")))), sep = "\n")
cat(said(open_trials(given[[3]])), sep = "\n")
print(nrow(as.data.frame(open_trials(given[[2]], view = "ok"))))
