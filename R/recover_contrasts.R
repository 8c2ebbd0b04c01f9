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

#' Known parameters for simulated participants of the interference study
#'
#' One row per model, test and condition: how likely a valid answer is, and how likely a task-consistent one is among
#' the valid, for a median word; and how much words differ. [simulate_forced_choice()] makes trials of them, and
#' [true_contrasts()] says what a fit of those trials should find.
#'
#' `"paper"` is close to the paper: its Table 1 gives the differences between conditions, its Table 2 the compliance of
#' each model (mean of its cells), its section 3.1 the spread of words in compliance. Not printed, and so made up: the
#' consistency in congruent conditions (.995) and the spread of words in consistency (1). `"prior"` draws all of them
#' from the prior of the analysis (the paper's S2: coefficients normal(0, 1), centred intercept normal(3, 1.5), spread
#' of words exponential(1), treatment contrasts): the truths for which 95 % intervals are calibrated.
#'
#' @param from `"paper"` or `"prior"`.
#' @param seed a whole number, used by `"prior"`: the same seed gives the same parameters.
#' @return A data frame with 12 rows: `model`, `test`, `condition`, `p_valid`, `p_consistent` (probabilities for a word
#'   whose random intercept is 0), `sd_item_valid`, `sd_item_consistent` (standard deviations of words, in log odds; the
#'   same in all rows).
#' @source Cohen & Kincaid (2026), section 3.1, Tables 1 and 2, S1 and S2.
#' @export
#' @examples
#' forced_choice_parameters()
#' true_contrasts(forced_choice_parameters(from = "prior", seed = 2))
forced_choice_parameters <- function(from = c("paper", "prior"), seed = 1) {
  check_arguments()
  from <- one_of(from, eval(formals(forced_choice_parameters)$from), "from")
  cells <- expand.grid(
    condition = example_conditions(), test = names(example_tests()), model = names(example_models()),
    stringsAsFactors = FALSE
  )[c("model", "test", "condition")]
  if (from == "prior") {
    return(with_seed(seed, {
      for (name in c("p_valid", "p_consistent")) cells[[name]] <- cell_probabilities(cells)
      for (name in c("sd_item_valid", "sd_item_consistent")) cells[[name]] <- stats::rexp(1)
      cells
    }))
  }
  is_incongruent <- cells$condition == "incongruent"
  delta_p <- rep(c(.086, .020, .017, .002, .004, .001), each = 2)
  cells$p_valid <- rep(c(.998, .999, .984), each = 4)
  cells$p_consistent <- .995 - ifelse(is_incongruent, delta_p, 0)
  cells$sd_item_valid <- 2.01
  cells$sd_item_consistent <- 1
  cells
}

example_conditions <- function() c("congruent", "incongruent")

example_tests <- function() c(gender_career = "Gender-Career", gender_science = "Gender-Science")

example_models <- function() {
  c("claude-sonnet-4" = "Claude Sonnet-4", "gemini-2.5-pro" = "Gemini 2.5 Pro", "gpt-5" = "GPT-5")
}

# One draw: brms puts its prior on the intercept of centred columns, so that 3 is the mean over all cells.
cell_probabilities <- function(cells) {
  as_factors <- as.data.frame(lapply(
    cells[c("condition", "model", "test")], function(values) factor(values, unique(values))
  ))
  # Said here, for R's option `contrasts` would code it else.
  treatment <- list(condition = "contr.treatment", model = "contr.treatment", test = "contr.treatment")
  columns <- stats::model.matrix(~ condition * model * test, as_factors, contrasts.arg = treatment)[, -1]
  centred <- scale(columns, scale = FALSE)
  stats::plogis(as.vector(stats::rnorm(1, 3, 1.5) + centred %*% stats::rnorm(ncol(columns))))
}

#' What a fit should find in simulated participants
#'
#' The interference of each model and test that follows from known parameters, for a median word: what the
#' `"population"` rows of an analysis estimate.
#'
#' @param parameters a data frame such as [forced_choice_parameters()]: `model`, `test`, `condition`, `p_consistent`.
#' @return A data frame with two rows per model and test: `model`, `test`, `kind` (`"population"`), `scale`
#'   (`"delta_p"`: P(consistent | congruent) − P(consistent | incongruent), in probability; `"s"`: the same contrast in
#'   log odds), `truth`.
#' @source Cohen & Kincaid (2026), equation 11 (ΔP) and section 2.5 (S).
#' @export
#' @examples
#' true_contrasts(forced_choice_parameters())
true_contrasts <- function(parameters) {
  check_columns(parameters, c("model", "test", "condition", "p_consistent"), to = "say what a fit should find")
  keys <- c("model", "test")
  both <- merge(
    parameters[parameters$condition == "congruent", c(keys, "p_consistent")],
    parameters[parameters$condition == "incongruent", c(keys, "p_consistent")],
    by = keys, suffixes = c("_congruent", "_incongruent")
  )
  congruent <- both$p_consistent_congruent
  incongruent <- both$p_consistent_incongruent
  contrast <- function(scale, truth) data.frame(both[keys], kind = "population", scale = scale, truth = truth)
  truths <- rbind(
    contrast("delta_p", congruent - incongruent),
    contrast("s", stats::qlogis(congruent) - stats::qlogis(incongruent))
  )
  structure(truths[order(truths$model, truths$test, method = "radix"), ], row.names = seq_len(nrow(truths)))
}

#' How often intervals hold the truth
#'
#' Counts the intervals that hold the truth, and gives the band in which that share lies by chance if each interval
#' holds it with the probability `level`. Bayesian intervals do so on average over truths that are drawn from the prior,
#' not for any one truth: a prior that pulls towards 0 covers small effects more often and large ones less.
#'
#' @param data a data frame such as [recover_contrasts()]: `truth`, `conf_low`, `conf_high`, and the columns of
#'   `by`.
#' @param by columns to count by. The band holds for data sets that know nothing of each other, so count by model and
#'   test: cells of one data set share their words.
#' @param level what the intervals claim.
#' @param band probability with which the share lies within the band, if they keep what they claim.
#' @return A data frame with one row per group: the columns of `by`, `n`, `n_held`, `coverage`, `band_low`, `band_high`
#'   (shares), `is_in_band`.
#' @export
#' @examples
#' set.seed(1)
#' recovered <- data.frame(truth = 0, estimate = rnorm(100))
#' recovered <- transform(recovered, conf_low = estimate - 1.96, conf_high = estimate + 1.96)
#' interval_coverage(recovered, by = character())
interval_coverage <- function(data, by = c("model", "test"), level = .95, band = .99) {
  check_arguments()
  check_columns(data, c(by, "truth", "conf_low", "conf_high"), to = "count intervals")
  group <- factor(group_codes(data, by))
  first <- data[match(levels(group), group), by, drop = FALSE]
  n <- as.integer(table(group))
  n_held <- as.integer(tapply(holds_truth(data), group, sum))
  limits <- stats::qbinom(rep(c((1 - band) / 2, (1 + band) / 2), each = length(n)), n, level) / n
  counts <- data.frame(
    n, n_held,
    coverage = n_held / n, band_low = limits[seq_along(n)], band_high = limits[-seq_along(n)]
  )
  counts$is_in_band <- counts$coverage >= counts$band_low & counts$coverage <= counts$band_high
  structure(cbind(first, counts), row.names = seq_along(n))
}

holds_truth <- function(rows) rows$conf_low <= rows$truth & rows$truth <= rows$conf_high
