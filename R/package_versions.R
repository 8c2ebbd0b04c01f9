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

# Run as a script, it prints its result; sourced or inside the package, it only defines the function.
if (sys.nframe() == 0L) {
  utils::write.csv(package_versions(commandArgs(trailingOnly = TRUE)), row.names = FALSE, na = "")
}
