#' Refit a model to one permutation of its data
#'
#' Swaps labels as `permute_labels()` does, fits the model to the result, and returns what a permutation test
#' needs of it: in each model and test, the difference between the two conditions.
#'
#' With `engine = "brms"` the compiled model (`compiled_model()`) is sampled directly by `rstan::sampling()`: nothing is
#' compiled again. The chains are shorter than those of the main fit, for only the posterior's mean is used. What that
#' costs is in the columns `…_mcse`. With `engine = "lme4"` it is [lme4::glmer()] as a fast check: with `n_agq = 0`
#' some hundredths of a second, while Laplace's approximation (1) takes up to a minute on labels that leave a condition
#' without a failure, as many do, for then there is no finite optimum to find.
#'
#' Rows with a gap in a column of the formula (answers that are not valid have no `is_consistent`) are left out before
#' labels are swapped. Rows are put into one order first, so that neither their order nor the number of processes
#' changes a number.
#'
#' @inheritParams permutation_test
#' @inheritParams permute_labels
#' @param levels a named list: for each text column that is a fixed effect, its levels, the reference level first. The
#'   difference is the first level of `contrast` minus the second.
#' @param n_agq points of Gauss-Hermite quadrature of `glmer()`: 1 is Laplace's approximation, 0 the quickest.
#' @return A list of three data frames as of [permutation_test()], of this one refit. `cells`: one row per combination
#'   of `within`; of brms posterior means, each with its sd (`…_sd`) and the Monte Carlo standard error of the mean
#'   (`…_mcse`), `rhat` and `ess_bulk` of `delta_p`; `delta_p_items` is over the items of the cell's test with their
#'   random intercepts (`NA` if the model has other random effects); `is_separated`: all rows of a condition are alike.
#'   `NA` if a cell lost a condition. `refit`: one row; `n_divergent` and `n_max_treedepth` count draws, `is_singular`
#'   is lme4's. `messages`: `kind`, `text`.
#' @source Cohen & Kincaid (2026), equation 11 (the difference) and section 3.2.
#' @noRd
refit_permutation <- function(data, formula, number, seed = 1, engine = "brms", levels = NULL, priors = NULL,
                              contrast = "condition", unit = "item", within = c("model", "test"), chains = 2,
                              iterations = 700, warmup = 200, adapt_delta = .95, n_agq = 0, coding = "treatment") {
  refitters <- list(brms = refit_brms, lme4 = refit_glmer)
  if (!engine %in% names(refitters)) {
    stop_with(sprintf("Can't permute with %s.", quoted(engine)), sprintf("Engines: %s.", quoted(names(refitters))))
  }
  contrast <- words_of_formula(contrast, data, formula)
  within <- words_of_formula(within, data, formula)
  complete <- in_fixed_order(data, formula, c(contrast, unit, within))
  permuted <- in_fixed_order(permute_labels(complete, number, seed, contrast, unit, within), formula, within)
  sides <- sides_of(levels, permuted, contrast)
  number_seed <- permutation_seed(seed, number)
  settings <- list(
    seed = number_seed, priors = priors, chains = chains, iterations = iterations, warmup = warmup,
    adapt_delta = adapt_delta, n_agq = n_agq, coding = coding
  )
  cells <- cells_of(permuted, contrast, within, sides, levels)
  result <- with_conditions(function() {
    fit <- refitters[[engine]](permuted, formula, levels, settings)
    list(fit = fit, differences = condition_differences(fit, cells))
  })
  differences <- if (is.null(result$value)) condition_differences(NULL, cells) else result$value$differences
  list(
    cells = cbind(number = as.integer(number), with_our_words(cells$rows), differences),
    refit = refit_row(result, number, number_seed, differences),
    messages = result$conditions
  )
}

refit_row <- function(result, number, seed, differences) {
  fit <- result$value$fit
  status <- refit_status(fit, any(result$conditions$kind == "warning"), differences)
  count <- function(name) as.integer(if (is.null(fit[[name]])) NA else fit[[name]])
  data.frame(
    number = as.integer(number), seed = seed, status = status, n_divergent = count("n_divergent"),
    n_max_treedepth = count("n_max_treedepth"),
    is_singular = if (is.null(fit$is_singular)) NA else fit$is_singular, stringsAsFactors = FALSE
  )
}

refit_status <- function(fit, is_warned, differences) {
  if (is.null(fit)) {
    "failed"
  } else if (fit$chains == 0) {
    if (is_warned) "warned" else "ok"
  } else if (fit$n_divergent > 0) {
    "divergent"
  } else if (any(is_unconverged(differences))) {
    "unconverged"
  } else {
    "ok"
  }
}

# R-hat of a difference in a cell; 1.05 for chains of some hundred draws, whose R-hat is itself uncertain.
is_unconverged <- function(differences) {
  (differences$rhat > 1.05 | differences$ess_bulk < 100) & !is.na(differences$rhat + differences$ess_bulk)
}

# Compiles the model of these data, where that is still to be done; returns how many seconds it took.
compile_permutation_job <- function(data, arguments, say) {
  complete <- in_fixed_order(as_columns(data), arguments$formula)
  parts <- brms_parts(complete, arguments$formula, arguments$levels, arguments$priors, arguments$coding)
  attr(compiled_model(parts$code, say), "compile_s")
}
