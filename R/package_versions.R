#' Versions of installed packages
#'
#' `analyze doctor` runs this file with Rscript, because it has to work when rpy2 does not.
#'
#' @param packages names of packages.
#' @return A data frame with `package` and `version` (NA if the package is not installed), in the order given.
#' @keywords internal
#' @noRd
package_versions <- function(packages) {
  version_of <- function(package) {
    version <- suppressWarnings(utils::packageDescription(package, fields = "Version"))
    if (is.na(version)) NA_character_ else as.character(version)
  }
  data.frame(
    package = packages,
    version = vapply(packages, version_of, character(1), USE.NAMES = FALSE),
    stringsAsFactors = FALSE
  )
}

# The versions of these packages and of all that they need, without what is part of R: what a lock file has to name.
needed_versions <- function(packages) {
  installed <- utils::installed.packages()
  needed <- tools::package_dependencies(packages, installed, c("Depends", "Imports", "LinkingTo"), recursive = TRUE)
  there <- intersect(c(packages, unlist(needed, use.names = FALSE)), rownames(installed))
  base <- rownames(installed)[installed[, "Priority"] %in% "base"]
  package_versions(sort(setdiff(there, base), method = "radix"))
}

# Run as a script, it prints its result; sourced or inside the package, it only defines the function.
if (sys.nframe() == 0L) {
  utils::write.csv(package_versions(commandArgs(trailingOnly = TRUE)), row.names = FALSE, na = "")
}
