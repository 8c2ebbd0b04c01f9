# Installs the packages of analysis/r_packages.csv that are missing or too old here, from SLANT_CRAN or from CRAN.
# Run from the top of the checkout: Rscript tools/install_r_packages.R

source("R/package_versions.R")

is_lacking <- function(wanted) {
  found <- package_versions(wanted$package)$version
  is_new_enough <- mapply(
    function(version, at_least) !is.na(version) && package_version(version) >= package_version(at_least),
    found, wanted$at_least
  )
  !as.logical(is_new_enough)
}

use_repository <- function(named) {
  if (!nzchar(named)) {
    configured <- getOption("repos")
    if (is.null(configured) || identical(unname(configured["CRAN"]), "@CRAN@")) {
      utils::chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
    }
  } else if (dir.exists(named)) {
    options(repos = c(CRAN = paste0("file://", normalizePath(named))))
  } else if (grepl("^[a-z]+://", named)) {
    options(repos = c(CRAN = named))
  } else {
    stop_plainly("SLANT_CRAN must be a folder or an address, but there is no folder \"", named, "\".")
  }
}

writable_library <- function() {
  places <- .libPaths()
  is_writable <- file.access(places, mode = 2) == 0
  if (any(is_writable)) {
    return(places[is_writable][1])
  }
  own <- path.expand(strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep, fixed = TRUE)[[1]][1])
  dir.create(own, recursive = TRUE, showWarnings = FALSE)
  own
}

stop_plainly <- function(...) {
  message("Error: ", ...)
  quit(status = 1, save = "no")
}

# R's duckdb alone compiles for half an hour; nobody should wait for it unasked, because slant itself doesn't use it.
without_long_compiles <- function(lacking) {
  has_binaries <- nzchar(Sys.getenv("SLANT_CRAN")) || .Platform$pkgType != "source" ||
    any(grepl("__linux__", getOption("repos"), fixed = TRUE))
  if (has_binaries || nzchar(Sys.getenv("SLANT_COMPILE")) || !"duckdb" %in% lacking$package) {
    return(lacking)
  }
  message("setup: leaving out R's duckdb, which would compile for half an hour; for it: SLANT_COMPILE=yes make setup")
  lacking[lacking$package != "duckdb", ]
}

install <- function(lacking) {
  library_dir <- writable_library()
  .libPaths(c(library_dir, .libPaths()))
  message("setup: installing R packages into ", library_dir, ": ", toString(lacking$package))
  Sys.setenv(MAKEFLAGS = paste0("-j", max(1, parallel::detectCores(), na.rm = TRUE)))
  utils::install.packages(lacking$package, lib = library_dir, quiet = TRUE)
}

report_failures <- function(failed) {
  if (nrow(failed) == 0) {
    return(invisible())
  }
  names <- toString(paste(failed$package, ">=", failed$at_least))
  how <- paste0("  To see why: Rscript -e 'install.packages(\"", failed$package[1], "\")'")
  if (any(failed$needed_for %in% c("analysis", "tests"))) {
    stop_plainly("These R packages could not be installed: ", names, ".\n", how)
  }
  message("setup: going on without these R packages, which slant itself does not need: ", names, "\n", how)
}

wanted <- utils::read.csv("analysis/r_packages.csv", stringsAsFactors = FALSE)
lacking <- wanted[is_lacking(wanted), ]
if (nrow(lacking) > 0) {
  use_repository(Sys.getenv("SLANT_CRAN"))
  lacking <- without_long_compiles(lacking)
}
if (nrow(lacking) > 0) {
  install(lacking)
  report_failures(lacking[is_lacking(lacking), ])
}
