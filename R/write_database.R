# A file that open_trials() opens; a collector's own holds much more.
write_database <- function(trials, path, view) {
  need_duckdb()
  if (file.exists(path)) {
    stop_with(sprintf("Can't write simulated trials to %s: there is such a file already.", quoted(path)))
  }
  connection <- without_dbplyr_note(DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path))
  on.exit(DBI::dbDisconnect(connection, shutdown = TRUE))
  DBI::dbWriteTable(connection, "simulated_trials", trials)
  DBI::dbExecute(connection, sprintf("CREATE VIEW %s AS SELECT * FROM simulated_trials ORDER BY trial_id", view))
}
