# One process at a time, over files: what a lock of a killed process means, and how long to wait.

# Runs `expression` while this process holds `lock`, a folder: making one is atomic on every file system. Waits while
# another living process holds it.
with_lock <- function(lock, expression, say = function(text) NULL, waiting_for = lock) {
  has_said <- FALSE
  while (!take_lock(lock)) {
    if (is_stale(lock)) {
      remove_stale(lock)
    } else {
      if (!has_said) say(paste("Waiting for", waiting_for))
      has_said <- TRUE
      Sys.sleep(.2)
    }
  }
  on.exit(unlink(lock, recursive = TRUE))
  expression
}

take_lock <- function(lock) {
  if (!dir.exists(dirname(lock)) || !suppressWarnings(dir.create(lock))) {
    return(FALSE)
  }
  # Renamed into its place: half a signature would look like that of a process that was killed while it signed.
  unfinished <- file.path(lock, "owner.unfinished")
  writeLines(this_process(), unfinished)
  file.rename(unfinished, file.path(lock, "owner"))
  TRUE
}

# A number alone could be another process' by now: with its start it can't.
this_process <- function() c(Sys.info()[["nodename"]], Sys.getpid(), process_start(Sys.getpid()))

# When a process began, in the system's own count; "" where the system doesn't say, or where the process has ended and
# only its parent has not asked for how (which a parent of another package's child may never do).
process_start <- function(pid) {
  line <- c(lines_in_file(sprintf("/proc/%s/stat", pid)), "")[[1]]
  # The second field is a name in parentheses, which may hold blanks.
  fields <- strsplit(sub("^.*[)] ", "", line), " ", fixed = TRUE)[[1]]
  if (length(fields) >= 20 && !fields[[1]] %in% c("Z", "X")) fields[[20]] else ""
}

# None of a file that is not there, or not any more.
lines_in_file <- function(file) {
  tryCatch(suppressWarnings(readLines(file, warn = FALSE)), error = function(problem) character())
}

is_stale <- function(lock) {
  age_s <- as.numeric(difftime(Sys.time(), file.mtime(lock), units = "secs"))
  if (is.na(age_s)) {
    return(FALSE) # gone by itself
  }
  owner <- lines_in_file(file.path(lock, "owner"))
  if (length(owner) < 3) {
    return(age_s > 10) # killed between making the folder and signing it
  }
  if (owner[[1]] != Sys.info()[["nodename"]]) {
    return(age_s > 1800) # another machine's processes can't be asked
  }
  is_alive <- tools::pskill(as.integer(owner[[2]]), 0L) && process_start(owner[[2]]) == owner[[3]]
  !is_alive
}

# Moved away first: of two that find it stale, one moves it.
remove_stale <- function(lock) {
  aside <- sprintf("%s.%d.stale", lock, Sys.getpid())
  if (suppressWarnings(file.rename(lock, aside))) unlink(aside, recursive = TRUE)
}
