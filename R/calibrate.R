#' Simulation-based calibration of a Bayesian model
#'
#' Is the sampler right, and is the model that is fitted the one that is meant? Draws many data sets from the priors of
#' the model, fits the model to each, and ranks the truth of each quantity among the draws of its posterior. Where all
#' is right these ranks are uniform; a wrong prior, coding or likelihood, or a sampler that does not reach everywhere,
#' makes them pile up. `summary` tests that, [plot_calibration()] shows it.
#'
#' The rows keep their columns (which model, condition, item …); only the outcome is drawn, so the number of rows and
#' how they are crossed are those of `data`. The truths are drawn by plain R, which knows of brms nothing but the names
#' of its parameters: so priors, coding and centring are tested, too. A prior of brms's that goes by the outcome is that
#' of `data` in all data sets. What has no prior (coefficients, where `family` is `"gaussian"`) gets normal(0, S), S
#' being the scale of the intercept's prior, in truths and fits alike; the column `priors` says so.
#'
#' Ranks are among 99 of the draws, evenly spaced. They are nearly independent: where a quantity has fewer than 100
#' effective draws, or an R-hat above 1.05, the chains are drawn again twice as long, at most twice. A fit that still is
#' so (`"unconverged"`), or has divergent transitions, is doubtful: it is counted, and keeps its ranks. One that failed
#' has none, and is counted.
#'
#' Of token counts (`family`, `step`) counts are drawn in their steps, and fitted as intervals as [fit_brms()] does (at
#' the middle of a step that is narrow next to the spread, which is the same to a thousandth). A negative binomial is
#' fitted to a step's middle, as if that were the number; so numbers are drawn, and only those below a step as a 0.
#' Families with a second parameter next to the predictor (hurdles, shifts) are refused.
#'
#' A fit takes some seconds; the first one compiles the model. The number of cores changes no number. In a shell
#' `analyze calibrate` does the same and keeps each data set as it ends.
#'
#' @param data a data frame with one row per trial: the rows whose outcome is drawn again. Those with a gap in a column
#'   of the formula are left out, as in a fit.
#' @param n number of data sets.
#' @param truth_priors a named list of priors that truths are drawn from where they are not `priors`: to see that a
#'   wrong prior is found.
#' @param chains,iterations,warmup,adapt_delta how Stan samples: `iterations` of each chain, of which the first `warmup`
#'   are dropped.
#' @param seed a whole number, from which truths, data and chains are drawn.
#' @param n_draws draws that a truth is ranked among.
#' @param max_rows of more rows, this many stand for all, evenly spaced in the order of outcome and covariates: what is
#'   wrong with a model shows as well in fewer.
#' @param cores number of data sets that are fitted at a time.
#' @inheritParams fit_brms
#' @return A list of two data frames:
#'   \describe{
#'     \item{summary}{one row per quantity: `quantity` (a parameter, under the name that [fit_brms()] has in its
#'       estimates; `"delta_p: …"`, the difference between conditions in a `model` and `test`; `"log_lik"`, the
#'       log-likelihood of all rows), `model`, `test`, `n` (data sets with ranks), `n_failed`, `n_doubtful` (of `n`),
#'       `n_draws`; `p_value`, the probability, in a right sampler, of ranks whose distribution somewhere lies as far
#'       from uniform as this one (below .05 it leaves the band of [plot_calibration()], and `is_in_band` is `FALSE`: of
#'       twenty right quantities one does), and `p_adjusted`, that of all quantities together (Holm); `n_held` and
#'       `coverage`, how many 95 % intervals hold the truth; Betancourt's `mean_z` and `sd_z` of the z-scores (0 and 1
#'       where posteriors are normal) and `shrinkage`, 1 minus the posterior variance over that of the truths (1: the
#'       data say all, 0: nothing); `mean_rank`, from 0 to 1 (above .5 the draws are too low), `min_ess_bulk`.}
#'     \item{ranks}{one row per data set and quantity: `number` of the data set, `quantity`, `model`, `test`, `truth`,
#'       `rank` (0 to `n_draws`: how many draws are below the truth), `n_draws`, `estimate` (posterior mean), `std_dev`,
#'       `conf_low`, `conf_high` (95 %), `z_score` (estimate minus truth, in posterior standard deviations), `rhat`,
#'       `ess_bulk`; of the whole fit `status` (`"ok"`, `"divergent"`, `"unconverged"`, `"failed"`), `n_divergent`
#'       (draws), `n_max_treedepth`, `iterations`, `n_rows`, `seed` of the chains, `priors`, `messages`; `source`, which
#'       is `"simulated"`. A fit that failed is one row without a quantity.}
#'   }
#' @source Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms with
#'   simulation-based calibration, arXiv:1804.06788. Modrák, Moon, Kim, Bürkner, Huurre, Faltejsková, Gelman & Vehtari
#'   (2023), Simulation-based calibration checking for Bayesian computation: the choice of test quantities shapes
#'   sensitivity, Bayesian Analysis: the log-likelihood finds what ranks of parameters can't (a fit that heeds no data).
#'   Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity and its applications in
#'   goodness-of-fit evaluation and multiple sample comparison, Statistics and Computing 32:32. Betancourt (2018),
#'   Calibrating model-based inferences and decisions, arXiv:1803.08393.
#' @export
#' @examplesIf interactive()
#' # Compiles at its first use, and so takes a minute.
#' trials <- simulate_forced_choice(n_words = 5)
#' formula <- "is_consistent ~ condition * model * test + (1 | item)"
#' calibrated <- calibrate(trials, formula, list(condition = c("congruent", "incongruent")), n = 20, cores = 2)
#' calibrated$summary
#' plot_calibration(calibrated)
calibrate <- function(data, formula, levels = NULL, priors = NULL, coding = "treatment", family = "bernoulli",
                      step = NULL, n = 200, truth_priors = NULL, chains = 2, iterations = 700, warmup = 200,
                      adapt_delta = .95, seed = 1, n_draws = 99, max_rows = 1000, cores = 1, say = NULL) {
  check_arguments()
  say <- progress_writer(say)
  one <- function(number) {
    as_calibrated(calibrate_data_set(
      data, formula, number, seed, levels, priors, coding, family, step, truth_priors, chains, iterations, warmup,
      adapt_delta, n_draws, max_rows
    ))
  }
  ranks <- over_data_sets(n, cores, one, say, "Calibrating")
  list(summary = summarise_calibration(ranks), ranks = ranks)
}

