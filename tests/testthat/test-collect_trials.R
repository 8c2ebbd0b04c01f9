# The collector of the checkout; tests of an installed package have none.
with_collector <- function(frame = parent.frame()) {
  skip_if_not_installed("duckdb")
  python <- above(normalizePath(getwd()), ".venv/bin/python")
  skip_if(length(python) == 0, "there is no .venv with slant in it")
  withr::local_options(slant.python = python[[1]], .local_envir = frame)
  withr::local_envvar(OPENAI_API_KEY = NA, .local_envir = frame)
}

# One word a side: 64 trials of a model. Written once for all tests.
small_study <- local({
  folder <- NULL
  function() {
    if (is.null(folder)) {
      folder <<- tempfile("drinks")
      suppressMessages(run_collector(c("studies", "new", "drinks", "--design", "association", "--folder", folder)))
      stimuli <- file.path(folder, "stimuli.csv")
      rows <- utils::read.csv(stimuli)
      utils::write.csv(rows[!duplicated(rows[c("test", "side")]), ], stimuli, row.names = FALSE, quote = FALSE)
    }
    file.path(folder, "study.toml")
  }
})

test_that("a simulated model is asked with its progress, and its trials are given back", {
  with_collector()
  db <- withr::local_tempfile(fileext = ".duckdb")
  expect_message(trials <- collect_trials(small_study(), "simulated/qwen3-8b", db), "Done: ")
  rows <- as.data.frame(trials)
  close_trials(trials)
  expect_equal(nrow(rows), 64)
  expect_true(all(rows$source == "simulated" & rows$tokens >= 0))

  # What has its answer is not asked again.
  suppressMessages(more <- collect_trials(small_study(), "simulated/qwen3-8b", db, repetitions = 2))
  on.exit(close_trials(more))
  found <- as.data.frame(more)
  expect_equal(c(table(found$repetition)), c(`1` = 64, `2` = 64))
  expect_true(all(rows$trial_id %in% found$trial_id))
})

test_in_full("the trials are those of the study, by its name or by its file, whatever else the database holds", {
  with_collector()
  db <- withr::local_tempfile(fileext = ".duckdb")
  studies <- c(rmiat = "rmiat", drinks = small_study())
  for (name in names(studies)) {
    suppressMessages(trials <- collect_trials(studies[[name]], "simulated/qwen3-8b", db, pilot = 40))
    rows <- as.data.frame(trials)
    close_trials(trials)
    expect_equal(unique(rows$study), name)
  }
})

test_in_full("a dry run shows the first prompt and sends nothing", {
  with_collector()
  db <- withr::local_tempfile(fileext = ".duckdb")
  said <- capture_messages(shown <- collect_trials(small_study(), "simulated/qwen3-8b", db, dry_run = TRUE))
  expect_null(shown)
  expect_match(said, "Here are some words for ", all = FALSE)
  expect_false(file.exists(db))
})

test_in_full("what the collector refuses is an error with its own sentence", {
  with_collector()
  expect_error(suppressMessages(collect_trials("rmait", db = tempfile())), "Did you mean \"rmiat\"")
  expect_error(suppressMessages(collect_trials("rmiat", "openai/o3-mini", tempfile())), "OPENAI_API_KEY is not set")
  expect_error(suppressMessages(collect_trials("rmiat", db = tempfile(), budgt = 3)), class = "slant_error")
  file <- withr::local_tempfile(lines = c("[[providers]]", "name = \"lab\"", "address = \"http://llm.example.org/v1\""))
  told <- expression(collect_trials("rmiat", "lab/m", tempfile(), provider_file = file, dry_run = TRUE))
  expect_error(suppressMessages(eval(told)), "must begin with https://")
})

