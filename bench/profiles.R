# Effects of a million profiles: seconds of processor of each function, and the memory of the process. From the checkout:
#
#   Rscript bench/profiles.R 1000000
#
# Nine attributes, of which two pairs have combinations that are never shown; ten profiles a person. Prints one JSON
# object: seconds of marginal means, balance and effects, the peak in MB.
for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) source(file)
loadNamespace("Matrix")

n <- as.integer(commandArgs(TRUE)[[1]])
sizes <- c(
  gender = 2, education = 7, language = 4, origin = 10, job = 11, experience = 4, plans = 4, reason = 3, trips = 5
)
set.seed(1)
rows <- as.data.frame(lapply(sizes, function(size) sample.int(size, n, TRUE)))
rows$education <- ifelse(rows$job > 8, pmax(rows$education, 5), rows$education)
rows$reason <- ifelse(rows$origin > 6, pmin(rows$reason, 2), rows$reason)
rows[] <- Map(function(codes, name) sprintf("%s %02d", name, codes), rows, names(rows))
rows$person <- rep(seq_len(n), each = 10, length.out = n)
rows$chosen <- as.integer(stats::runif(n) < .4 + .1 * (rows$gender == "gender 02"))
linked <- list(c("job", "education"), c("origin", "reason"))

seconds <- function(call) sum(system.time(call)[c("user.self", "sys.self")])
attributes <- names(sizes)
spent <- c(
  marginal_means = seconds(marginal_means(rows, "chosen", attributes, "person")),
  balance = seconds(check_balance(rows, attributes, linked = linked)),
  amce = seconds(amce(rows, "chosen", attributes, "person", linked = linked))
)
peak <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
peak_mb <- as.double(gsub("[^0-9]", "", peak)) / 1024
cat(sprintf("{%s, \"peak_mb\": %.0f}\n", paste(sprintf("\"%s\": %.2f", names(spent), spent), collapse = ", "), peak_mb))
