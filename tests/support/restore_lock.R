# Restores a lock file into a library: Rscript restore_lock.R LOCK LIBRARY REPOSITORY LEAVE_OUT. LEAVE_OUT: names with commas, or -.
arguments <- commandArgs(trailingOnly = TRUE)
options(renv.consent = TRUE, renv.verbose = TRUE, repos = c(CRAN = paste0("file://", arguments[[3]])))
lock <- renv::lockfile_read(arguments[[1]])
lock$Packages[strsplit(arguments[[4]], ",", fixed = TRUE)[[1]]] <- NULL
renv::restore(project = tempdir(), library = arguments[[2]], lockfile = lock, prompt = FALSE, clean = FALSE)
