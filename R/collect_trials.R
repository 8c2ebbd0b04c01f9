#' Ask models the trials of a study, from R
#'
#' Runs the collector (the program `collect`, which is written in Python) with its progress as messages, waits for its
#' end, and opens the trials that are then in the database. The same call goes on where an earlier one stopped, whatever
#' stopped it; what has its answer is not asked again.
#'
#' The collector is looked for in this order: the Python that the option `slant.python` or the environment variable
#' `SLANT_PYTHON` names; a program `collect` that is slant's on the search path; the folder `.venv` in the working
#' directory or above it, as `make setup` leaves it in a checkout.
#'
#' Requests that cost money are sent with `yes = TRUE` only. `dry_run = TRUE` first shows what they would take, with the
#' first prompt in full. Keys come from the environment ([Sys.setenv()], or `.Renviron`), never from an argument.
#'
#' After a `pilot`, the rest is asked only with `yes = TRUE`. What is asked `again` is next to its first answers in the
#' view `"retest_answers"`, for [retest_reliability()].
#'
#' Interrupting R (Esc, Ctrl-C) stops asking and waits for what is in flight, for that is paid for. This needs the
#' package processx where R does not run in a terminal; without processx, RStudio waits until the collector is done.
#'
#' @param study the name of a study, or the path of a study file, such as `"./drinks/study.toml"`.
#' @param models models as `"provider/name"`, or `NULL` for those that the study asks by default.
#' @param db the database, which is made where there is none.
#' @param ... options of `collect` about what is printed, by their names: `verbose = TRUE`.
# settings: help
#' @param simulated query a simulated provider on this machine instead; costs nothing.
#' @param variant A named set of changes that the study defines; null assigns its words to groups at random. all:
#'   every variant in turn.
#' @param answer an answer format that the study has: direct, cot, react, tool.
#' @param reasoning_back whether a game's model gets its earlier reasoning again; kept and dropped are separate
#'   variants.
#' @param seed seed of all random draws. Default: the study's.
#' @param repetitions how often each trial is collected.
#' @param until_width collect complete repetitions, up to `repetitions`, until half of the 95 % interval of the
#'   condition effect is at most this in each test (in tokens, for example; needs R).
#' @param looks the largest number of looks at that width. Default: 5, or as many as there are repetitions.
#' @param shard collect only part K of N of the plan, as one of N collectors: 2/8.
#' @param processes divide the work among N processes on this machine.
#' @param registration the file that `collect preregister` wrote; stored with the run.
#' @param dry_run show tokens, cost, time and the first prompt; send nothing.
#' @param base_url the address of your own server, for local/NAME.
#' @param provider_file custom providers (TOML): name, dialect, address. Default: ~/.config/slant/providers.toml.
#' @param concurrency requests in flight for each model.
#' @param max_retries retries after a failed request; answers are never retried.
#' @param time_limit the longest wait for an answer. In seconds.
#' @param longest_wait the longest wait that a provider may request; beyond it, a terminal asks you. In seconds.
#' @param stop_after_declined stop a model after its provider has declined this many trials in a row in unknown words.
#' @param ask_rejected retry rejected trials once (declined twice, for an unknown reason).
#' @param logprobs store the probabilities of both options, if a provider gives them.
#' @param structured_output let the provider enforce the JSON of the answer.
#' @param prices custom prices (TOML).
#' @param budget the most that the study may cost in `db`, including earlier runs. In US dollars.
#' @param again repeat this many answered trials, balanced, on a new occasion.
#' @param pilot first collect this many balanced trials from each model, then confirm the rest.
#' @param yes agree to requests that cost money.
#' @param batch use batch jobs of OpenAI or Anthropic; the same command later fetches answers.
#' @param wait wait until every job is done.
#' @param batch_size maximum number of requests in a job. Default: the provider's limit.
#' @param mixed allow live and batch answers of one model in one study.
# settings: end
#' @param view the view to give back; `NULL` takes what [open_trials()] takes.
#' @return What [open_trials()] gives: a lazy table of the trials that are in the database, to be closed by
#'   [close_trials()]; `NULL`, invisibly, after `dry_run = TRUE`. An error of class `slant_error` where the collector
#'   can't be found or doesn't end well, with what it said.
#' @export
#' @examplesIf nzchar(Sys.which("collect")) && requireNamespace("duckdb", quietly = TRUE)
#' trials <- collect_trials("rmiat", "simulated/o3-mini", pilot = 40,
#'   db = tempfile(fileext = ".duckdb"))
#' head(as.data.frame(trials)[c("model", "test", "condition", "tokens")])
#' close_trials(trials)
collect_trials <- function(study, models = NULL, db = "slant.duckdb", ...,
                           # settings: arguments
                           simulated = FALSE, variant = "base", answer = NULL, reasoning_back = "default", seed = NULL,
                           repetitions = 1, until_width = NULL, looks = NULL, shard = NULL, processes = 1,
                           registration = NULL, dry_run = FALSE, base_url = NULL, provider_file = NULL,
                           concurrency = 16, max_retries = 5, time_limit = 600, longest_wait = 600,
                           stop_after_declined = 5, ask_rejected = FALSE, logprobs = FALSE, structured_output = FALSE,
                           prices = NULL, budget = NULL, again = NULL, pilot = NULL, yes = FALSE, batch = FALSE,
                           wait = FALSE, batch_size = NULL, mixed = FALSE,
                           # settings: end
                           view = NULL) {
  check_arguments(more = lapply(strsplit(setting_kinds, " ", fixed = TRUE), function(kind) {
    if (length(kind) == 2) argument_kinds$whole(as.numeric(kind[[2]])) else argument_kinds[[kind]]
  }))
  settings <- mget(names(setting_kinds))
  is_usual <- mapply(function(value, usual) {
    if (is.numeric(value) && is.numeric(usual)) isTRUE(all.equal(as.numeric(value), usual)) else identical(value, usual)
  }, settings, formals(collect_trials)[names(settings)])
  files <- names(settings)[setting_kinds == "file"]
  settings[files] <- lapply(settings[files], function(file) if (!is.null(file)) path.expand(file))
  models <- unlist(lapply(models, function(model) c("--model", model)))
  options <- c(settings[!is_usual], list(...))
  arguments <- c("--study", study, models, "--db", path.expand(db), as_options(options))
  gc() # closes what open_trials() opened and nobody can close any more, which would keep the collector out
  run_collector(arguments)
  if (dry_run) invisible(NULL) else open_trials(db, name_of_study(study), view)
}

