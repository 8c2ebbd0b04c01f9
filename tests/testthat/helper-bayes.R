skip_without_brms <- function() {
  for (package in c("brms", "rstan", "posterior", "loo")) skip_if_not_installed(package)
}

# Compiling needs a minute, once on a machine: all tests share one Stan program, in the user's own cache.
skip_without_stan <- function() {
  skip_without_brms()
  skip_if(is.na(compiler_version()), "there is no C++ compiler here")
  skip_if(is.na(boost_headers()), "there are no Boost headers here")
}

few_trials <- function(...) simulate_forced_choice(n_words = 3, seed = 4, ...)

# Far too short to converge, long enough to see what comes out.
short_fit <- function(data, stage = "consistent", chains = 1, iterations = 120, warmup = 60, ...) {
  fit_forced_choice(data, stage, chains = chains, iterations = iterations, warmup = warmup, ...)
}

said_by <- function(fit) paste(fit$messages$text, collapse = "\n")

# Neither ended, nor ended and not yet asked for how.
process_is_there <- function(pid) {
  status <- tryCatch(suppressWarnings(readLines(sprintf("/proc/%d/status", pid))), error = function(problem) "")
  if (any(grepl("^State:", status))) !any(grepl("^State:[[:space:]]*Z", status)) else tools::pskill(pid, 0L)
}

# Another sampler run of a claim that rarely breaks: `make test-full` makes it.
skip_but_in_full <- function() skip_if(Sys.getenv("SLANT_FULL") == "", "only in make test-full")
