sealed_study <- function(folder) {
  program <- tryCatch(slant_program("collect"), error = function(problem) skip("the program `collect` is not here"))
  db <- file.path(folder, "a.duckdb")
  archive <- file.path(folder, "study.zip")
  asked <- c("--study", "rmiat", "--model", "simulated/deepseek-r1", "--pilot", "20", "--db", db)
  suppressMessages({
    run_program(c(program, asked))
    run_program(c(slant_program("analyze"), "seal", "--no-r", "--db", db, "--out", archive))
  })
  archive
}

test_in_full("an archive gives its trials, and the same again from its journals", {
  archive <- sealed_study(withr::local_tempdir())
  trials <- read_trials(archive)
  expect_equal(nrow(trials), 20)
  expect_type(trials$tokens, "integer")
  expect_error(read_trials(archive, view = "allocation_questions"), "no data of allocation_questions")
  checked <- suppressMessages(replay(archive, file.path(dirname(archive), "check"), r = FALSE))
  expect_setequal(checked$status, c("agrees", "not compared"))
  expect_setequal(checked$kind[checked$status == "not compared"], c("page", "journal"))
  expect_true(all(c("hash", "data", "table") %in% checked$kind))
  expect_error(suppressMessages(replay(archive, dirname(archive))), "not empty")
})

test_in_full("a program gets the search path of libraries that R was started with", {
  skip_if_not(nzchar(Sys.getenv("LD_LIBRARY_PATH")), "R has set no LD_LIBRARY_PATH here")
  expect_equal(without_r_folders("/opt/mine"), "/opt/mine")
  alone <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote("cat(Sys.getenv('LD_LIBRARY_PATH'))")),
    stdout = TRUE, env = "LD_LIBRARY_PATH=/opt/mine"
  )
  expect_equal(without_r_folders(alone), "/opt/mine")
  told <- capture_messages(run_program(c("sh", "-c", "echo \"libraries: $LD_LIBRARY_PATH\"")))
  expect_no_match(told, R.home("lib"), fixed = TRUE)
})

test_in_full("what is no archive is a sentence", {
  expect_error(replay("nowhere.zip"), "there is no such file")
  file <- withr::local_tempfile(lines = "no ZIP file", fileext = ".zip")
  expect_error(read_trials(file), "Can't read")
})
