# Prints "package version" for what analysis/r_packages.csv names and what that needs in turn, as it is installed here.
# What tools/renv_lock.R writes, in a second: renv looks into every file of every package.

wanted <- utils::read.csv("analysis/r_packages.csv", stringsAsFactors = FALSE)$package
here <- utils::installed.packages()
here <- here[!duplicated(rownames(here)), ]
base <- rownames(here)[here[, "Priority"] %in% "base"]
needs <- c("Depends", "Imports", "LinkingTo")
needed <- unlist(tools::package_dependencies(wanted, db = here, which = needs, recursive = TRUE))
closure <- sort(setdiff(intersect(c(wanted, needed), rownames(here)), base), method = "radix")
writeLines(paste(closure, here[closure, "Version"]))
