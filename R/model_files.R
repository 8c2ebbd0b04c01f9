# A fitted Bayesian model in files: the brmsfit for R, its draws for everyone. Each is written next to its place and
# moved there whole, so that nobody ever reads half a file.

# One row about the files: name, checksum and size; NA where none was asked for or it can't be written.
write_fit_files <- function(fit, settings) {
  model <- written_file(settings$save_to, function(path) saveRDS(fit, path))
  draws <- written_file(settings$draws_to, function(path) write_draws(fit, path))
  columns <- c("file", "file_md5", "file_bytes", "draws_file", "draws_md5", "draws_bytes")
  stats::setNames(cbind(model, draws), columns)
}

written_file <- function(path, write) {
  if (is.null(path)) {
    return(no_file())
  }
  problem <- write_whole(path, write)
  if (!is.null(problem)) {
    # The numbers are still worth seeing.
    message(basename(path), " could not be stored in ", dirname(path), ": ", problem)
    return(no_file())
  }
  file_row(path)
}

file_row <- function(path) {
  data.frame(file = basename(path), file_md5 = unname(tools::md5sum(path)), file_bytes = file.size(path))
}

no_file <- function() data.frame(file = NA_character_, file_md5 = NA_character_, file_bytes = NA_real_)

# NULL, or why the file could not be written; `write` gets a path next to its place.
write_whole <- function(path, write) {
  part <- sprintf("%s.%d.new", path, Sys.getpid())
  unlink(part) # a link of that name would have something else written over
  problem <- tryCatch(
    suppressWarnings({
      write(part)
      if (!file.rename(part, path)) stop("it could not be moved to its place.")
      NULL
    }),
    error = conditionMessage
  )
  if (!is.null(problem)) unlink(part)
  problem
}

write_draws <- function(fit, path) {
  if (!requireNamespace("nanoparquet", quietly = TRUE)) {
    stop("R's package nanoparquet is not installed.")
  }
  # One row per draw: .chain, .iteration (from 1 after warm-up), .draw, then the parameters under brms's names.
  draws <- as.data.frame(posterior::as_draws_df(fit))
  first <- c(".chain", ".iteration", ".draw")
  draws[first] <- lapply(draws[first], as.integer)
  class(draws) <- "data.frame"
  nanoparquet::write_parquet(draws[c(first, setdiff(names(draws), first))], path)
}