test_in_full("base R's pipe hears and tells what processx does", {
  with_collector()
  program <- slant_program("collect")
  withr::local_envvar(LD_LIBRARY_PATH = without_r_folders(Sys.getenv("LD_LIBRARY_PATH"))) # as run_program() does
  heard <- list()
  for (run in c(run_by_processx, run_by_pipe)) {
    if (identical(run, run_by_processx)) skip_if_not_installed("processx")
    lines <- character()
    status <- run(c(program, "--study", "rmait"), function(line) lines <<- c(lines, line))
    heard <- c(heard, list(list(status = status, lines = lines)))
  }
  expect_identical(heard[[1]], heard[[2]])
  expect_equal(heard[[1]]$status, 2L)
})

test_in_full("the folders that R puts first are taken away, once for each R that started another one", {
  skip_if_not(file.exists(file.path(R.home("etc"), "ldpaths")), "R names no folders of libraries here")
  script <- 'unset LD_LIBRARY_PATH; . "$0" && printf %s "$LD_LIBRARY_PATH"'
  own <- system2("sh", c("-c", shQuote(script), shQuote(file.path(R.home("etc"), "ldpaths"))), stdout = TRUE)
  expect_equal(without_r_folders(paste(own, own, "/mine/lib", sep = ":")), "/mine/lib")
  expect_equal(without_r_folders(own), "")
  expect_equal(without_r_folders("/mine/lib"), "/mine/lib")
})

test_in_full("a slant.py of the current folder is not run", {
  with_collector()
  withr::local_dir(withr::local_tempdir())
  for (name in c("slant", "polars", "analysis")) writeLines("open('was_run', 'w')", paste0(name, ".py"))
  program <- slant_program("collect")
  expect_equal(system2(program[[1]], c(program[-1], "studies"), stdout = FALSE, stderr = FALSE), 0L)
  expect_false(file.exists("was_run"))
})

test_in_full("options are words of the shell", {
  expect_equal(
    as_options(list(base_url = "http://x y", yes = TRUE, mixed = FALSE, pilot = NULL, seed = 1e6, budget = .5)),
    c("--base-url", "http://x y", "--yes", "--seed", "1000000", "--budget", "0.5")
  )
  expect_error(as_options(list(5)), "has no name")
})

test_in_full("a collector that is not there is said, with what to type", {
  withr::local_options(slant.python = NULL)
  withr::local_envvar(SLANT_PYTHON = NA, PATH = withr::local_tempdir())
  withr::local_dir(withr::local_tempdir())
  expect_error(slant_program("collect"), "program `collect` of slant was not found.*make setup.*slant.python")
  withr::local_options(slant.python = file.path(R.home("bin"), "R"))
  expect_error(slant_program("collect"), "has no slant.*pip install")
})

test_in_full("the .venv of a folder above is found, another program of that name is not taken", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  deep <- file.path(folder, "a", "b")
  dir.create(deep, recursive = TRUE)
  dir.create(file.path(folder, ".venv", "bin"), recursive = TRUE)
  other <- file.path(folder, "collect")
  ours <- file.path(folder, ".venv", "bin", "collect")
  writeLines(c("#!/bin/sh", "echo gathers performance data"), other)
  writeLines(c("#!/bin/sh", "echo slant, version 0"), ours)
  Sys.chmod(c(other, ours), "755")
  withr::local_options(slant.python = NULL)
  withr::local_envvar(SLANT_PYTHON = NA, PATH = paste(folder, Sys.getenv("PATH"), sep = ":"))
  withr::local_dir(deep)
  expect_equal(normalizePath(slant_program("collect")), normalizePath(ours))
})

test_in_full("that this R session holds the database is said where the collector names it", {
  held <- sprintf("echo 'Conflicting lock is held in R (PID %d).'; exit 1", Sys.getpid())
  expect_error(
    suppressMessages(run_collector(c("-c", held), program = "sh")), "This R session has the database open: close_trials"
  )
  others <- tryCatch(suppressMessages(run_collector(c("-c", "exit 1"), program = "sh")), error = conditionMessage)
  expect_no_match(others, "This R session")
})
