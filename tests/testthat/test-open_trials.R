made_database <- function(frame = parent.frame()) {
  skip_if_not_installed("duckdb")
  path <- withr::local_tempfile(fileext = ".duckdb", .local_envir = frame)
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  DBI::dbWriteTable(connection, "attempts", made_trials())
  view <- "CREATE VIEW association_trials AS SELECT * FROM attempts ORDER BY wording, item, condition"
  DBI::dbExecute(connection, view)
  DBI::dbDisconnect(connection, shutdown = TRUE)
  path
}

test_that("a database opens read-only, as a lazy table whose rows can be fitted", {
  path <- made_database()
  trials <- open_trials(path)
  on.exit(close_trials(trials))
  if (requireNamespace("dbplyr", quietly = TRUE)) {
    expect_s3_class(trials, "tbl_lazy")
    expect_error(fit_lm(trials, "tokens ~ condition"), "dplyr::collect(data)", fixed = TRUE)
    expect_error(DBI::dbExecute(trials$src$con, "DELETE FROM attempts"), "read-only")
  }
  rows <- as.data.frame(trials)
  expect_equal(nrow(rows), 240)
  expect_equal(fit_made(rows)$estimates, fit_made(made_trials())$estimates, tolerance = 1e-6)
})

test_that("answers of another model than was asked for are rows of their own where that is wanted", {
  path <- made_database()
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  view <- "SELECT 'a' || coalesce(' as ' || getvariable('other_models')[1], '') AS model"
  DBI::dbExecute(connection, paste("CREATE OR REPLACE VIEW association_trials AS", view))
  DBI::dbDisconnect(connection, shutdown = TRUE)
  models <- vapply(c(FALSE, TRUE), function(shown) {
    trials <- open_trials(path, other_models = shown)
    on.exit(close_trials(trials))
    as.data.frame(trials)$model
  }, "")
  expect_equal(models, c("a", "a as s"))
  expect_error(open_trials(path, other_models = "yes"), "must be TRUE or FALSE")
})

test_that("rows come in the order of the view's query, and only of that view's", {
  path <- made_database()
  read_items <- function(query) {
    connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
    DBI::dbExecute(connection, "CREATE OR REPLACE VIEW association_trials AS SELECT * FROM attempts")
    orders <- sprintf("CREATE OR REPLACE VIEW view_orders AS SELECT 'association_trials' AS view, '%s' AS query", query)
    DBI::dbExecute(connection, orders)
    DBI::dbDisconnect(connection, shutdown = TRUE)
    trials <- open_trials(path)
    on.exit(close_trials(trials))
    as.data.frame(trials)$wording
  }
  ordered <- read_items("SELECT shown.* FROM association_trials AS shown ORDER BY wording DESC, item")
  expect_equal(ordered, sort(made_trials()$wording, decreasing = TRUE))
  expect_equal(sort(read_items("SELECT 1 AS wording")), sort(made_trials()$wording))
})

test_that("it waits for a process that writes, and says who holds the file when patience is at an end", {
  path <- made_database()
  writer <- hold_database(path, seconds = 2)
  trials <- open_trials(path, patience_s = 20)
  expect_true(close_trials(trials))
  hold_database(path, seconds = 4)
  expect_error(open_trials(path, patience_s = .5), "another process has held it for 0.5 s.*PID")
})

test_that("what can't be opened is one sentence", {
  path <- made_database()
  expect_error(open_trials("nowhere.duckdb"), "there is no such file")
  expect_error(open_trials("s3://bucket/lake"), "not on this machine")
  expect_error(open_trials(path, view = "association_trails"), "Did you mean \"association_trials\"?", fixed = TRUE)
  text <- withr::local_tempfile(lines = rep("a text, and no database", 400))
  expect_error(open_trials(text), "not a DuckDB file")
})

test_that("one file opens as several tables, is free once all are closed, and closing it twice does no harm", {
  path <- made_database()
  trials <- open_trials(path)
  again <- open_trials(path, view = "attempts")
  close_trials(trials)
  expect_false(close_trials(trials))
  expect_false(close_trials(data.frame()))
  expect_equal(nrow(as.data.frame(again)), 240)
  close_trials(again)
  hold_database(path, seconds = 0) # a process that writes stops here where R still holds the file
  expect_error(open_trials(path, view = "attempt"), "no such view")
})

test_that("what a connection of one's own holds is said, and free once that is closed", {
  path <- made_database()
  own <- DBI::dbConnect(duckdb::duckdb(path, shared_home = FALSE))
  skip_if(!inherits(try(close_trials(open_trials(path)), silent = TRUE), "try-error"), "an older duckdb shares it")
  expect_error(open_trials(path), "a connection of your own has it open in this R session")
  DBI::dbDisconnect(own)
  hold_database(path, seconds = 0)
  expect_true(close_trials(open_trials(path)))
})

test_that("attributes are columns, numbers among them, other lists text, so that write.csv() takes every view", {
  path <- made_database()
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  DBI::dbExecute(connection, paste(
    "CREATE OR REPLACE VIEW association_trials AS SELECT * FROM (VALUES",
    "('x', MAP {'name': 'Ann', 'age': '31', 'first job': 'cook', 'model': 'y'}, ['a', 'b'], 2),",
    "('x', MAP {'name': 'it''s', 'age': NULL}, NULL, 1)) AS rows(model, attributes, levels, n) ORDER BY n"
  ))
  DBI::dbDisconnect(connection, shutdown = TRUE)
  trials <- open_trials(path)
  on.exit(close_trials(trials))
  rows <- as.data.frame(trials)
  expect_named(rows, c("model", "levels", "n", "age", "first job", "name"))
  expect_identical(rows$age, c(NA, 31))
  expect_identical(rows$name, c("it's", "Ann"))
  expect_identical(rows$model, c("x", "x"))
  expect_equal(nrow(read.csv(text = capture.output(write.csv(rows, row.names = FALSE)))), 2)
})

test_that("a view with lists and without attributes is opened, too", {
  skip_if_not_installed("duckdb")
  connection <- DBI::dbConnect(duckdb::duckdb())
  withr::defer(DBI::dbDisconnect(connection, shutdown = TRUE))
  query <- in_plain_columns(connection, "SELECT 1 AS n, ['a', 'b'] AS words")
  expect_equal(DBI::dbGetQuery(connection, query), data.frame(n = 1L, words = "[a, b]"))
})