# What each setting may be, by its name (argument_kinds); those of files are paths.
setting_kinds <- c(
  # settings: kinds
  simulated = "flag", variant = "text", answer = "text", reasoning_back = "text", seed = "whole 0",
  repetitions = "whole 1", until_width = "positive", looks = "whole 1", shard = "text", processes = "whole 1",
  registration = "file", dry_run = "flag", base_url = "text", provider_file = "file", concurrency = "whole 1",
  max_retries = "whole 0", time_limit = "positive", longest_wait = "positive", stop_after_declined = "whole 1",
  ask_rejected = "flag", logprobs = "flag", structured_output = "flag", prices = "file", budget = "positive",
  again = "whole 1", pilot = "whole 1", yes = "flag", batch = "flag", wait = "flag", batch_size = "whole 1",
  mixed = "flag"
  # settings: end
)

# A study is given by its name, or by the path of its file, which says the name at its top.
name_of_study <- function(study) {
  if (!grepl("/|[.]toml$", study)) {
    return(study)
  }
  pattern <- "^[[:space:]]*name[[:space:]]*=[[:space:]]*[\"']([^\"']+)[\"'].*$"
  sub(pattern, "\\1", grep(pattern, readLines(study, encoding = "UTF-8", warn = FALSE), value = TRUE)[[1]])
}

# list(base_url = "x", yes = TRUE, pilot = NULL) as c("--base-url", "x", "--yes").
as_options <- function(options) {
  if (length(options) > 0 && (is.null(names(options)) || !all(nzchar(names(options))))) {
    stop_with(
      "Can't collect: an option of the collector has no name.",
      "Options are given by name, as in collect_trials(\"rmiat\", budget = 5)."
    )
  }
  unlist(lapply(names(options), function(name) {
    value <- options[[name]]
    flag <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (is.numeric(value)) value <- format(value, scientific = FALSE, trim = TRUE, digits = 15)
    if (is.null(value) || isFALSE(value)) NULL else if (isTRUE(value)) flag else c(rbind(flag, as.character(value)))
  }))
}

# Runs it to its end. Its own error becomes one of R.
run_collector <- function(arguments, program = slant_program("collect")) {
  ended <- run_program(c(program, arguments))
  status <- ended$status
  error_lines <- ended$error_lines
  if (status != 0) {
    stop_with(
      sprintf("The collector ended with exit status %d.", status),
      if (length(error_lines) > 0) trimws(sub("^Error: ", "", error_lines)),
      if (any(grepl("--yes", error_lines, fixed = TRUE))) "In R: yes = TRUE",
      if (ended$is_held_here) "This R session has the database open: close_trials() on what open_trials() gave.",
      "Answers that came are kept; the same call goes on from there."
    )
  }
  # Not an error after all: a line of a report that begins with the word.
  for (line in error_lines) message(line)
  invisible(status)
}

