written <- function(lines, ending = ".csv", frame = parent.frame()) {
  file <- withr::local_tempfile(fileext = ending, .local_envir = frame)
  writeBin(if (is.raw(lines)) lines else charToRaw(paste0(enc2utf8(lines), "\n", collapse = "")), file)
  file
}

test_that("a CSV export comes with the types that its columns have", {
  trials <- read_trials(written(c(
    "model,test,condition,item,answer,tokens,latency_s,is_refusal",
    "o3-mini,flowers_insects,compatible,NA,T,64,1.5,false",
    "o3-mini,flowers_insects,compatible,caf\u00e9,,,,true"
  )))
  expect_equal(trials$item, c("NA", "caf\u00e9"))
  expect_equal(trials$answer, c("T", NA))
  expect_identical(trials$tokens, c(64L, NA))
  expect_identical(trials$latency_s, c(1.5, NA))
  expect_identical(trials$is_refusal, c(FALSE, TRUE))
})

test_that("a byte order mark is no part of the first column's name", {
  expect_named(read_trials(written("\ufeffmodel,test,condition,tokens")), c("model", "test", "condition", "tokens"))
})

test_that("text in quotes may span lines", {
  trials <- read_trials(written(c("model,test,condition,tokens,answer", "m,t,c,1,\"two", "lines, \"\"quoted\"\"\"")))
  expect_equal(trials$answer, "two\nlines, \"quoted\"")
})

test_that("a Parquet export is read alike", {
  skip_if_not_installed("nanoparquet")
  file <- withr::local_tempfile(fileext = ".parquet")
  rows <- data.frame(model = "m", test = "t", condition = "compatible", tokens = c(64, NA), is_refusal = c(TRUE, FALSE))
  nanoparquet::write_parquet(rows, file)
  trials <- read_trials(file)
  expect_identical(trials$tokens, c(64L, NA))
  expect_identical(trials$is_refusal, c(TRUE, FALSE))
})

test_that("a file that can't be read is one sentence", {
  header <- "model,test,condition,tokens"
  expect_error(read_trials("nowhere.csv"), "there is no such file")
  expect_error(read_trials(written("a", ".xlsx")), "must end in .csv, .parquet or .zip")
  expect_error(read_trials(written("a", ".duckdb")), "To open a database: open_trials(", fixed = TRUE)
  expect_error(read_trials(written(c("model,test,tokens", "m,t,1"))), "have no column \"condition\"")
  expect_error(read_trials(written(c(header, "m,t,c,many"))), "row 1, column \"tokens\" must be a number")
  expect_error(read_trials(written(c(header, "m,t,c,1", "m,t,c,-5"))), "row 2, .* whole number of 0 or more")
  expect_error(read_trials(written(raw(0))), "Can't read")
  bad <- c(charToRaw(paste0(header, "\nm,t,c")), as.raw(0xe9), charToRaw(",1\n"))
  expect_error(read_trials(written(bad)), "row 1, column \"condition\" is not UTF-8")
  skip_if_not_installed("nanoparquet")
  expect_error(read_trials(written("not parquet", ".parquet")), "is not a Parquet file")
})

test_that("a file that is no table of ours is refused in a sentence", {
  refused <- function(...) {
    file <- tempfile(fileext = ".csv")
    writeLines(c(...), file)
    tryCatch(read_trials(file), slant_error = conditionMessage)
  }
  head <- "model,test,condition,tokens"
  expect_match(refused(character()), "it is empty")
  expect_match(refused(paste0(head, ","), "a,b,c,1,2"), "column 5 has no name .*row.names = FALSE")
  expect_match(refused(paste0(head, ",tokens"), "a,b,c,1,2"), "two columns \"tokens\"")
  expect_match(refused(head, "a,b,c,1", "a,b,c,1,2"), "row 2 did not have 4 elements")
  expect_match(refused(head, "a,b,\"c,1"), "EOF within quoted string")
  folder <- tempfile(fileext = ".csv")
  dir.create(folder)
  expect_error(read_trials(folder), "it is a folder", class = "slant_error")
})

test_that("a reasoning of 5 MB in the first row is read at once", {
  file <- tempfile(fileext = ".csv")
  writeLines(c("model,test,condition,tokens,reasoning_text", paste0("a,b,c,1,", strrep("x", 5e6))), file)
  taken <- system.time(trials <- read_trials(file))
  expect_identical(nchar(trials$reasoning_text), 5000000L)
  expect_lt(taken[["user.self"]], 5)
})

test_that("an archive that would grow a thousand times is not unpacked", {
  skip_if(Sys.which("zip") == "", "the program zip is not here")
  folder <- tempfile()
  dir.create(file.path(folder, "data"), recursive = TRUE)
  ending <- if (requireNamespace("nanoparquet", quietly = TRUE)) ".parquet" else "_data.csv"
  member <- file.path("data", paste0("study-x_description-trials", ending))
  writeBin(raw(8e7), file.path(folder, member))
  before <- setwd(folder)
  on.exit(setwd(before))
  utils::zip("bomb.zip", member, flags = "-q")
  expect_error(read_trials("bomb.zip"), "would grow from", class = "slant_error")
})
