test_that("a package that is not installed is told from one that can't be loaded", {
  expect_error(need_package("noSuchPackage", "fit"), "\"noSuchPackage\" must be installed, but it is not")
  library <- withr::local_tempdir()
  dir.create(file.path(library, "halfThere"))
  writeLines("Package: halfThere", file.path(library, "halfThere", "DESCRIPTION"))
  withr::local_libpaths(library, action = "prefix")
  expect_error(need_package("halfThere", "fit"), "\"halfThere\" is installed, but it can't be loaded.*R says")
})

test_that("brms without Debian's dpkg-dev says what to install", {
  skip_without_brms()
  skip_if_not(nzchar(Sys.which("dpkg-architecture")), "this is not Debian")
  asked <- "for (f in list.files('R', pattern = 'R$', full.names = TRUE)) source(f); need_package('rstan', 'fit')"
  skip_if_not(file.exists("../../R/stop_with.R"), "the files of R/ are not here")
  withr::local_dir("../..")
  withr::local_envvar(PATH = "")
  r <- file.path(R.home("bin"), "exec", "R") # R's own script to start it needs a PATH
  asking <- c("--no-echo", "--vanilla", "-e", shQuote(asked))
  said <- suppressWarnings(system2(r, asking, stdout = TRUE, stderr = TRUE, env = paste0("R_HOME=", R.home())))
  expect_match(said, "sudo apt-get install dpkg-dev", all = FALSE)
})
