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
#' calibrated <- calibrate(trials, formula, list(condition = c("congruent", "incongruent")), n = 20,
#'   cores = 2)
#' calibrated$summary
#' plot_calibration(calibrated)
calibrate <- function(data, formula, levels = NULL, priors = NULL, coding = "treatment", family = "bernoulli",
                      step = NULL, n = 200, truth_priors = NULL, chains = 2, iterations = 700, warmup = 200,
                      adapt_delta = .95, seed = 1, n_draws = 99, max_rows = 1000, cores = 1, say = NULL) {
  check_arguments()
  say <- progress_writer(say)
  one <- function(number) {
    result <- calibrate_data_set(
      data, formula, number, seed, levels, priors, coding, family, step, truth_priors, chains, iterations, warmup,
      adapt_delta, n_draws, max_rows
    )
    rows <- result$quantities
    if (nrow(rows) == 0) rows <- within(rows[NA_integer_, ], number <- result$fit$number)
    messages <- paste(sprintf("%s: %s", result$messages$kind, result$messages$text), collapse = "\n")
    of_fit <- cbind(source = "simulated", result$fit[setdiff(names(result$fit), "number")], messages = messages)
    as_plain_rows(cbind(rows, of_fit[rep(1, nrow(rows)), ]))
  }
  ranks <- over_data_sets(n, cores, one, say, "Calibrating")
  list(summary = summarise_calibration(ranks), ranks = ranks)
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
    is_lost <- !vapply(batch, is.data.frame, NA) # a process that ends before its time leaves an error, or nothing
    if (any(is_lost)) {
      messages <- vapply(batch[is_lost], function(table) paste(as.character(table), collapse = " "), "")
      stop_with("A data set could not be fitted.", unique(trimws(messages[nzchar(messages)])))
    }
    tables <- c(tables, batch)
    done <- max(numbers)
    say(sprintf("%s: %d of %d data sets", what, done, n))
  }
  do.call(rbind, tables)
}

#' What the ranks of a calibration come to
#'
#' For each quantity: are its ranks uniform, does its 95 % interval hold the truth 95 times in 100, and what do the data
#' say of it?
#'
#' @param data a data frame such as the `ranks` of [calibrate()].
#' @return The `summary` of [calibrate()], which explains its columns. `n_doubtful` are those among `n` that have
#'   divergent transitions or did not converge; `shrinkage` is the mean over data sets.
#' @source Säilynoja, Bürkner & Vehtari (2022); Betancourt (2018): see [calibrate()].
#' @noRd
summarise_calibration <- function(data) {
  needed <- c("number", "quantity", "truth", "rank", "n_draws", "estimate", "std_dev", "conf_low", "conf_high")
  check_columns(data, needed, to = "sum up a calibration")
  is_failed <- is.na(data$quantity)
  rows <- data[!is_failed, , drop = FALSE]
  check_ranks(rows)
  by_quantity <- split(rows, factor(rows$quantity, unique(rows$quantity)))
  summary <- do.call(rbind, lapply(unname(by_quantity), summarised_quantity))
  summary$n_failed <- length(unique(data$number[is_failed]))
  summary$p_adjusted <- stats::p.adjust(summary$p_value, "holm")
  as_plain_rows(summary[c(
    "quantity", "model", "test", "n", "n_failed", "n_doubtful", "n_draws", "p_value", "p_adjusted", "is_in_band",
    "n_held", "coverage", "mean_z", "sd_z", "shrinkage", "mean_rank", "min_ess_bulk"
  )])
}

summarised_quantity <- function(rows) {
  n_draws <- rows$n_draws[[1]]
  z_score <- (rows$estimate - rows$truth) / rows$std_dev
  key <- function(name) if (name %in% names(rows)) as.character(rows[[name]][[1]]) else NA_character_
  p_value <- uniformity_p(rows$rank, n_draws)
  data.frame(
    quantity = rows$quantity[[1]], model = key("model"), test = key("test"), n = nrow(rows),
    n_doubtful = if ("status" %in% names(rows)) sum(rows$status != "ok") else 0L, n_draws = n_draws,
    p_value = p_value, is_in_band = p_value >= .05, n_held = sum(holds_truth(rows)), coverage = mean(holds_truth(rows)),
    mean_z = mean(z_score), sd_z = stats::sd(z_score),
    shrinkage = mean(1 - rows$std_dev^2 / stats::var(rows$truth)), mean_rank = mean(rows$rank / n_draws),
    min_ess_bulk = if ("ess_bulk" %in% names(rows)) min(rows$ess_bulk) else NA_real_
  )
}

