# Installs R packages from SLANT_CRAN (a folder or an address) or from CRAN; tools/setup.py calls it.
#   Rscript tools/install_r_packages.R --kind       prints "binary" or "source", nothing where it can't be reached
#   Rscript tools/install_r_packages.R PACKAGE …    installs them, and takes away again what can't be loaded
patience_s <- 6

use_repository <- function(named) {
  if (dir.exists(named)) {
    options(repos = c(CRAN = paste0("file://", normalizePath(named))))
  } else if (nzchar(named)) {
    options(repos = c(CRAN = named))
  } else if (is.null(getOption("repos")) || identical(unname(getOption("repos")["CRAN"]), "@CRAN@")) {
    utils::chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
  }
}

# A firewall that drops packets answers nothing for minutes, so one short question decides for all.
can_reach <- function(repository) {
  index <- paste0(utils::contrib.url(repository, "source"), "/PACKAGES.gz")
  if (startsWith(index, "file://")) {
    return(file.exists(sub("^file://", "", index)))
  }
  answer <- tryCatch(curlGetHeaders(index, timeout = patience_s), error = function(e) NULL)
  identical(attr(answer, "status"), 200L)
}

# A folder is somebody's own and holds what is meant for this machine, as binaries.
kind_of <- function(repository) {
  is_binary <- startsWith(repository, "file://") || .Platform$pkgType != "source" || grepl("__linux__", repository)
  if (is_binary) "binary" else "source"
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

# stm needs lda, whose current version wants R 4.3; CRAN's archive has the last one for older R.
install_old_lda <- function(packages, library_dir) {
  lacks_lda <- "stm" %in% packages && !nzchar(system.file(package = "lda"))
  if (!lacks_lda || "lda" %in% rownames(utils::available.packages())) {
    return(invisible())
  }
  archived <- paste0(utils::contrib.url(getOption("repos")[[1]], "source"), "/Archive/lda/lda_1.4.2.tar.gz")
  utils::install.packages(archived, lib = library_dir, repos = NULL, type = "source")
}

# A binary that was made for another R may crash it: it goes again, and is missing.
is_sound <- function(package) {
  about <- suppressWarnings(utils::packageDescription(package))
  built <- if (is.list(about)) strsplit(about$Built, ";", fixed = TRUE)[[1]] else return(FALSE)
  minor <- function(version) paste(unlist(version)[1:2], collapse = ".")
  is_of_this_r <- minor(package_version(sub("^R ", "", built[[1]]))) == minor(getRversion())
  is_plain <- length(built) < 2 || !nzchar(trimws(built[[2]]))
  (is_of_this_r || is_plain) && requireNamespace(package, quietly = TRUE)
}

install <- function(packages) {
  library_dir <- writable_library()
  .libPaths(c(library_dir, .libPaths()))
  before <- rownames(utils::installed.packages(library_dir))
  install_old_lda(packages, library_dir)
  utils::install.packages(packages, lib = library_dir, quiet = TRUE)
  added <- setdiff(rownames(utils::installed.packages(library_dir)), before)
  unsound <- added[!vapply(added, is_sound, logical(1))]
  if (length(unsound) > 0) {
    message("Taken away again, because they can't be loaded or were made for another R: ", toString(unsound))
    utils::remove.packages(unsound, library_dir)
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
use_repository(Sys.getenv("SLANT_CRAN"))
if (identical(arguments, "--kind")) {
  repository <- getOption("repos")[[1]]
  if (can_reach(repository)) cat(kind_of(repository), "\n", sep = "")
} else {
  options(timeout = 300)
  install(arguments)
}