# The rows of one data set's quantities, with what is said of its whole fit.
as_calibrated <- function(result) {
  rows <- result$quantities
  if (nrow(rows) == 0) rows <- within(rows[NA_integer_, ], number <- result$fit$number)
  messages <- paste(sprintf("%s: %s", result$messages$kind, result$messages$text), collapse = "\n")
  of_fit <- cbind(source = "simulated", result$fit[setdiff(names(result$fit), "number")], messages = messages)
  as_plain_rows(cbind(rows, of_fit[rep(1, nrow(rows)), ]))
}

# The rows of `one(number)` for data sets 1 to `n`, `cores` of them at a time.
over_data_sets <- function(n, cores, one, say, what) {
  # The model is compiled, or read, before the processes part.
  tables <- list(one(1))
  done <- 1
  while (done < n) {
    numbers <- done + seq_len(min(cores, n - done))
    batch <- if (cores > 1) {
      parallel::mclapply(numbers, one, mc.cores = cores, mc.set.seed = FALSE)
    } else {
      lapply(numbers, one)
    }
    check_fitted(batch)
    tables <- c(tables, batch)
    done <- max(numbers)
    say(sprintf("%s: %d of %d data sets", what, done, n))
  }
  do.call(rbind, tables)
}

# A process that ends before its time leaves an error, or nothing.
check_fitted <- function(tables) {
  is_lost <- !vapply(tables, is.data.frame, logical(1))
  if (any(is_lost)) {
    messages <- vapply(tables[is_lost], function(table) paste(as.character(table), collapse = " "), "")
    stop_with("A data set could not be fitted.", unique(trimws(messages[nzchar(messages)])))
  }
}