# Runs a program to its end, each line as a message when it comes; its exit status, the lines of its error, which are
# for the caller to tell, and whether it named this R session as the process that holds a file.
run_program <- function(command) {
  error_lines <- character()
  is_held_here <- FALSE
  here <- sprintf("PID %d)", Sys.getpid())
  hear <- function(lines) {
    is_held_here <<- is_held_here || any(grepl(here, lines, fixed = TRUE))
    for (line in lines) {
      is_error <- length(error_lines) > 0 || startsWith(line, "Error: ")
      if (is_error) error_lines <<- c(error_lines, line) else message(line)
    }
  }
  before <- Sys.getenv("LD_LIBRARY_PATH")
  if (nzchar(before)) {
    Sys.setenv(LD_LIBRARY_PATH = without_r_folders(before))
    on.exit(Sys.setenv(LD_LIBRARY_PATH = before))
  }
  status <- if (is_installed("processx")) run_by_processx(command, hear) else run_by_pipe(command, hear)
  list(status = status, error_lines = error_lines, is_held_here = is_held_here)
}

# A search path of libraries as it was before R put its own folders first, once for each R that started another one (as
# callr and R CMD check do). A Python that was built on this machine would find the system's libpython in one of them.
without_r_folders <- function(path) {
  script <- 'unset LD_LIBRARY_PATH; . "$0" && printf %s "$LD_LIBRARY_PATH"'
  words <- c("-c", shQuote(script), shQuote(file.path(R.home("etc"), "ldpaths")))
  own <- tryCatch(suppressWarnings(system2("sh", words, stdout = TRUE)), error = function(problem) character())
  while (length(own) == 1 && nzchar(own) && startsWith(paste0(path, ":"), paste0(own, ":"))) {
    path <- substring(path, nchar(own) + 2)
  }
  path
}

run_by_processx <- function(command, hear) {
  process <- processx::process$new(
    command[[1]], command[-1],
    stdout = "|", stderr = "2>&1", encoding = "UTF-8", cleanup = TRUE, env = c("current", PYTHONUNBUFFERED = "1")
  )
  listen <- function() {
    while (process$is_alive() || process$is_incomplete_output()) {
      process$poll_io(200)
      hear(process$read_output_lines())
    }
  }
  tryCatch(listen(), interrupt = function(condition) {
    message("Stopping: no new question is sent; waiting for the answers that are on their way.")
    process$interrupt()
    listen()
  })
  process$wait()
  process$get_exit_status()
}

# Base R: the shell's own interrupt reaches the collector, too, for both belong to one terminal.
run_by_pipe <- function(command, hear) {
  Sys.setenv(PYTHONUNBUFFERED = "1")
  connection <- pipe(paste(c(shQuote(command), "2>&1"), collapse = " "), open = "r", encoding = "UTF-8")
  status <- NULL
  on.exit(if (is.null(status)) close(connection))
  while (length(line <- readLines(connection, n = 1, warn = FALSE)) > 0) hear(line)
  # close() gives the exit status in the upper byte; NULL is 0.
  status <- close(connection)
  status <- if (is.null(status)) 0L else as.integer(status)
  if (status > 255L) status %/% 256L else status
}

# The words that begin a call of one of slant's programs, `collect` or `analyze`.
slant_program <- function(name) {
  module <- c(collect = "slant.collector", analyze = "slant.analysis")[[name]]
  python <- getOption("slant.python", Sys.getenv("SLANT_PYTHON"))
  if (nzchar(python)) {
    # -P: a slant.py of the current folder is not what is meant.
    program <- c(python, "-P", "-m", module)
    if (!is_of_slant(program)) {
      stop_with(
        sprintf("Can't %s: the Python %s has no slant.", name, quoted(python)),
        "The option slant.python or the variable SLANT_PYTHON names it. To install slant there, in a shell,",
        sprintf("from slant's folder: %s -m pip install .", python)
      )
    }
    return(program)
  }
  for (program in c(Sys.which(name), above(getwd(), venv_program(name)))) {
    if (nzchar(program) && is_of_slant(unname(program))) {
      return(unname(program))
    }
  }
  stop_with(
    sprintf("Can't %s: the program `%s` of slant was not found.", name, name),
    sprintf("Looked on the search path, and for %s in %s and above.", venv_program(name), getwd()),
    "To have it, in a shell: make setup in slant's folder, or, from that folder, python3 -m pip install .",
    "If it is there: options(slant.python = \"/path/to/python\"), or the variable SLANT_PYTHON"
  )
}

venv_program <- function(name) {
  if (.Platform$OS.type == "windows") sprintf(".venv/Scripts/%s.exe", name) else sprintf(".venv/bin/%s", name)
}

# The files of this name in a folder and those above it.
above <- function(folder, file) {
  files <- character()
  repeat {
    files <- c(files, Filter(file.exists, file.path(folder, file)))
    if (dirname(folder) == folder) {
      return(files)
    }
    folder <- dirname(folder)
  }
}

# Another program may have the same name: slant's says who it is.
is_of_slant <- function(command) {
  startsWith(first_line(command[[1]], shQuote(c(command[-1], "--version"))), "slant, version")
}
