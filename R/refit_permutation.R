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
  refitted <- result$value$fit
  status <- refit_status(refitted, any(result$conditions$kind == "warning"), differences)
  count <- function(name) as.integer(if (is.null(refitted[[name]])) NA else refitted[[name]])
  list(
    cells = cbind(number = as.integer(number), with_our_words(cells$rows), differences),
    refit = data.frame(
      number = as.integer(number), seed = number_seed, status = status, n_divergent = count("n_divergent"),
      n_max_treedepth = count("n_max_treedepth"),
      is_singular = if (is.null(refitted$is_singular)) NA else refitted$is_singular, stringsAsFactors = FALSE
    ),
    messages = result$conditions
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

# The two ways of refitting a permutation. Each returns a list: `design` (fixed effects, one row per row of the data),
# `draws` (their coefficients, one row a draw), `of_units` (random intercepts, one row a draw and one column a unit;
# NULL where the model has other random effects), `chains` (0: no draws but one estimate), and what the engine counts.

refit_brms <- function(data, formula, levels, settings) {
  need_package("rstan", "refit with brms")
  parts <- brms_parts(data, formula, levels, settings$priors, settings$coding)
  has_intercepts <- is_only_intercepts(parts$formula)
  wanted <- c("b_Intercept", if (parts$standata$K > 1) "b", if (has_intercepts) "r_1_1")
  sampled <- sample_in_place(parts, settings, wanted, include = TRUE)
  list(
    design = parts$standata$X, draws = as.matrix(sampled$stanfit, pars = setdiff(wanted, "r_1_1")),
    of_units = if (has_intercepts) as.matrix(sampled$stanfit, pars = "r_1_1"),
    unit_no = as.integer(parts$standata$J_1), chains = sampled$chains, n_divergent = sampled$n_divergent,
    n_max_treedepth = sampled$n_max_treedepth
  )
}

# As fit_lme4() fits it. That cells are separated is counted by cell, not reported refit by refit.
refit_glmer <- function(data, formula, levels, settings) {
  need_package("lme4", "refit with glmer")
  formula <- without_single_levels(checked_formula(formula, names(data)), data, levels)$formula
  prepared <- coded_data(data, formula, levels)
  fit <- glmer_or_simpler(formula, prepared, settings$n_agq)
  list(
    design = lme4::getME(fit, "X"), draws = t(lme4::fixef(fit)),
    of_units = if (is_only_intercepts(formula)) t(lme4::ranef(fit)[[1]][, 1]),
    unit_no = as.integer(lme4::getME(fit, "flist")[[1]]), chains = 0, is_singular = lme4::isSingular(fit)
  )
}

# Whether the random effects are one intercept for each unit: (1 | item).
is_only_intercepts <- function(formula) {
  bars <- random_terms(formula)
  length(bars) == 1 && identical(bars[[1]][[2]], 1) && is.name(bars[[1]][[3]])
}

# What a refit is made of, cell by cell: its rows in one order, and the difference between the conditions of each cell.

# Rows without a gap, and the columns that the fit sees, or that are kept apart. Sums of floating-point numbers depend
# on the order of rows, so the order is fixed. NAME_no, the order of the levels of NAME, is kept with it.
in_fixed_order <- function(data, formula, more = character()) {
  check_columns(data, more, to = "permute")
  used <- unique(c(all.vars(checked_formula(formula, names(data))), more))
  columns <- c(used, intersect(paste0(used, "_no"), names(data)))
  data <- data[stats::complete.cases(data[used]), columns, drop = FALSE]
  keys <- lapply(rev(used), function(name) as_sortable(data[[name]]))
  as_plain_rows(data[do.call(order, c(unname(keys), method = "radix")), , drop = FALSE])
}

as_sortable <- function(values) if (is.numeric(values)) values else as.character(values)

sides_of <- function(levels, data, contrast) {
  sides <- as.character(unlist(levels[[contrast]]))
  if (length(sides) == 0) sides <- sort(unique(as.character(data[[contrast]])), method = "radix")
  sides[sides %in% data[[contrast]]]
}

# The cells in the order of their levels, for each the first row of either side (all rows of one side have the same
# fixed effects), and the rows of its test: the items of all of them are averaged over, in whatever model they were
# answered, as condition_effects() does, so that cells and fits are about the same items.
cells_of <- function(data, contrast, within, sides, levels) {
  keys <- unit_keys(data, within)
  test <- words_for("test", within)
  ordered <- listed_levels(data, within, levels)
  places <- lapply(within, function(name) match(as_sortable(data[[name]]), ordered[[name]]))
  first <- which(!duplicated(keys))
  if (length(within) > 0) first <- first[do.call(order, lapply(places, function(place) place[first]))]
  of_side <- lapply(sides, function(side) as.character(data[[contrast]]) == side)
  rows <- data[first, within, drop = FALSE]
  rows[] <- lapply(rows, as.character)
  rownames(rows) <- NULL
  list(
    rows = rows,
    # whether the outcome of a cell is all alike on one of its sides
    is_separated = unname(vapply(keys[first], function(key) {
      any(vapply(of_side, function(has_side) length(unique(data[[1]][has_side & keys == key])) == 1, NA))
    }, NA)),
    sides = lapply(of_side, function(has_side) match(keys[first], ifelse(has_side, keys, NA))),
    members = lapply(first, function(row) {
      if (!test %in% within) seq_len(nrow(data)) else which(data[[test]] == data[[test]][[row]])
    })
  )
}

# First side minus second, of what a refitter returned (NULL where it failed).
condition_differences <- function(fit, cells) {
  kinds <- c("delta_p", "delta_p_items", "s")
  columns <- c(outer(c("", "_sd", "_mcse"), kinds, function(end, kind) paste0(kind, end)), "rhat", "ess_bulk")
  differences <- as.data.frame(matrix(NA_real_, nrow(cells$rows), length(columns), dimnames = list(NULL, columns)))
  for (place in if (is.null(fit)) integer() else seq_len(nrow(differences))) {
    at <- vapply(cells$sides, function(side) side[[place]], 1L)
    if (length(at) == 2 && !anyNA(at)) differences[place, ] <- difference_in_cell(fit, at, cells$members[[place]])
  }
  cbind(differences, is_separated = cells$is_separated)
}

# `at`: one row of the design for either side; `members`: the rows whose items are averaged over.
difference_in_cell <- function(fit, at, members) {
  eta <- lapply(at, function(row) as.vector(fit$draws %*% fit$design[row, ]))
  over_units <- rep(NA_real_, length(eta[[1]]))
  if (!is.null(fit$of_units)) { # averaged over items, each with its random intercept
    intercepts <- fit$of_units[, unique(fit$unit_no[members]), drop = FALSE]
    over_units <- rowMeans(stats::plogis(intercepts + eta[[1]]) - stats::plogis(intercepts + eta[[2]]))
  }
  values <- list(stats::plogis(eta[[1]]) - stats::plogis(eta[[2]]), over_units, eta[[1]] - eta[[2]])
  unlist(c(lapply(values, summed_up, fit$chains), agreement_of_chains(values[[1]], fit$chains)))
}

summed_up <- function(values, chains) {
  if (chains == 0 || anyNA(values)) {
    return(c(values[[1]], NA, NA))
  }
  c(mean(values), stats::sd(values), as.numeric(posterior::mcse_mean(matrix(values, ncol = chains))))
}

agreement_of_chains <- function(values, chains) {
  if (chains == 0) {
    return(c(NA, NA))
  }
  by_chain <- matrix(values, ncol = chains)
  c(as.numeric(posterior::rhat(by_chain)), as.numeric(posterior::ess_bulk(by_chain)))
}

#' Swap the conditions of items at random
#'
#' One random relabelling of the data for a permutation test: within each model and test, the two labels of an
#' item are swapped with probability 1/2, for each item on its own.
#'
#' The unit that is exchanged is an item within a model and test, with all of its rows: several answers to one item
#' (repetitions) keep together, so that the test holds if items differ in their effect of condition, not only if none
#' has any. Items answered in one condition only (the other answer was not valid, say) take part: their label is drawn,
#' too. What is swapped depends on `seed`, `number` and the names of the items, not on the order of rows or the
#' session's random numbers, and is the same on every machine.
#'
#' @param data a data frame with one row per trial.
#' @param number which permutation: 0 (the data as they are), 1, 2, …
#' @param seed one whole number for the whole test. Each permutation has a seed of its own, made of it and `number`;
#'   up to 2^31 - 2 permutations no two are alike.
#' @param contrast name of the column whose two labels are swapped.
#' @param unit name of the column with the items.
#' @param within names of the columns within which an item's labels are exchanged.
#' @return `data` with some labels of `contrast` swapped.
#' @source Cohen & Kincaid (2026), section 3.2: labels permuted, the model refitted.
#' @noRd
permute_labels <- function(data, number, seed = 1, contrast = "condition", unit = "item",
                           within = c("model", "test")) {
  check_columns(data, c(contrast, unit, within), to = "permute")
  if (nrow(data) == 0) {
    stop_with("Can't permute: there are no rows, or none that has all that the formula needs, such as a valid answer.")
  }
  labels <- sort(unique(as.character(data[[contrast]])), method = "radix")
  if (length(labels) != 2 || anyNA(data[[contrast]])) {
    stop_with(
      sprintf("Can't permute: \"%s\" must hold exactly two labels in all rows.", contrast),
      sprintf("Found: %s%s.", quoted(labels), if (anyNA(data[[contrast]])) " and missing ones" else "")
    )
  }
  seed <- permutation_seed(seed, number)
  if (number == 0) {
    return(data)
  }
  units <- unit_keys(data, c(within, unit))
  keys <- sort(unique(units), method = "radix")
  is_swapped <- keys[with_seed(seed, stats::runif(length(keys)) < .5)]
  swapped <- units %in% is_swapped
  other <- labels[3 - match(as.character(data[[contrast]][swapped]), labels)]
  data[[contrast]][swapped] <- other
  data
}

# The seed of one permutation: whole numbers below the prime 2^31 - 1, and exact in doubles. For one `seed` all
# `number`s give different ones; the rounds keep neighbours of either far apart.
permutation_seed <- function(seed, number) {
  prime <- 2147483647
  if (!is_whole(seed, 1 - prime) || !is_whole(number, 0) || seed >= prime || number >= prime - 1) {
    stop_with("Can't permute: `seed` and `number` must be whole numbers, `number` 0 or more, both below 2^31 - 1.")
  }
  mixed <- seed %% prime
  for (round in 1:3) mixed <- (48271 * mixed + 11) %% prime
  as.integer((48271 * ((mixed + number) %% (prime - 1) + 1)) %% prime)
}

# Each row's item, within its model and test, as one string. The separator is in no name.
unit_keys <- function(data, columns) do.call(paste, c(lapply(data[columns], as.character), sep = "\037"))
