#' Refit a model to one permutation of its data
#'
#' Swaps block labels as [permute_blocks()] does, fits the model to the result, and returns what a permutation test
#' needs of it: in each model and domain, the difference between the two blocks.
#'
#' With `engine = "brms"` the compiled model ([compiled_model()]) is sampled directly by [rstan::sampling()]: nothing is
#' compiled again. The chains are shorter than those of the main fit, for only the posterior's mean is used. What that
#' costs is in the columns `…_mcse`. With `engine = "lme4"` it is [lme4::glmer()] as a fast check: with `n_agq = 0`
#' some hundredths of a second, where Laplace's approximation (1) takes up to a minute on labels that leave a block
#' without a failure, as many do, for then there is no finite optimum to find.
#'
#' Rows with a gap in a column of the formula (answers that are not valid have no `is_consistent`) are left out before
#' labels are swapped. Rows are put into one order first, so that neither their order nor the number of processes
#' changes a number.
#'
#' @inheritParams permute_blocks
#' @param formula the formula as text, such as `"is_consistent ~ block * model * domain + (1 | item)"`. Its fixed
#'   effects must be factors of `block` and `within`.
#' @param engine `"brms"` or `"lme4"`.
#' @param levels a named list: for each text column that is a fixed effect, its levels, the reference level first. The
#'   difference is the first level of `block` minus the second.
#' @param priors priors as [brms_parts()] takes them; of no use to lme4.
#' @param n_agq points of Gauss-Hermite quadrature of `glmer()`: 1 is Laplace's approximation, 0 the quickest.
#' @param chains,iterations,warmup,adapt_delta how brms samples: `iterations` of each chain, of which the first `warmup`
#'   are dropped.
#' @return A list of three data frames:
#'   \describe{
#'     \item{cells}{one row per combination of `within`: `number`, `delta_p` (difference of probabilities) and `s` (of
#'       log odds), both population-level, and `delta_p_items`, that of probabilities averaged over the cell's items
#'       with their random intercepts (`NA` where the model has other random effects); for brms posterior means, each
#'       with its sd (`…_sd`) and the Monte Carlo standard error of the mean (`…_mcse`), `rhat` and `ess_bulk` of
#'       `delta_p`; `is_separated`: all rows of a block are alike. `NA` where a cell lost a block.}
#'     \item{refit}{one row: `number`, `seed`, `status` (`"ok"`, `"divergent"`, `"unconverged"`, `"warned"`,
#'       `"failed"`), `n_divergent` and `n_max_treedepth` (draws), `is_singular` (lme4).}
#'     \item{messages}{one row per warning, message or error: `kind`, `text`.}
#'   }
#' @source Cohen & Kincaid (2026), equation 11 (the difference) and section 3.2.
#' @export
#' @examplesIf requireNamespace("lme4", quietly = TRUE)
#' trials <- simulate_interference(seed = 1)
#' trials <- trials[trials$is_valid, ]
#' levels <- list(
#'   block = c("congruent", "incongruent"), model = unique(trials$model), domain = unique(trials$domain)
#' )
#' refit_permutation(
#'   trials, "is_consistent ~ block * model * domain + (1 | item)", number = 1, engine = "lme4", levels = levels
#' )$cells
refit_permutation <- function(data, formula, number, seed = 1, engine = "brms", levels = NULL, priors = NULL,
                              block = "block", unit = "item", within = c("model", "domain"), chains = 2,
                              iterations = 700, warmup = 200, adapt_delta = .95, n_agq = 0) {
  refitters <- list(brms = refit_brms, lme4 = refit_glmer)
  if (!engine %in% names(refitters)) {
    stop_with(sprintf("Can't permute with %s.", quoted(engine)), sprintf("Engines: %s.", quoted(names(refitters))))
  }
  complete <- in_fixed_order(data, formula, c(block, unit, within))
  permuted <- in_fixed_order(permute_blocks(complete, number, seed, block, unit, within), formula, within)
  sides <- sides_of(levels, permuted, block)
  its_seed <- permutation_seed(seed, number)
  settings <- list(
    seed = its_seed, priors = priors, chains = chains, iterations = iterations, warmup = warmup,
    adapt_delta = adapt_delta, n_agq = n_agq
  )
  cells <- cells_of(permuted, block, within, sides, levels)
  heard <- with_conditions(function() {
    fit <- refitters[[engine]](permuted, formula, levels, settings)
    list(fit = fit, differences = block_differences(fit, cells))
  })
  differences <- if (is.null(heard$value)) block_differences(NULL, cells) else heard$value$differences
  list(
    cells = cbind(number = as.integer(number), cells$rows, differences),
    refit = refit_row(heard, number, its_seed, differences),
    messages = heard$conditions
  )
}

