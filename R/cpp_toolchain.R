# The C++ compiler and the headers that Stan programs are compiled with.

# The first line of what R's C++ compiler says of itself; NA where there is none, or no make.
compiler_version <- function() {
  # Asking takes a third of a second. Another PATH may have another compiler.
  path <- paste0("PATH=", Sys.getenv("PATH"))
  if (is.null(compilers[[path]])) compilers[[path]] <- ask_compiler()
  compilers[[path]]
}

compilers <- new.env(parent = emptyenv())

ask_compiler <- function() {
  if (!nzchar(Sys.which("make"))) {
    return(NA_character_)
  }
  for (variable in c("CXX14", "CXX17", "CXX")) {
    command <- first_line(file.path(R.home("bin"), "R"), c("CMD", "config", variable))
    program <- strsplit(trimws(command), " ", fixed = TRUE)[[1]]
    if (isTRUE(nzchar(Sys.which(program[1])))) {
      return(first_line(program[1], "--version"))
    }
  }
  NA_character_
}

first_line <- function(program, arguments) c(output_of(program, arguments), "")[[1]]

# The lines that a program prints; none where it can't be run.
output_of <- function(program, arguments = character()) {
  tryCatch(
    suppressWarnings(system2(program, arguments, stdout = TRUE, stderr = FALSE)),
    error = function(problem) character()
  )
}

# Stops with a sentence where Stan can't be compiled, and tells rstan where the Boost headers are.
check_toolchain <- function(compiler, headers = boost_headers()) {
  if (is.na(compiler)) {
    stop_with(
      "Can't compile the Stan model: there is no C++ compiler here, and no compiled model in the cache.",
      sprintf("A model that is in the cache (%s) runs without a compiler.", cache_folder()),
      "Debian or Ubuntu: sudo apt-get install g++ make. macOS: xcode-select --install"
    )
  }
  if (is.na(headers)) {
    stop_with(
      "Can't compile the Stan model: the headers of the C++ library Boost are not here.",
      "Debian or Ubuntu: sudo apt-get install libboost-dev. Elsewhere, in R: install.packages(\"BH\")"
    )
  }
  rstan::rstan_options(boost_lib = headers)
}

# R's package BH has the headers, but Debian's build of it has none and leaves them to libboost-dev.
boost_headers <- function() {
  conda <- Sys.getenv("CONDA_PREFIX")
  folders <- c(
    system.file("include", package = "BH"), if (nzchar(conda)) file.path(conda, "include"),
    "/usr/include", "/usr/local/include", "/opt/homebrew/include"
  )
  has_boost <- file.exists(file.path(folders, "boost", "version.hpp"))
  c(folders[nzchar(folders) & has_boost], NA)[[1]]
}
