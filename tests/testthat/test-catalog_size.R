test_that("a file of too many tables is refused before DuckDB opens it", {
  skip_if_not_installed("duckdb")
  path <- tempfile(fileext = ".duckdb")
  connection <- DBI::dbConnect(duckdb::duckdb(), path)
  DBI::dbExecute(connection, paste0("CREATE TABLE t", 1:60, " (x INTEGER)", collapse = ";"))
  DBI::dbDisconnect(connection, shutdown = TRUE)
  expect_equal(catalog_entries(path), 61)
  expect_error(check_catalog_size(path, most = 60), "holds 61 tables and views", class = "slant_error")
  expect_no_error(check_catalog_size(path, most = 61))
})

test_that("what is no DuckDB file is left to DuckDB", {
  path <- tempfile()
  for (bytes in list(raw(0), charToRaw("text"), c(raw(8), charToRaw("DUCK"), raw(20000)))) {
    writeBin(bytes, path)
    expect_true(is.na(catalog_entries(path)))
  }
})
