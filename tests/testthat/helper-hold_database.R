# Starts a process that holds the database for writing; returns once it does.
hold_database <- function(path, seconds) {
  ready <- tempfile()
  code <- sprintf(
    paste(
      "connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = '%s')",
      "invisible(file.create('%s'))",
      "Sys.sleep(%g)",
      "DBI::dbDisconnect(connection, shutdown = TRUE)",
      sep = "; "
    ),
    path, ready, seconds
  )
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), wait = FALSE, stdout = FALSE, stderr = FALSE)
  give_up_at <- Sys.time() + 20
  while (!file.exists(ready) && Sys.time() < give_up_at) {
    Sys.sleep(.05)
  }
  if (!file.exists(ready)) stop("The process that should hold the database did not start.")
}
