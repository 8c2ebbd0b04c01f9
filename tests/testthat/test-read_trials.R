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
  expect_error(read_trials(written(c("model,test,tokens", "m,t,1"))), "have no column \"condition\"")
  expect_error(read_trials(written(c(header, "m,t,c,many"))), "row 1, column \"tokens\" must be a number")
  expect_error(read_trials(written(c(header, "m,t,c,1", "m,t,c,-5"))), "row 2, .* whole number of 0 or more")
  expect_error(read_trials(written(raw(0))), "Can't read")
  bad <- c(charToRaw(paste0(header, "\nm,t,c")), as.raw(0xe9), charToRaw(",1\n"))
  expect_error(read_trials(written(bad)), "row 1, column \"condition\" is not UTF-8")
  skip_if_not_installed("nanoparquet")
  expect_error(read_trials(written("not parquet", ".parquet")), "is not a Parquet file")
})
