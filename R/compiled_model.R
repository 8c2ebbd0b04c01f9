#' A compiled Stan model, compiled once
#'
#' Compiling a Stan program takes about a minute and 2.3 GB. It is done once on a machine: the compiled model is kept in
#' the user's cache directory (`tools::R_user_dir("slant", "cache")`), under a name made of the code and of the versions
#' of R, rstan, StanHeaders and the compiler. A change of one of them compiles again. A model that is there needs no
#' compiler.
#'
#' Two processes may ask at once: one compiles, the other waits for it. What a killed process left behind (a lock, half
#' a file) is noticed and made good.
#'
#' @param code a Stan program, one string: such as `brms_parts(…)$code`.
#' @param say a function that gets, in words, what is being done; or the path of a file to write it to.
#' @return An object of class `stanmodel`, for `rstan::sampling()`. Its attribute `compile_s` says how many seconds
#'   compiling took here and now: 0 if the model was there.
#' @noRd
compiled_model <- function(code, say = NULL) {
  need_package("rstan", "fit Bayesian models")
  say <- progress_writer(say)
  code <- paste(code, collapse = "\n")
  # what decides whether compiled code still fits, but for the compiler: without one there is no asking for its version
  versions <- vapply(c("rstan", "StanHeaders"), function(name) as.character(utils::packageVersion(name)), "")
  name <- paste0("stan-", text_hash(c(code, as.character(getRversion()), R.version$platform, versions)))
  if (is.null(models_in_use[[name]])) {
    models_in_use[[name]] <- cached_model(code, name, say)
    return(models_in_use[[name]])
  }
  structure(models_in_use[[name]], compile_s = 0)
}

# What this process has read already: loading a model's code again takes a second.
models_in_use <- new.env(parent = emptyenv())

text_hash <- function(text) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(charToRaw(enc2utf8(paste(text, collapse = "\n"))), file)
  substr(unname(tools::md5sum(file)), 1, 20)
}

# `compile`: what makes a model of code, where the cache has none.
cached_model <- function(code, name, say, compile = compile_stan) {
  compiler <- compiler_version()
  path <- file.path(cache_folder(), sprintf("%s-%s.rds", name, text_hash(compiler)))
  of_any <- list.files(cache_folder(), pattern = sprintf("^%s-[0-9a-f]+[.]rds$", name), full.names = TRUE)
  of_any <- of_any[order(file.mtime(of_any), decreasing = TRUE)]
  model <- cached_stanmodel(if (is.na(compiler)) of_any else path, code)
  if (!is.null(model)) {
    return(structure(model, compile_s = 0))
  }
  check_toolchain(compiler)
  with_lock(paste0(path, ".lock"), say = say, waiting_for = "the Stan model, which another process compiles", {
    # Anyone who waited finds it made.
    model <- cached_stanmodel(path, code)
    if (is.null(model)) compile_and_keep(code, path, say, compile) else structure(model, compile_s = 0)
  })
}

# The first of these files that holds this model; what can't be read is removed. `NULL` where there is none.
cached_stanmodel <- function(paths, code) {
  for (path in paths[file.exists(paths)]) {
    stored <- tryCatch(suppressWarnings(readRDS(path)), error = function(problem) NULL)
    if (is.list(stored) && identical(stored$code, code) && inherits(stored$model, "stanmodel")) {
      return(stored$model)
    }
    unlink(path)
  }
  NULL
}

compile_and_keep <- function(code, path, say, compile) {
  say("Compiling the Stan model: about a minute, once on this machine")
  begun <- proc.time()[["elapsed"]]
  model <- compile(code)
  # halves of files of processes that were killed: nobody writes for a day
  halves <- list.files(dirname(path), pattern = "^stan-.*[.]new$", full.names = TRUE)
  unlink(halves[difftime(Sys.time(), file.mtime(halves), units = "days") > 1])
  problem <- write_whole(path, function(part) saveRDS(list(code = code, model = model), part))
  if (!is.null(problem)) {
    message("The compiled model could not be stored in ", dirname(path), ": the next fit compiles it again.")
  }
  structure(model, compile_s = proc.time()[["elapsed"]] - begun)
}

compile_stan <- function(code) {
  result <- with_conditions(function() rstan::stan_model(model_code = code, model_name = "slant"))
  if (is.null(result$value)) {
    lines <- c(result$output, result$conditions$text)
    stop_with(
      "Can't compile the Stan model: the compiler ended with an error.",
      utils::tail(trimws(unlist(strsplit(lines[nzchar(lines)], "\n"))), 5)
    )
  }
  result$value
}

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

# Compiled code in inst/native/, made at its first use and kept in the user's cache: so that R/ can be sourced and
# installed alike, and neither needs a compiler before a function is called that is faster with it.

# The address of the function slant_NAME of inst/native/NAME.cpp. Where it can't be had: NULL, and a message that says
# why, and what that means (`without_it`).
native_code <- function(name, without_it) {
  if (is.null(loaded_code[[name]])) {
    loaded_code[[name]] <- tryCatch(load_native(name), error = conditionMessage)
  }
  address <- loaded_code[[name]]
  if (is.character(address)) {
    message("Without compiled code ", without_it, ": ", address)
    return(NULL)
  }
  address
}

loaded_code <- new.env(parent = emptyenv())

load_native <- function(name) {
  source <- shipped_file(paste0("native/", name, ".cpp"))
  # Another R or other code is another file.
  made_of <- substr(text_hash(tools::md5sum(code_files(source))), 1, 12)
  file <- sprintf("%s-%s-R%s-%s%s", name, made_of, getRversion(), R.version$platform, .Platform$dynlib.ext)
  path <- file.path(cache_folder(), file)
  if (!file.exists(path)) compile_native(source, path)
  library <- dyn.load(path)
  getNativeSymbolInfo(paste0("slant_", name), library)$address
}

# The file and the headers next to it.
code_files <- function(source) {
  c(source, sort(list.files(dirname(source), pattern = "\\.h$", full.names = TRUE), method = "radix"))
}

cache_folder <- function() {
  folder <- tools::R_user_dir("slant", "cache")
  is_there <- dir.exists(folder) || suppressWarnings(dir.create(folder, recursive = TRUE))
  if (is_there && file.access(folder, mode = 2) == 0) folder else tempdir()
}

# Made elsewhere and moved there whole, since several processes may want it at once.
compile_native <- function(source, path) {
  folder <- tempfile("native")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file.copy(code_files(source), folder)
  library <- sub("\\.cpp$", .Platform$dynlib.ext, basename(source))
  arguments <- c("CMD", "SHLIB", "-o", shQuote(library), shQuote(basename(source)))
  output <- suppressWarnings(system2("sh", c("-c", shQuote(paste(
    "cd", shQuote(folder), "&&", shQuote(file.path(R.home("bin"), "R")), paste(arguments, collapse = " ")
  ))), stdout = TRUE, stderr = TRUE))
  if (!file.exists(file.path(folder, library))) {
    stop("R could not compile it (", trimws(utils::tail(c("no compiler?", output), 1)), ").")
  }
  part <- paste0(path, ".", Sys.getpid())
  if (!file.copy(file.path(folder, library), part) || !file.rename(part, path)) {
    stop("the compiled code could not be written to ", path, ".")
  }
}
