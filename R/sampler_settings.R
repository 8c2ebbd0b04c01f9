# How much is drawn: checked, and how long it will take.

sampler_settings <- function(chains, iterations, warmup, adapt_delta, max_treedepth, seed, cores) {
  whole <- list(chains = chains, iterations = iterations, warmup = warmup, max_treedepth = max_treedepth, seed = seed)
  settings <- Map(whole_number, whole, names(whole), c(1, 2, 1, 1, 0))
  if (settings$warmup >= settings$iterations) {
    stop_with(
      sprintf("Can't draw: %d iterations would all be warm-up (%d).", settings$iterations, settings$warmup),
      "iterations count those to warm up, and must be more."
    )
  }
  is_share <- is.numeric(adapt_delta) && length(adapt_delta) == 1 && isTRUE(adapt_delta > 0 && adapt_delta < 1)
  if (!is_share) stop_with("Can't draw: adapt_delta must be between 0 and 1, like .95.")
  if (is.null(cores)) { # those that this process may use: in a container fewer than the machine has
    n <- suppressWarnings(as.integer(output_of("nproc")))
    cores <- max(1L, c(n[!is.na(n)], parallel::detectCores(), 1L)[[1]], na.rm = TRUE)
  }
  n_cores <- whole_number(cores, "cores", 1)
  c(settings, list(adapt_delta = adapt_delta, cores = min(n_cores, settings$chains)))
}

whole_number <- function(value, name, at_least) {
  number <- suppressWarnings(as.numeric(unlist(value)))
  if (length(number) != 1 || is.na(number) || number != round(number) || number < at_least || number > 2^31 - 1) {
    stop_with(sprintf("Can't draw: %s must be a whole number of at least %d.", name, at_least))
  }
  as.integer(number)
}

# A rough estimate, from 960 rows, 4 chains of 4000 iterations on two cores: 22 s. It goes with the rows.
expected_s <- function(n, settings) {
  waves <- ceiling(settings$chains / settings$cores)
  as.numeric(n) * settings$iterations * waves * 11 / (960 * 4000) # as integers, a million rows overflow
}

check_duration <- function(n, settings, force) {
  hours <- expected_s(n, settings) / 3600
  amount <- sprintf(
    "%s rows, %d chains of %d iterations: about %s", format(n, big.mark = ",", scientific = FALSE), settings$chains,
    settings$iterations, if (hours < 1.5) sprintf("%.0f minutes", hours * 60) else sprintf("%.0f hours", hours)
  )
  if (hours > 1 && !isTRUE(force)) {
    stop_with(
      sprintf("Won't fit %s.", amount),
      "Fit fewer rows, draw less (iterations, warmup, chains), or say force = TRUE (in the shell: --force)."
    )
  }
  if (hours > 1 / 6) {
    settings$say(paste("Fitting", amount))
    message("Fitting ", amount, ".")
  }
}
