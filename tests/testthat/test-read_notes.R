notes_file <- function(lines, frame = parent.frame()) {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  writeLines(c("trial_id,label,note", lines), file)
  file
}

test_that("notes of two readers come below each other, with the trials that they are on", {
  files <- c(anna = notes_file(c("t1,NA,\"a, b\"", "t9,odd,")), ben = notes_file("t2,plain,x"))
  notes <- read_notes(files)
  expect_equal(notes$reader, c("anna", "anna", "ben"))
  expect_equal(notes$label, c("NA", "odd", "plain"))
  expect_equal(notes$note, c("a, b", NA, "x"))
  joined <- read_notes(files, data.frame(trial_id = c("t2", "t1"), tokens = 1:2))
  coded <- data.frame(reader = c("anna", "ben"), trial_id = c("t1", "t2"), tokens = 2:1)
  expect_equal(joined[c("reader", "trial_id", "tokens")], coded)
})

test_that("what is no file of notes is a sentence", {
  expect_error(read_notes("nowhere.csv"), "no such file")
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines("trial,label\n1,a", file)
  expect_error(read_notes(file), "trial_id")
  expect_error(read_notes(notes_file(c("t1,a,", "t1,b,"))), "two notes on one trial")
})
