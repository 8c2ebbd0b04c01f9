#' Find known interference again, many times
#'
#' Simulates data sets with known parameters ([simulate_forced_choice()]), fits stage B of the analysis to each, and
#' sets the estimates of the difference between blocks beside the truth. [interval_coverage()] counts how many intervals
#' hold it, [plot_recovery()] shows them.
#'
#' Truths `"prior"` are drawn from the priors of the analysis, with every answer valid. Over such truths, 95 % intervals
#' of a right analysis hold the truth 95 times in 100: this is a test of the program. Truths `"paper"` are the same in
#' all data sets, and near the paper's: there the share need not be 95 %, for the priors pull towards their centre. This
#' says what to expect of the paper's design.
#'
#' The chains are shorter than those of the main fit (1000 draws rather than 10,000). A fit takes some seconds; the
#' first one compiles the model. The number of cores changes no number.
#'
#' @param n number of data sets.
#' @param truths `"prior"` or `"paper"`, see [forced_choice_parameters()].
#' @param seed a whole number, from which the seeds of parameters, data and chains are drawn.
#' @param cores number of data sets that are fitted at a time.
#' @inheritParams simulate_forced_choice
#' @param chains,iterations,warmup,adapt_delta how Stan samples: `iterations` of each chain, of which the first `warmup`
#'   are dropped.
#' @param say a function that is told, in words, what is being done; or the path of a file to write it to.
#' @return A data frame with one row per data set, model and domain: `data_set`, `source`, `model`, `domain`, `truth`,
#'   `estimate` (posterior mean), `conf_low`, `conf_high` (95 %), all population-level and in probability; `rhat` and
#'   `ess_bulk` of it; of the whole fit `n_divergent` (draws) and `is_converged` (no divergences, R-hat of at most 1.05
#'   and an effective sample size of at least 100 in all cells).
#' @source Cohen & Kincaid (2026), equations 9 to 11, and S2.
#' @export
#' @examplesIf interactive()
#' # Compiles at its first use, and so takes a minute.
#' recovered <- recover_contrasts(n = 4, truths = "paper", cores = 2)
#' interval_coverage(recovered)
recover_contrasts <- function(n = 100, truths = c("prior", "paper"), seed = 1, n_words = 20, chains = 2,
                              iterations = 700, warmup = 200, adapt_delta = .95, cores = 1, say = NULL) {
  check_arguments()
  truths <- one_of(truths, eval(formals(recover_contrasts)$truths), "truths")
  say <- progress_writer(say)
  seeds <- with_seed(seed, matrix(sample.int(.Machine$integer.max, 3 * n), ncol = 3))
  settings <- list(chains = chains, iterations = iterations, warmup = warmup, adapt_delta = adapt_delta)
  recover <- function(number) {
    parameters <- known_parameters(truths, seeds[number, 1])
    trials <- simulate_forced_choice(parameters, n_words, seed = seeds[number, 2])
    effects <- recovered_effects(trials, c(settings, seed = seeds[number, 3]))
    with_truth(effects, parameters, number)
  }
  # The model is compiled, or read, before the processes part.
  tables <- list(recover(1))
  done <- 1
  while (done < n) {
    numbers <- done + seq_len(min(cores, n - done))
    batch <- if (cores > 1) {
      parallel::mclapply(numbers, recover, mc.cores = cores, mc.set.seed = FALSE)
    } else {
      lapply(numbers, recover)
    }
    check_recovered(batch)
    tables <- c(tables, batch)
    done <- max(numbers)
    say(sprintf("Recovering: %d of %d data sets", done, n))
  }
  do.call(rbind, tables)
}

# An answer that is not valid tells nothing of consistency, and moves the centre of the prior a little: no such answers
# where the intervals have to be exact.
known_parameters <- function(truths, seed) {
  parameters <- forced_choice_parameters(truths, seed)
  if (truths == "prior") parameters$p_valid <- 1
  parameters
}

# The difference between blocks in each model and domain, from a short fit of stage B.
recovered_effects <- function(trials, settings) {
  formula <- "is_consistent ~ block * model * domain + (1 | item)"
  valid <- trials[trials$is_valid, , drop = FALSE]
  models <- unique(c(intersect(names(example_models()), valid$model), valid$model))
  levels <- list(block = example_blocks(), model = models, domain = names(example_domains()))
  data <- in_fixed_order(valid, formula)
  # What R warns of short chains is judged below, in is_converged.
  fit <- suppressWarnings(refit_brms(data, formula, levels, settings))
  cells <- unique(data[c("model", "domain")])
  keys <- paste(data$model, data$domain, data$block)
  by_cell <- lapply(seq_len(nrow(cells)), function(cell) {
    # All rows of a cell and block have the same fixed effects: the first one will do.
    sides <- match(paste(cells$model[[cell]], cells$domain[[cell]], example_blocks()), keys)
    p <- lapply(sides, function(side) stats::plogis(as.vector(fit$draws %*% fit$design[side, ])))
    delta_p <- p[[1]] - p[[2]]
    ends <- stats::quantile(delta_p, c(.025, .975), names = FALSE)
    agreement <- suppressWarnings(agreement_of_chains(delta_p, fit$chains))
    data.frame(
      estimate = mean(delta_p), conf_low = ends[[1]], conf_high = ends[[2]], rhat = agreement[[1]],
      ess_bulk = agreement[[2]]
    )
  })
  effects <- do.call(rbind, by_cell)
  is_converged <- fit$n_divergent == 0 && !any(is_unconverged(effects))
  cbind(cells, effects, n_divergent = fit$n_divergent, is_converged = is_converged)
}

with_truth <- function(effects, parameters, number) {
  truths <- true_contrasts(parameters)
  truths <- truths[truths$scale == "delta_p", c("model", "domain", "truth")]
  rows <- merge(truths, effects, by = c("model", "domain"), sort = FALSE)
  rows <- rows[order(rows$model, rows$domain, method = "radix"), ]
  data.frame(data_set = number, source = "simulated", rows, row.names = NULL)
}

# A process that ends before its time leaves an error, or nothing.
check_recovered <- function(tables) {
  is_lost <- !vapply(tables, is.data.frame, logical(1))
  if (any(is_lost)) {
    messages <- vapply(tables[is_lost], function(table) paste(as.character(table), collapse = " "), "")
    stop_with("A data set could not be fitted.", unique(trimws(messages[nzchar(messages)])))
  }
}
