# A file of inst/, by its path in there: in the folder that SLANT_INST names (the Python bridge sets it), in the
# installed package, next to the folder that this file was sourced from, or in a checkout in or above the working
# directory.
shipped_file <- function(path) {
  above <- Reduce(function(folder, ...) dirname(folder), 1:4, getwd(), accumulate = TRUE)
  folders <- c(
    Sys.getenv("SLANT_INST"), if (isNamespace(topenv())) system.file(package = "slant"),
    file.path(c(if (!is.null(sourced_from)) dirname(sourced_from), above), "inst")
  )
  files <- Filter(file.exists, file.path(folders[nzchar(folders)], path))
  if (length(files) == 0) {
    stop("the file inst/", path, " is not here; set the variable SLANT_INST to the folder inst of slant.")
  }
  files[[1]]
}

# The folder of this file, which source() and sys.source() know only while they read it; none in an installed package.
sourced_from <- (function() {
  files <- unlist(lapply(sys.frames(), function(frame) c(frame$ofile, if (is.character(frame$file)) frame$file)))
  files <- files[basename(files) == "shipped_file.R"]
  if (length(files) > 0) dirname(normalizePath(files[[1]]))
})()