# Ranks that can be compared: each quantity once in a data set, all among as many draws.
check_ranks <- function(rows) {
  if (nrow(rows) == 0) {
    stop_with("Can't sum up a calibration: no data set could be fitted.", "The column `messages` says why.")
  }
  if (anyDuplicated(rows[c("number", "quantity")]) > 0) {
    stop_with("Can't sum up a calibration: a data set has several rows of one quantity.", "Keep the rows of one fit.")
  }
  is_wrong <- is.na(rows$rank) | rows$rank < 0 | rows$rank > rows$n_draws | rows$rank != round(rows$rank)
  if (any(is_wrong) || length(unique(rows$n_draws)) > 1) {
    stop_with("Can't sum up a calibration: ranks must be whole numbers from 0 to `n_draws`, the same in all rows.")
  }
}

#' The band in which the ranks of a right sampler lie
#'
#' Where draws and truth come from the same distribution, the rank of the truth among `n_draws` independent draws is
#' uniform on 0 to `n_draws`. The band holds the whole empirical distribution function of the ranks of `n` data sets
#' with the probability `level`: not point by point, but at all points at once. Point by point it is the central
#' interval of a binomial distribution; how much wider that has to be is found from the exact joint probability of all
#' points, which a Markov chain of their counts gives.
#'
#' @param n number of data sets.
#' @param n_draws draws that the truth is ranked among.
#' @param level probability of all points together.
#' @return A data frame with one row per point: `at` (k / (n_draws + 1), the share of ranks below k that is expected),
#'   `low` and `high` (the band of that share).
#' @source Säilynoja, Bürkner & Vehtari (2022), Graphical test for discrete uniformity, Statistics and Computing 32:32,
#'   section 2.2 (the exact adjustment).
#' @noRd
uniform_band <- function(n, n_draws, level = .95) {
  at <- seq_len(n_draws) / (n_draws + 1)
  limits <- tail_limits(critical_tail(n, n_draws, level), n, at)
  data.frame(at = at, low = limits$low / n, high = limits$high / n)
}

# The probability, for uniform ranks, of an empirical distribution function that somewhere lies as far out as this one.
uniformity_p <- function(ranks, n_draws) {
  n <- length(ranks)
  at <- seq_len(n_draws) / (n_draws + 1)
  counts <- counts_below(ranks, n_draws)
  # Twice the smaller tail of the point that lies farthest out.
  tail <- min(1, 2 * stats::pbinom(counts, n, at), 2 * stats::pbinom(counts - 1, n, at, lower.tail = FALSE))
  # A little more than the tail itself, so that what lies as far out as this is outside.
  min(1, 1 - joint_probability(tail_limits(tail * (1 + 1e-9), n, at), n, at))
}

# How many ranks are below 1, 2 … n_draws.
counts_below <- function(ranks, n_draws) cumsum(tabulate(ranks + 1, n_draws + 1))[seq_len(n_draws)]

# The counts of each point whose two tails are each at least half of `tail`.
tail_limits <- function(tail, n, at) {
  low <- stats::qbinom(tail / 2, n, at)
  high <- n - stats::qbinom(tail / 2, n, 1 - at)
  list(low = low, high = high)
}

# The largest tail whose limits hold all points together with the probability `level`.
critical_tail <- function(n, n_draws, level) {
  at <- seq_len(n_draws) / (n_draws + 1)
  ends <- log(c((1 - level) / n_draws, 2 * (1 - level))) # Bonferroni's, and wider than a single point's
  for (step in 1:20) {
    middle <- mean(ends)
    holds <- joint_probability(tail_limits(exp(middle), n, at), n, at) >= level
    ends[[if (holds) 1 else 2]] <- middle
  }
  exp(ends[[1]])
}

# The probability that the counts of all points lie within their limits: from one point to the next, those that are not
# below yet fall into the gap each with the same probability.
joint_probability <- function(limits, n, at) {
  counts <- 0
  probability <- 1
  before <- 0
  for (point in seq_along(at)) {
    share <- (at[[point]] - before) / (1 - before)
    if (limits$low[[point]] > limits$high[[point]]) {
      return(0)
    }
    now <- seq(limits$low[[point]], limits$high[[point]])
    steps <- outer(now, counts, `-`)
    left <- matrix(n - counts, length(now), length(counts), byrow = TRUE)
    probability <- as.vector(matrix(stats::dbinom(steps, left, share), length(now)) %*% probability)
    counts <- now
    before <- at[[point]]
  }
  sum(probability)
}