# The same for callers that hold arguments as data: the Python bridge.
refit_permutation_job <- function(data, arguments) {
  given <- Filter(Negate(is.null), as.list(arguments))
  do.call(refit_permutation, c(list(data = as_columns(data)), given), quote = TRUE)
}

# Rows without a gap, and the columns that the fit sees, or that are told apart. Sums of floating-point numbers depend
# on the order of rows: it is made one. Beside a column NAME stays NAME_no, the order of its levels.
in_fixed_order <- function(data, formula, more = character()) {
  check_columns(data, more, to = "permute")
  used <- unique(c(all.vars(checked_formula(formula, names(data))), more))
  kept <- c(used, intersect(paste0(used, "_no"), names(data)))
  data <- data[stats::complete.cases(data[used]), kept, drop = FALSE]
  keys <- lapply(rev(used), function(name) as_sortable(data[[name]]))
  data <- data[do.call(order, c(unname(keys), method = "radix")), , drop = FALSE]
  rownames(data) <- NULL
  data
}

as_sortable <- function(values) if (is.numeric(values)) values else as.character(values)

sides_of <- function(levels, data, block) {
  found <- as.character(unlist(levels[[block]]))
  if (length(found) == 0) found <- sort(unique(as.character(data[[block]])), method = "radix")
  found[found %in% data[[block]]]
}

# The cells in the order of their levels, for each the first row of either side (all rows of one side have the same
# fixed effects) and the rows of both.
cells_of <- function(data, block, within, sides, levels) {
  keys <- unit_keys(data, within)
  ordered <- listed_levels(data, within, levels)
  places <- lapply(within, function(name) match(as_sortable(data[[name]]), ordered[[name]]))
  first <- which(!duplicated(keys))
  if (length(within) > 0) first <- first[do.call(order, lapply(places, function(place) place[first]))]
  of_side <- lapply(sides, function(side) as.character(data[[block]]) == side)
  rows <- data[first, within, drop = FALSE]
  rows[] <- lapply(rows, as.character)
  rownames(rows) <- NULL
  list(
    rows = rows, is_separated = unname(vapply(keys[first], is_alike, TRUE, of_side, keys, as.numeric(data[[1]]))),
    sides = lapply(of_side, function(is_it) match(keys[first], ifelse(is_it, keys, NA))),
    members = unname(split(seq_along(keys), factor(keys, levels = keys[first])))
  )
}

# Whether the outcome of a cell is all alike on one of its sides.
is_alike <- function(key, of_side, keys, outcome) {
  any(vapply(of_side, function(is_it) length(unique(outcome[is_it & keys == key])) == 1, logical(1)))
}

# First side minus second, of what a refitter returned (NULL where it failed).
block_differences <- function(fit, cells) {
  kinds <- c("delta_p", "delta_p_items", "s")
  columns <- c(outer(c("", "_sd", "_mcse"), kinds, function(end, kind) paste0(kind, end)), "rhat", "ess_bulk")
  found <- as.data.frame(matrix(NA_real_, nrow(cells$rows), length(columns), dimnames = list(NULL, columns)))
  for (place in if (is.null(fit)) integer() else seq_len(nrow(found))) {
    at <- vapply(cells$sides, function(side) side[[place]], 1L)
    if (length(at) == 2 && !anyNA(at)) found[place, ] <- difference_in_cell(fit, at, cells$members[[place]])
  }
  cbind(found, is_separated = cells$is_separated)
}

# `at`: one row of the design for either side; `members`: the rows of the whole cell.
difference_in_cell <- function(fit, at, members) {
  eta <- lapply(at, function(row) as.vector(fit$draws %*% fit$design[row, ]))
  values <- list(
    stats::plogis(eta[[1]]) - stats::plogis(eta[[2]]), difference_over_units(fit, eta, members), eta[[1]] - eta[[2]]
  )
  unlist(c(lapply(values, summed_up, fit$chains), agreement_of_chains(values[[1]], fit$chains)))
}

# The difference of probabilities averaged over the cell's own items, each with its random intercept.
difference_over_units <- function(fit, eta, members) {
  if (is.null(fit$of_units)) {
    return(rep(NA_real_, length(eta[[1]])))
  }
  its <- fit$of_units[, unique(fit$unit_no[members]), drop = FALSE]
  rowMeans(stats::plogis(its + eta[[1]]) - stats::plogis(its + eta[[2]]))
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

refit_row <- function(heard, number, seed, differences) {
  fit <- heard$value$fit
  status <- refit_status(fit, any(heard$conditions$kind == "warning"), differences)
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
  parts <- brms_parts(complete, arguments$formula, arguments$levels, arguments$priors)
  attr(compiled_model(parts$code, say), "compile_s")
}
