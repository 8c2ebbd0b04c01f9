#' Find known interference again, many times
#'
#' Simulates data sets with known parameters ([simulate_forced_choice()]), fits stage B of the analysis to each, and
#' compares estimates of the difference between conditions with the truth. [interval_coverage()] counts how many
#' intervals hold it, [plot_recovery()] shows them.
#'
#' Truths `"prior"` are drawn from the priors of the analysis, with every answer valid. Over such truths, 95 % intervals
#' of a right analysis hold the truth 95 times in 100: this is a test of the program, and a part of what [calibrate()]
#' looks at. Truths `"paper"` are the same in all data sets, and near the paper's: there the share need not be 95 %, for
#' the priors pull towards their centre. This says what to expect of the paper's design.
#'
#' The chains are shorter than those of the main fit (1000 draws rather than 10,000). A fit takes some seconds; the
#' first one compiles the model. The number of cores changes no number.
#'
#' @param n number of data sets.
#' @param truths `"prior"` or `"paper"`, see [forced_choice_parameters()].
#' @param seed a whole number, from which the seeds of parameters, data and chains are drawn.
#' @inheritParams simulate_forced_choice
#' @inheritParams calibrate
#' @return A data frame with one row per data set, model and test: `data_set`, `source`, `model`, `test`, `truth`,
#'   `estimate` (posterior mean), `conf_low`, `conf_high` (95 %), all of a median word and in probability; `rhat` and
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
  over_data_sets(n, cores, recover, say, "Recovering")
}

# An answer that is not valid tells nothing of consistency, and moves the centre of the prior a little: no such answers
# where the intervals have to be exact.
known_parameters <- function(truths, seed) {
  parameters <- forced_choice_parameters(truths, seed)
  if (truths == "prior") parameters$p_valid <- 1
  parameters
}

# The difference between conditions in each model and test, from a short fit of stage B.
recovered_effects <- function(trials, settings) {
  formula <- "is_consistent ~ condition * model * test + (1 | item)"
  valid <- trials[trials$is_valid, , drop = FALSE]
  models <- unique(c(intersect(names(example_models()), valid$model), valid$model))
  levels <- list(condition = example_conditions(), model = models, test = names(example_tests()))
  parts <- brms_parts(in_fixed_order(valid, formula), formula, levels)
  # What R warns of short chains is judged below, in is_converged.
  fit <- suppressWarnings(draws_in_place(parts, settings))
  effects <- quantity_rows(condition_difference_draws(fit$draws, parts), NA_real_, fit$chains, n_draws = 1)
  effects <- effects[c("model", "test", "estimate", "conf_low", "conf_high", "rhat", "ess_bulk")]
  is_converged <- fit$n_divergent == 0 && !any(is_unconverged(effects))
  cbind(effects, n_divergent = fit$n_divergent, is_converged = is_converged)
}

with_truth <- function(effects, parameters, number) {
  truths <- true_contrasts(parameters)
  truths <- truths[truths$scale == "delta_p", c("model", "test", "truth")]
  rows <- merge(truths, effects, by = c("model", "test"), sort = FALSE)
  rows <- rows[order(rows$model, rows$test, method = "radix"), ]
  data.frame(data_set = number, source = "simulated", rows, row.names = NULL)
}
