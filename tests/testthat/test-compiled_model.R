# Compiling takes a minute: where it doesn't matter what is compiled, an empty model stands for the compiled one.
stand_in <- function(code) {
  Sys.sleep(.3)
  methods::new(methods::getClass("stanmodel", where = asNamespace("rstan")))
}

in_empty_cache <- function(env = parent.frame()) {
  skip_without_stan()
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(.local_envir = env), .local_envir = env)
}

kept_models <- function() list.files(cache_folder(), pattern = "[.]rds$", full.names = TRUE)

test_that("what is in the cache is not compiled again, and a file of other code under the name is not taken", {
  in_empty_cache()
  first <- cached_model("a", "stan-a", identity, stand_in)
  second <- cached_model("a", "stan-a", identity, function(code) stop("compiled again"))
  expect_gt(attr(first, "compile_s"), .2)
  expect_equal(attr(second, "compile_s"), 0)
  expect_s4_class(second, "stanmodel")
  expect_gt(attr(cached_model("b", "stan-a", identity, stand_in), "compile_s"), .2)
})

test_that("two processes that ask at once compile once", {
  skip_on_os("windows")
  in_empty_cache()
  log <- withr::local_tempfile()
  ask <- function() {
    said <- NULL
    model <- cached_model("a", "stan-a", function(text) said <<- c(said, text), function(code) {
      cat("compiled\n", file = log, append = TRUE)
      stand_in(code)
    })
    list(is_there = methods::is(model, "stanmodel"), said = said)
  }
  found <- parallel::mccollect(lapply(1:3, function(i) parallel::mcparallel(ask())))
  expect_true(all(vapply(found, `[[`, logical(1), "is_there")))
  expect_equal(readLines(log), "compiled")
  expect_match(unlist(lapply(found, `[[`, "said")), "another process compiles", all = FALSE)
  expect_length(list.files(cache_folder()), 1) # neither a lock nor half a file is left
})

test_that("half a file is noticed and made anew", {
  in_empty_cache()
  cached_model("a", "stan-a", identity, stand_in)
  whole <- readBin(kept_models(), "raw", 1e6)
  for (torn in list(whole[seq_len(length(whole) %/% 2)], raw(0), as.raw(1:100))) {
    writeBin(torn, kept_models())
    expect_gt(attr(cached_model("a", "stan-a", identity, stand_in), "compile_s"), .2)
    expect_equal(attr(cached_model("a", "stan-a", identity, stop), "compile_s"), 0)
  }
})

# Killed while it signs, a process leaves a lock that is stale only after ten seconds.
wait_for_owner <- function(lock) {
  owner <- file.path(lock, "owner")
  while (!file.exists(owner) || length(readLines(owner, warn = FALSE)) < 3) Sys.sleep(.05)
}

test_that("the lock of a killed process is taken over, that of a living one is waited for", {
  skip_on_os("windows")
  lock <- file.path(withr::local_tempdir(), "a.lock")
  killed <- parallel::mcparallel(with_lock(lock, Sys.sleep(60)))
  wait_for_owner(lock)
  expect_false(is_stale(lock))
  tools::pskill(killed$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(killed))
  # Its pipe closes before the process is gone.
  for (i in 1:100) if (!is_stale(lock)) Sys.sleep(.05)
  expect_true(is_stale(lock))
  expect_equal(with_lock(lock, "mine"), "mine")
  expect_false(dir.exists(lock))
})

test_that("a killed process whose parent has not asked for its end holds no lock", {
  skip_if_not(file.exists("/proc/self/stat"), "this system doesn't say what became of a process")
  lock <- file.path(withr::local_tempdir(), "a.lock")
  killed <- parallel::mcparallel(with_lock(lock, Sys.sleep(60)))
  wait_for_owner(lock)
  tools::pskill(killed$pid, tools::SIGKILL)
  while (process_is_there(killed$pid)) Sys.sleep(.05)
  expect_equal(with_lock(lock, "mine"), "mine")
  suppressWarnings(parallel::mccollect(killed))
})

test_that("a process that has the number of a killed one doesn't hold its lock", {
  skip_if_not(file.exists("/proc/self/stat"), "this system doesn't say when a process began")
  lock <- file.path(withr::local_tempdir(), "a.lock")
  dir.create(lock)
  writeLines(c(this_process()[1:2], "1"), file.path(lock, "owner"))
  expect_true(is_stale(lock))
  writeLines(this_process(), file.path(lock, "owner"))
  expect_false(is_stale(lock))
})

test_that("without a compiler a compiled model still runs, and nothing else is compiled", {
  in_empty_cache()
  cached_model("a", "stan-a", identity, stand_in)
  withr::local_envvar(PATH = "")
  expect_equal(compiler_version(), NA_character_)
  expect_equal(attr(cached_model("a", "stan-a", identity, stop), "compile_s"), 0)
  expect_error(cached_model("b", "stan-b", identity, stop), "there is no C\\+\\+ compiler here, and no compiled model")
})

test_that("without Boost's headers it says what to install", {
  expect_error(check_toolchain("g++ 12", headers = NA), "headers of the C\\+\\+ library Boost.*libboost-dev")
})

test_that("a cache that can't be written costs a message, not the model", {
  skip_without_stan()
  path <- file.path(withr::local_tempdir(), "gone", "stan-a.rds")
  expect_message(model <- compile_and_keep("a", path, identity, stand_in), "could not be stored")
  expect_s4_class(model, "stanmodel")
})

test_that("code that is no Stan program ends in a sentence", {
  in_empty_cache()
  expect_error(compiled_model("parameters { real x }"), "Can't compile the Stan model")
})
