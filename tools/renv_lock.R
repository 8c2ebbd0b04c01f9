# Writes renv.lock: the versions installed here of what analysis/r_packages.csv names and of what that needs in turn.
# Run from the top of the checkout: Rscript tools/renv_lock.R [FILE]
#
# The list of repositories stays empty, so that renv::restore() takes a person's own `repos`: no mirror is named here.

file <- c(commandArgs(trailingOnly = TRUE), "renv.lock")[1]
options(renv.lockfile.version = 1L, renv.verbose = FALSE, renv.consent = TRUE)

wanted <- utils::read.csv("analysis/r_packages.csv", stringsAsFactors = FALSE)$package
base <- rownames(utils::installed.packages(priority = "base"))
packages <- setdiff(wanted, base)

lock <- renv::lockfile_create(packages = packages, libpaths = .libPaths(), project = getwd(), force = TRUE)
lock$R$Repositories <- list()
kept <- c("Package", "Version", "Source", "Repository", "Requirements")
lock$Packages <- lapply(lock$Packages, function(package) package[names(package) %in% kept])
invisible(renv::lockfile_write(lock, file = file))
message(file, ": R ", lock$R$Version, ", ", length(lock$Packages), " packages")
