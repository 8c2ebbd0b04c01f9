# Chains of one model in processes of their own, several at a time. What a chain draws depends on the seed and on its
# number alone, so the number of cores changes no draw.

# A stanfit of all chains. `settings`: chains, iterations, warmup, adapt_delta, max_treedepth, seed, cores.
sample_chains <- function(model, standata, exclude, settings, say) {
  jobs <- lapply(seq_len(settings$chains), function(chain) {
    function(refresh) {
      fit <- rstan::sampling(
        model,
        data = standata, pars = exclude, include = FALSE, chains = 1, chain_id = chain, cores = 1,
        iter = settings$iterations, warmup = settings$warmup, seed = settings$seed, init = settings$init,
        refresh = refresh, control = list(adapt_delta = settings$adapt_delta, max_treedepth = settings$max_treedepth)
      )
      fit@stanmodel <- methods::new("stanmodel") # ten megabytes that the other process has
      fit
    }
  })
  in_this_process <- function(job) with_conditions(function() job(0))
  can_fork <- .Platform$OS.type == "unix"
  results <- if (can_fork) in_processes(jobs, settings, say) else lapply(jobs, in_this_process)
  for (result in results) {
    errors <- result$conditions$text[result$conditions$kind == "error"]
    if (length(errors) > 0) stop_with("The sampler could not draw.", unique(errors))
    others <- without_single_judgements(result$conditions)
    for (text in unique(others$text[others$kind == "warning"])) warning(text, call. = FALSE)
  }
  merged <- rstan::sflist2stanfit(lapply(results, `[[`, "value"))
  merged@stanmodel <- model
  merged
}

# What a single chain says of its own convergence is judged for all of them together later.
without_single_judgements <- function(conditions) {
  of_chains <- "divergent|treedepth|Bayesian Fraction|Effective Samples Size|R-hat|pairs\\(\\) plot|mc-stan.org/misc"
  conditions[!(conditions$kind == "warning" & grepl(of_chains, conditions$text)), , drop = FALSE]
}

# Short chains, one after another in this process: list(stanfit, chains, n_divergent, n_max_treedepth). `pars`: the
# parameters that are kept, or (not `include`) left out.
sample_in_place <- function(parts, settings, pars, include) {
  init <- if (is.list(parts$init)) rep(parts$init, settings$chains) else "random"
  with(settings, sampler_settings(chains, iterations, warmup, adapt_delta, max_treedepth = 10, seed = seed, cores = 1))
  fit <- rstan::sampling(
    compiled_model(parts$code),
    data = parts$standata, chains = settings$chains, iter = settings$iterations, warmup = settings$warmup,
    seed = settings$seed, pars = pars, include = include, cores = 1, refresh = 0, open_progress = FALSE,
    show_messages = FALSE, init = init, control = list(adapt_delta = settings$adapt_delta)
  )
  if (fit@mode != 0) stop_with("Stan returned no draws: every chain failed.")
  sampler <- rstan::get_sampler_params(fit, inc_warmup = FALSE)
  count <- function(of) sum(vapply(sampler, function(chain) sum(of(chain)), numeric(1)))
  list(
    stanfit = fit, chains = length(sampler), n_divergent = count(function(chain) chain[, "divergent__"] > 0),
    n_max_treedepth = count(function(chain) chain[, "treedepth__"] >= 10)
  )
}

# The results of the jobs, in their order, `settings$cores` of them at a time.
in_processes <- function(jobs, settings, say) {
  files <- vapply(jobs, function(job) tempfile("chain"), character(1))
  results <- vector("list", length(jobs))
  running <- list()
  pids <- tempfile("chains")
  on.exit({
    for (job in running) tools::pskill(job$pid, tools::SIGKILL)
    if (length(running) > 0) try(suppressWarnings(parallel::mccollect(unname(running))), silent = TRUE)
    unlink(c(files, pids))
  })
  watch_over(pids)
  waiting <- seq_along(jobs)
  while (length(waiting) > 0 || length(running) > 0) {
    while (length(waiting) > 0 && length(running) < settings$cores) {
      number <- waiting[[1]]
      waiting <- waiting[-1]
      running[[as.character(number)]] <- start_process(jobs[[number]], files[[number]], settings)
    }
    writeLines(vapply(running, function(job) as.character(job$pid), character(1)), pids)
    for (number in names(ended <- ended_processes(running))) {
      result <- ended[[number]][[1]]
      if (is.null(result) || inherits(result, "try-error")) {
        stop_with(sprintf("The process of chain %s ended before its time: it was killed, or memory ran out.", number))
      }
      results[[as.integer(number)]] <- result
      running[[number]] <- NULL
    }
    say(progress_of(files, results, settings))
  }
  results
}

start_process <- function(job, file, settings) {
  # A thousand lines a chain: the file is written in pieces of 4 kB, some fifty lines each.
  refresh <- max(1, settings$iterations %/% 1000)
  sampled <- function() {
    sink(file)
    on.exit(sink())
    job(refresh)
  }
  parallel::mcparallel(with_conditions(sampled), mc.set.seed = FALSE, silent = TRUE)
}

# Those that have ended, by the name of the job, each as list(result); waits half a second for one. The result of a
# process that was killed is NULL.
ended_processes <- function(running) {
  answers <- suppressWarnings(parallel::mccollect(unname(running), wait = FALSE, timeout = .5))
  pids <- vapply(running, function(job) as.character(job$pid), character(1))
  has_ended <- pids %in% names(answers)
  for (job in running[has_ended]) suppressWarnings(parallel::mccollect(job)) # else it stays as a zombie
  lapply(pids[has_ended], function(pid) list(answers[[pid]]))
}

# Should this process end before its chains (by kill -9, too), they would go on sampling for nobody. So a shell looks
# each second whether it is still there, and else kills those that `list` names. It is begun before all of them: they
# are distinguished by pipes, which it must not hold. Without the file it ends by itself.
watch_over <- function(list) {
  is_gone <- "! kill -0 %1$d 2>/dev/null || grep -q '^State:[[:space:]]*Z' /proc/%1$d/status 2>/dev/null"
  script <- paste(
    "PATH=$PATH:/usr/bin:/bin; while [ -e %2$s ]; do if", is_gone,
    "; then kill -9 $(cat %2$s) 2>/dev/null; rm -f %2$s; fi; sleep 1 || exit; done"
  )
  file.create(list)
  script <- sprintf(script, Sys.getpid(), shQuote(list))
  system2("/bin/sh", c("-c", shQuote(script)), stdout = FALSE, stderr = FALSE, wait = FALSE)
}

# "Sampling: 42 % (chains 1 to 4: 84, 83, 0, 0 %)".
progress_of <- function(files, results, settings) {
  percent <- mapply(function(file, result) {
    if (!is.null(result)) return(100)
    last <- utils::tail(grep("Iteration: *[0-9]+ /", lines_in_file(file), value = TRUE), 1)
    if (length(last) == 0) 0 else 100 * as.integer(sub(".*Iteration: *([0-9]+) /.*", "\\1", last)) / settings$iterations
  }, files, results)
  which <- if (length(files) == 1) "chain 1" else paste("chains 1 to", length(files))
  sprintf("Sampling: %.0f %% (%s: %s %%)", mean(percent), which, toString(sprintf("%.0f", percent)))
}
