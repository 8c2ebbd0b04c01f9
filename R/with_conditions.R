#' Run a function and keep what it said
#'
#' R's warnings and messages never reach Python by themselves, and in a loop of many fits it is unknown whose
#' warning it was. Both languages therefore run R through this one wrapper.
#'
#' @param expr_fun a function without arguments.
#' @return A list of three:
#'   `value`, what the function returned (`NULL` if it failed);
#'   `conditions`, a data frame with one row per condition in the order they came: `kind` (`"warning"`, `"message"`
#'   or `"error"`, the last at most once) and `text`;
#'   `output`, what was printed, as one string with line ends (`""` if nothing).
#' @noRd
with_conditions <- function(expr_fun) {
  kinds <- character()
  texts <- character()
  keep <- function(kind, condition) {
    kinds <<- c(kinds, kind)
    texts <<- c(texts, trimws(conditionMessage(condition)))
  }
  value <- NULL
  output <- utils::capture.output(
    value <- tryCatch(
      withCallingHandlers(
        expr_fun(),
        warning = function(condition) {
          keep("warning", condition)
          invokeRestart("muffleWarning")
        },
        message = function(condition) {
          keep("message", condition)
          invokeRestart("muffleMessage")
        }
      ),
      error = function(condition) {
        keep("error", condition)
        NULL
      }
    )
  )
  list(
    value = value,
    conditions = data.frame(kind = kinds, text = texts, stringsAsFactors = FALSE),
    output = paste(output, collapse = "\n")
  )
}

# Runs `expression` with this seed and generator, whatever the session's are, and gives the session its own back.
with_seed <- function(seed, expression) {
  kinds <- RNGkind()
  before <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  on.exit({
    do.call(RNGkind, as.list(kinds))
    if (is.null(before)) {
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", before, globalenv()) # nolint: object_name_linter.
    }
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  expression
}

# Computes `expression` where letters are those of UTF-8, and puts the session's own locale back: in another one (under
# LC_ALL=C, say) tolower() and [:punct:] know ASCII alone, and the same texts would give other words.
in_utf8 <- function(expression) {
  if (l10n_info()[["UTF-8"]]) {
    return(expression)
  }
  before <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", before))
  for (name in c("C.UTF-8", "en_US.UTF-8", "UTF-8", ".UTF-8")) {
    # A locale that is not there is a warning and no change.
    suppressWarnings(Sys.setlocale("LC_CTYPE", name))
    if (l10n_info()[["UTF-8"]]) {
      return(expression)
    }
  }
  stop_with(
    sprintf("Can't read texts in the locale \"%s\": their letters are those of UTF-8.", before),
    "This machine has no locale with UTF-8 that is known here; start R with one: LC_ALL=C.UTF-8 R"
  )
}

# One process at a time, over files: what a lock of a killed process means, and how long to wait.

# Runs `expression` while this process holds `lock`, a folder: making one is atomic on every file system. Waits while
# another living process holds it.
with_lock <- function(lock, expression, say = function(text) NULL, waiting_for = lock) {
  has_said <- FALSE
  while (!take_lock(lock)) {
    if (is_stale(lock)) {
      # Moved away first: of two that find it stale, one moves it.
      aside <- sprintf("%s.%d.stale", lock, Sys.getpid())
      if (suppressWarnings(file.rename(lock, aside))) unlink(aside, recursive = TRUE)
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
