database_with_fits <- function(frame = parent.frame()) {
  skip_if_not_installed("duckdb")
  path <- withr::local_tempfile(fileext = ".duckdb", .local_envir = frame)
  here <- paste0("{\"R\": \"", getRversion(), "\", \"slant\": \"0.0.1\", \"definition\": \"x\"}")
  fits <- data.frame(
    call_id = c("b", "a"), fit = c("lme4", "effect_size"), source = "simulated", study = "rmiat", study_version = "v1",
    variant = "base", model = "o3-mini", test = "flowers_insects", refusals_removed = TRUE, measure = NA_character_,
    status = "ok", data_hash = "0", versions = c(here, "{\"R\": \"3.6-3\", \"no.such\": \"1.0-2\"}"),
    fitted_at = Sys.time()
  )
  estimates <- data.frame(
    call_id = c("b", "a", "b"), term_no = c(2, 1, 1), term = c("conditionincompatible", "cohens_d", "intercept"),
    estimate = c(20, .5, 100)
  )
  variances <- data.frame(call_id = "b", term_no = 1, group = "wording", variance = 4)
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  for (table in c("fits", "estimates", "variances")) DBI::dbWriteTable(connection, table, get(table))
  DBI::dbDisconnect(connection, shutdown = TRUE)
  path
}

test_that("kept fits come with their cells, in their order, and with the versions that made them", {
  path <- database_with_fits()
  kept <- stored_fits(path, "lme4")
  expect_equal(kept$estimates$term, c("intercept", "conditionincompatible"))
  expect_equal(unique(kept$estimates$model), "o3-mini")
  expect_equal(kept$variances$variance, 4)
  expect_equal(kept$fits$other_versions, NA_character_)
  expect_match(kept$fits$versions, "slant")
})

test_that("a fit that other versions made says so", {
  said <- sprintf("1 fit made with other versions than those here: R 3.6-3 (here %s), no.such 1.0-2", getRversion())
  path <- database_with_fits()
  expect_warning(kept <- stored_fits(path), said, fixed = TRUE)
  expect_equal(is.na(kept$fits$other_versions), c(TRUE, FALSE))
})

test_that("one version written in two ways is one", {
  made_with <- data.frame(package = "stats", version = sub("\\.([^.]*)$", "-\\1", packageVersion("stats")))
  expect_equal(other_versions(made_with), NA_character_)
})

test_that("every engine's own function says the versions that made its result", {
  for (fit in list(fit_made(made_trials()), effect_size(made_trials()))) {
    expect_equal(fit$versions$package[[1]], "R")
    expect_equal(fit$versions$version[[1]], as.character(getRversion()))
  }
})

test_in_full("a Bayesian fit that did not converge says so in every table, and no other fit has such columns", {
  path <- database_with_fits()
  connection <- DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path)
  models <- data.frame(call_id = "b", formula = "y ~ block", is_converged = FALSE, verdict = "Doubtful: draw more.")
  contrasts <- data.frame(call_id = "b", model = c("gpt-5", NA), scale = "delta_p", estimate = c(.1, .2))
  DBI::dbWriteTable(connection, "brms_models", models)
  for (name in c("predictions", "contrasts", "checks", "loo")) {
    DBI::dbWriteTable(connection, paste0("brms_", name), contrasts)
  }
  DBI::dbDisconnect(connection, shutdown = TRUE)
  kept <- stored_fits(path, "lme4")
  expect_s3_class(kept, "slant_fit")
  expect_named(kept$tables, c("model", "predictions", "contrasts", "checks", "loo"))
  for (table in c(kept[1:3], kept$tables)) expect_identical(unique(table$verdict), "Doubtful: draw more.")
  expect_equal(kept$tables$contrasts$model, c("gpt-5", "o3-mini"))
  other <- suppressWarnings(stored_fits(path, "effect_size"))
  expect_error(stored_fits(path, "lme5"), "`fit` must be one of .*, but is the text \"lme5\"")
  expect_named(other, c("estimates", "fits", "variances"))
  expect_null(other$estimates$verdict)
})
