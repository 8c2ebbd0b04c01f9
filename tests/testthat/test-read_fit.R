# A database that keeps two fits, and next to it their files; what stands in for a brmsfit has its class only.
database_with_models <- function(is_converged = TRUE, frame = parent.frame()) {
  skip_if_not_installed("duckdb")
  path <- file.path(withr::local_tempdir(.local_envir = frame), "a.duckdb")
  dir.create(paste0(path, ".models"))
  files <- file.path(paste0(path, ".models"), c("f1.brmsfit.rds", "f2.brmsfit.rds"))
  for (file in files) saveRDS(structure(list(of = basename(file)), class = "brmsfit"), file)
  fits <- data.frame(
    call_id = c("f1", "f2"), fit = c("compliance", "interference"), study = "interference", source = "simulated",
    model = NA_character_, versions = paste0("{\"R\": \"", getRversion(), "\"}"), fitted_at = Sys.time() + 1:2
  )
  models <- data.frame(
    call_id = fits$call_id, is_converged = is_converged, verdict = "as you see", file = basename(files),
    file_md5 = unname(tools::md5sum(files)), draws_file = NA_character_, draws_md5 = NA_character_
  )
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  DBI::dbWriteTable(connection, "fits", fits)
  DBI::dbWriteTable(connection, "brms_models", models)
  DBI::dbDisconnect(connection, shutdown = TRUE)
  path
}

test_that("a kept model is opened by the name of its fit, or by its path, and says what it is worth", {
  path <- database_with_models()
  fit <- read_fit(path, "interference")
  expect_s3_class(fit, "brmsfit")
  expect_equal(unclass(fit)$of, "f2.brmsfit.rds")
  expect_equal(attr(fit, "slant")$verdict, "as you see")
  expect_equal(unclass(read_fit(file.path(paste0(path, ".models"), "f1.brmsfit.rds")))$of, "f1.brmsfit.rds")
})

test_that("a model that did not converge warns when it is opened", {
  expect_warning(read_fit(database_with_models(is_converged = FALSE), "compliance"), "as you see")
})

test_that("of several fits one must be named, and one that is not there is a sentence", {
  path <- database_with_models()
  expect_error(read_fit(path), "keeps several Bayesian models, of fit \"compliance\", \"interference\"")
  expect_error(read_fit(path, "lme4"), "There is no Bayesian model \"lme4\" next to")
  expect_error(read_fit(path, "compliance", "draws"), "The draws of \"compliance\" were not kept")
})

test_that("only the very file that was kept is read, and only from the folder next to the database", {
  path <- database_with_models()
  saveRDS("another", file.path(paste0(path, ".models"), "f1.brmsfit.rds"))
  expect_error(read_fit(path, "compliance"), "is not the file that this database recorded")
  elsewhere <- withr::local_tempfile(fileext = ".rds")
  saveRDS("another", elsewhere)
  expect_error(read_fit(elsewhere), "does not lie in the folder NAME.duckdb.models")
  unlink(file.path(paste0(path, ".models"), "f2.brmsfit.rds"))
  expect_error(read_fit(path, "interference"), "there is no file")
})

test_that("what is read is what was compared, whoever changes the file meanwhile", {
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS("kept", file)
  md5 <- unname(tools::md5sum(file))
  expect_equal(read_kept_rds(file, md5), "kept")
  saveRDS("another", file)
  expect_error(read_kept_rds(file, md5), "is not the file that this database recorded")
  expect_error(read_kept_rds(file, NA_character_), "is not the file")
})

test_that("a database without Bayesian models says how to fit one", {
  skip_if_not_installed("duckdb")
  path <- withr::local_tempfile(fileext = ".duckdb")
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  DBI::dbWriteTable(connection, "fits", data.frame(call_id = "a"))
  DBI::dbDisconnect(connection, shutdown = TRUE)
  expect_error(read_fit(path), "To fit one: analyze --fit brms")
})

test_that("without nanoparquet it says what to install, and what reads the draws without it", {
  path <- database_with_models()
  hidden <- new.env(parent = environment(read_fit))
  hidden$is_installed <- function(package) package != "nanoparquet"
  own <- c("read_fit", "checked_model_file", "need_parquet")
  for (name in own) assign(name, `environment<-`(get(name), hidden), hidden)
  said <- "install.packages\\(\"nanoparquet\"\\).*To recompute it: analyze --fit compliance .*posterior::as_draws_df"
  expect_error(hidden$read_fit(path, "compliance", "draws"), said)
  expect_error(hidden$need_parquet("a.duckdb"), "install.packages.*slant.analysis.read_draws\\(\"a.duckdb\"\\)")
})
