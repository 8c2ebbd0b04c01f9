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
  made_of <- substr(content_hash(code_files(source)), 1, 12)
  file <- sprintf("%s-%s-R%s-%s%s", name, made_of, getRversion(), R.version$platform, .Platform$dynlib.ext)
  path <- file.path(cache_folder(), file)
  if (!file.exists(path)) {
    compile_native(source, path)
  }
  library <- dyn.load(path)
  getNativeSymbolInfo(paste0("slant_", name), library)$address
}

# The file and the headers next to it.
code_files <- function(source) {
  c(source, sort(list.files(dirname(source), pattern = "\\.h$", full.names = TRUE), method = "radix"))
}

content_hash <- function(files) {
  sums <- tempfile()
  on.exit(unlink(sums))
  writeLines(unname(tools::md5sum(files)), sums)
  unname(tools::md5sum(sums))
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
