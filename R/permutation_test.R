#' Test interference by permutation
#'
#' Refits a model to data whose block labels were swapped at random within model, domain and item ([permute_blocks()]),
#' many times ([refit_permutation()]), and sums up where the observed difference between the blocks stands among those
#' that such labels give ([summarise_permutations()]). From the shell: `analyze permute`.
#'
#' A permutation's result depends on `seed` and its number alone: not on `workers`, and not on whether it was computed
#' here or by `analyze permute`.
#'
#' @inheritParams refit_permutation
#' @param priors priors as [brms_parts()] takes them; of no use to lme4.
#' @param permutations how many. p can't be smaller than 1 / (1 + permutations).
#' @param workers how many R processes refit; on Windows always 1.
#' @param ... further arguments of [refit_permutation()]: `chains`, `iterations`, `warmup`, `adapt_delta`, `block`,
#'   `unit`.
#' @return A list of data frames: `tests` (see [summarise_permutations()]), `cells`, `refits` and `messages` (see
#'   [refit_permutation()]; one row per refit of `refits`, number 0 is the data as observed).
#' @source Cohen & Kincaid (2026), section 3.2.
#' @export
#' @examplesIf requireNamespace("lme4", quietly = TRUE)
#' trials <- simulate_forced_choice(n_words = 5, seed = 1)
#' trials <- trials[trials$is_valid & trials$model == "claude-sonnet-4", ]
#' levels <- list(block = c("congruent", "incongruent"), domain = c("gender_career", "gender_science"))
#' test <- permutation_test(
#'   trials, "is_consistent ~ block * domain + (1 | item)", permutations = 3, engine = "lme4", levels = levels
#' )
#' test$tests[c("domain", "scale", "observed", "null_mean", "p_one_sided")]
#' test$refits
permutation_test <- function(data, formula, permutations = 100, seed = 1, engine = "brms", levels = NULL,
                             priors = NULL, within = c("model", "domain"), workers = 1, ...) {
  if (!is.numeric(permutations) || length(permutations) != 1 || is.na(permutations) || permutations < 1) {
    stop_with("Can't test by permutation: `permutations` must be 1 or more.")
  }
  refit <- function(number) {
    refit_permutation(
      data, formula,
      number = number, seed = seed, engine = engine, levels = levels, priors = priors, within = within, ...
    )
  }
  # The first one alone: it compiles the model, where that is still to be done, and stops where data don't do.
  first <- refit(0)
  if (first$refit$status == "failed") {
    stop_with("Can't test by permutation: the data as observed can't be fitted.", first$messages$text)
  }
  found <- c(list(first), refit_all(refit, seq_len(permutations), workers))
  stack <- function(name) do.call(rbind, lapply(found, function(one) one[[name]]))
  messages <- do.call(rbind, lapply(found, function(one) {
    cbind(number = rep(one$refit$number, nrow(one$messages)), one$messages)
  }))
  cells <- stack("cells")
  refits <- stack("refit")
  tests <- beside_labels(summarise_permutations(cells, refits, within), data)
  cells <- beside_sides(beside_labels(cells, data), data, "block", levels$block)
  list(tests = tests, cells = cells, refits = refits, messages = messages)
}

# Forked processes; one that dies is an error, for a refit that is silently missing would change p.
refit_all <- function(refit, numbers, workers) {
  if (workers == 1 || .Platform$OS.type == "windows") {
    return(lapply(numbers, refit))
  }
  found <- parallel::mclapply(numbers, refit, mc.cores = workers, mc.preschedule = FALSE, mc.set.seed = FALSE)
  is_lost <- !vapply(found, is.list, logical(1))
  if (any(is_lost)) {
    stop_with(
      sprintf("Can't test by permutation: the R process of permutation %s died.", toString(numbers[is_lost])),
      "Try again with workers = 1."
    )
  }
  found
}
