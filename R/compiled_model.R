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
  name <- paste0("stan-", text_hash(c(code, stan_versions())))
  if (is.null(models_in_use[[name]])) {
    models_in_use[[name]] <- cached_model(code, name, say)
    return(models_in_use[[name]])
  }
  structure(models_in_use[[name]], compile_s = 0)
}

# What this process has read already: loading a model's code again takes a second.
models_in_use <- new.env(parent = emptyenv())

# What decides whether compiled code still fits, but for the compiler: without one there is no asking for its version.
stan_versions <- function() {
  versions <- vapply(c("rstan", "StanHeaders"), function(name) as.character(utils::packageVersion(name)), character(1))
  c(as.character(getRversion()), R.version$platform, versions)
}

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
  model <- cached_stanmodel(if (is.na(compiler)) any_compilers(name) else path, code)
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

any_compilers <- function(name) {
  files <- list.files(cache_folder(), pattern = sprintf("^%s-[0-9a-f]+[.]rds$", name), full.names = TRUE)
  files[order(file.mtime(files), decreasing = TRUE)]
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
  remove_leftovers(dirname(path))
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

# Halves of files of processes that were killed; nobody writes for a day.
remove_leftovers <- function(folder) {
  halves <- list.files(folder, pattern = "^stan-.*[.]new$", full.names = TRUE)
  unlink(halves[difftime(Sys.time(), file.mtime(halves), units = "days") > 1])
}
