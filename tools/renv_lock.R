# Writes renv.lock: the versions installed here of all that DESCRIPTION names and what that needs in turn.
# Run from the top of the checkout: Rscript tools/renv_lock.R [FILE]
#
# The list of repositories stays empty, so that renv::restore() takes a person's own `repos`: no mirror is named here.

file <- c(commandArgs(trailingOnly = TRUE), "renv.lock")[1]
options(renv.lockfile.version = 1L, renv.verbose = FALSE, renv.consent = TRUE)
lock <- renv::lockfile_create(type = "explicit", libpaths = .libPaths(), project = getwd(), dev = TRUE)
lock$R$Repositories <- list()
lock$Packages <- lapply(lock$Packages, function(package) package[intersect(
  c("Package", "Version", "Source", "Repository", "Requirements"), names(package)
)])
renv::lockfile_write(lock, file = file)
message(file, ": R ", lock$R$Version, ", ", length(lock$Packages), " packages")
