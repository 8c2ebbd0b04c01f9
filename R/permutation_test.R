#' Test an effect by permutation
#'
#' **Of numbers** (such as `"tokens ~ condition + (1 | wording)"`): deals the words of
#' each cell to their groups at random, which is to swap the two conditions of a word within a wording with probability
#' 1/2 (`whole_words = TRUE`: of a word with all its wordings, which also holds if words differ in their effect). It
#' shows what an analysis finds when there is nothing. `engine = "difference"` compares means and needs no refit;
#' `"lme4"` is the mixed model ([lme4::refit()] where every answer has its other one).
#'
#' **Of choices** (yes or no): Swaps the two labels of an item at random within model and test (each item with
#' probability 1/2, with all of its rows), refits the model, many times, and sums up where the observed difference
#' between the conditions is placed among those that such labels give. From the shell: `analyze permute`.
#'
#' With `engine = "brms"` the compiled model is sampled with shorter chains than those of the main fit, for only the
#' posterior's mean is used; `"lme4"` is [lme4::glmer()] as a fast check. Rows with a gap in a column of the formula are
#' left out before labels are swapped. A permutation's result depends on `seed` and its number alone: not on `cores`,
#' not on the order of rows, and not on whether it was computed here or by `analyze permute`.
#'
#' Compare with the centre of the null (`null_mean`), not with 0: under treatment coding the same priors mean other
#' things in each cell, and a difference is expected when there is none. All cells are permuted together: p is against
#' a difference in none of them. A cell with hardly a failure (`n_separated` near `n`) can't decide by itself.
#'
#' @inheritParams fit_brms
#' @param formula the formula as text, such as `"is_consistent ~ condition * model * test + (1 | item)"`. Its
#'   fixed effects must be factors of the conditions and of `within`.
#' @param permutations how many. p can't be smaller than 1 / (1 + permutations).
#' @param seed one whole number for the whole test.
#' @param engine `"brms"` or `"lme4"`; of numbers `"difference"` or `"lme4"`.
#' @param priors priors as [fit_brms()] takes them; of no use to lme4.
#' @param within names of the columns within which an item's labels are exchanged, and that make the cells.
#' @param cores how many R processes refit; on Windows always 1.
#' @param ... of the refits: `contrast` and `unit` (names of the columns with the conditions and the items), `coding`;
#'   for numbers `contrast` and `whole_words`; for brms `chains`, `iterations`, `warmup`, `adapt_delta`; for lme4
#'   `n_agq` (0, the quickest, or 1).
#' @return A list of data frames. Of numbers `tests` has the scale `"difference"` (in units of the outcome) and three
#'   more columns: `p_engine`, the p of Welch's test or of lme4 as observed, `false_positives`, in which share of the
#'   permutations that is below .05, and its 95 % interval (`…_low`, `…_high`); `cells` has `difference` and `p_value`.
#'   \describe{
#'     \item{tests}{one row per cell, `kind` (`"population"`, `"item_averaged"`) and `scale` (`"delta_p"`, a difference
#'       of probabilities; `"s"`, of log odds): `observed` (of the data as they are, with the settings of the refits);
#'       `null_mean`, `null_sd`, `null_low`, `null_median`, `null_high` (quantiles 2.5, 50 and 97.5 %); `n` permutations
#'       that took part; `n_failed`, `n_divergent`, `n_unconverged`, `n_warned`, `n_separated`; `p_one_sided` = (1 + k)
#'       / (1 + n), where k (`n_as_large`) are as large or larger; `p_low` and `p_high`, the 95 % interval of Clopper
#'       and Pearson for k / n; `p_two_sided`, twice the smaller tail's p; `p_if_failed_large`, p with each failed one
#'       counted as large; `noise_share`, the share of the null's variance that is Monte Carlo error of short chains.}
#'     \item{cells}{one row per refit (`number` 0 is the data as observed) and cell: `delta_p` and `s`, of a median item
#'       (random effects of 0), and `delta_p_items`, averaged over the items that were asked; for brms with sd, Monte
#'       Carlo error, `rhat` and `ess_bulk`.}
#'     \item{refits}{one row per refit: `number`, `seed`, `status` (`"ok"`, `"divergent"`, `"unconverged"`, `"warned"`,
#'       `"failed"`), `n_divergent`, `n_max_treedepth`, `is_singular`.}
#'     \item{messages}{one row per warning, message or error of a refit: `number`, `kind`, `text`.}
#'   }
#' @source Cohen & Kincaid (2026), section 3.2. p: Phipson & Smyth (2010).
#' @export
#' @examplesIf requireNamespace("lme4", quietly = TRUE)
#' trials <- simulate_forced_choice(n_words = 5, seed = 1)
#' trials <- trials[trials$is_valid & trials$model == "claude-sonnet-4", ]
#' levels <- list(condition = c("congruent", "incongruent"),
#'   test = c("gender_career", "gender_science"))
#' test <- permutation_test(
#'   trials, "is_consistent ~ condition * test + (1 | item)", permutations = 3, engine = "lme4",
#'   levels = levels
#' )
#' test$tests[c("test", "scale", "observed", "null_mean", "p_one_sided")]
#' test$refits
#'
#' trials <- subset(simulate_trials(), is_valid)
#' labels <- list(condition = c("compatible", "incompatible"))
#' nothing <- permutation_test(trials, "tokens ~ condition + (1 | wording)", 99,
#'   engine = "difference", levels = labels)
#' nothing$tests[c("model", "test", "observed", "null_low", "null_high", "p_two_sided",
#'   "false_positives")]
permutation_test <- function(data, formula, permutations = 100, seed = 1, engine = "brms", levels = NULL,
                             priors = NULL, within = c("model", "test"), cores = 1, ...) {
  check_arguments()
  is_of_means <- engine == "difference"
  if (engine == "lme4" && "condition" %in% names(levels)) { # answers of yes or no have a logistic model
    is_of_means <- !all(data[[all.vars(checked_formula(formula, names(data)))[[1]]]] %in% c(0, 1, NA))
  }
  if (is_of_means) {
    return(test_conditions(data, formula, permutations, seed, engine, levels, within, ...))
  }
  within <- words_of_formula(within, data, formula)
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
  results <- c(list(first), refit_all(refit, seq_len(permutations), cores))
  stack <- function(name) do.call(rbind, lapply(results, function(result) result[[name]]))
  messages <- do.call(rbind, lapply(results, function(result) {
    cbind(number = rep(result$refit$number, nrow(result$messages)), result$messages)
  }))
  cells <- stack("cells")
  refits <- stack("refit")
  tests <- with_study_labels(summarise_permutations(cells, refits, within), data)
  contrast <- words_for("condition", names(levels))
  cells <- with_side_labels(with_study_labels(cells, data), data, contrast, levels[[contrast]])
  list(tests = tests, cells = cells, refits = refits, messages = messages)
}

# Forked processes; one that dies is an error, for a refit that is silently missing would change p.
refit_all <- function(refit, numbers, cores) {
  if (cores == 1 || .Platform$OS.type == "windows") {
    return(lapply(numbers, refit))
  }
  results <- parallel::mclapply(numbers, refit, mc.cores = cores, mc.preschedule = FALSE, mc.set.seed = FALSE)
  is_lost <- !vapply(results, is.list, logical(1))
  if (any(is_lost)) {
    stop_with(
      sprintf("Can't test by permutation: the R process of permutation %s died.", toString(numbers[is_lost])),
      "Try again with cores = 1."
    )
  }
  results
}

# The words that the formula has for these columns, or else the data.
words_of_formula <- function(columns, data, formula) {
  words_for(words_for(columns, all.vars(checked_formula(formula, names(data)))), names(data))
}

test_conditions <- function(data, formula, permutations, seed, engine, levels, within, contrast = "condition", ...) {
  check_columns(data, c(within, contrast), to = "permute")
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to = "permute")
  codes <- group_codes(data, within)
  cells <- unname(split(seq_len(nrow(data)), factor(codes, unique(codes))))
  results <- lapply(cells, function(at) {
    rows <- data[at, , drop = FALSE]
    result <- permute_pairs(rows, formula, levels, permutations, seed, engine, contrast, ...)
    lapply(result, with_keys, keys = rows[1, within, drop = FALSE])
  })
  stack <- function(name) do.call(rbind, lapply(results, function(result) result[[name]]))
  messages <- columns_of("number:whole kind:text text:text")
  list(
    tests = with_study_labels(stack("tests"), data), cells = with_study_labels(stack("values"), data),
    refits = cbind(stack("refits"), status = "ok"), messages = messages
  )
}

#' Sum up a permutation test
#'
#' What was observed in each cell next to the distribution of the same quantity over the permutations.
#'
#' The observed value is that of `number` 0: the data as they are, fitted with the same settings as the permutations.
#' Its own Monte Carlo error is then exchangeable with theirs, as the test wants it; the main fit's value, from longer
#' chains, belongs next to it, not in its place. What it is to be compared with says [permutation_test()]: under
#' treatment coding the coefficients of the other cells include the reference cell's. A cell with hardly a failure
#' follows the reference cell's difference through the priors, and a small p there is no evidence of its own.
#'
#' Refits without a value (failed, or a condition of the cell was lost) don't take part, and are counted; those that are
#' doubtful (divergent, unconverged) do, and are counted.
#'
#' @param cells,refits data frames with one row per refit and cell, and one per refit: those of `refit_permutation()`,
#'   stacked, `number` 0 among them.
#' @param within names of the columns that make a cell.
#' @return The `tests` of [permutation_test()], which explains its columns. The interval of p says how far other
#'   permutations could move it; `noise_share` widens the null, and so makes p too large rather than too small.
#' @source Cohen & Kincaid (2026), section 3.2. p: Phipson & Smyth (2010).
#' @noRd
summarise_permutations <- function(cells, refits, within = c("model", "test")) {
  within <- our_words(within)
  check_columns(cells, c("number", within, "is_separated"), to = "sum up permutations")
  check_columns(refits, c("number", "status", "n_divergent"), to = "sum up permutations")
  columns <- intersect(c("delta_p", "delta_p_items", "s"), names(cells))
  numbers <- setdiff(refits$number, 0)
  if (!0 %in% refits$number || length(numbers) == 0 || anyDuplicated(refits$number) > 0) {
    stop_with("Can't sum up permutations: `refits` must hold number 0 (the data as observed) and others, each once.")
  }
  keys <- unit_keys(cells, within)
  by_column <- lapply(columns, function(column) {
    do.call(rbind, lapply(unique(keys), function(key) one_cell(cells[keys == key, ], refits, column, within)))
  })
  tests <- do.call(rbind, by_column)
  as_plain_rows(tests[!(is.na(tests$observed) & tests$n == 0), ])
}

one_cell <- function(rows, refits, column, within) {
  key <- rows[1, within, drop = FALSE]
  observed <- rows[[column]][rows$number == 0]
  observed <- if (length(observed) == 1) observed else NA_real_
  rows <- rows[rows$number != 0 & is.finite(rows[[column]]), ]
  refits <- refits[refits$number != 0, ]
  n_failed <- nrow(refits) - nrow(rows)
  cbind(
    key,
    data.frame(
      kind = if (column == "delta_p_items") "item_averaged" else "population",
      scale = if (column == "s") "s" else "delta_p", observed = observed
    ),
    null_distribution(rows[[column]]),
    data.frame(
      n = nrow(rows), n_failed = n_failed,
      n_divergent = sum(refits$n_divergent > 0, na.rm = TRUE),
      n_unconverged = if (is.null(rows$rhat)) 0L else sum(is_unconverged(rows)),
      n_warned = sum(refits$status == "warned"), n_separated = sum(rows$is_separated)
    ),
    tail_probabilities(rows[[column]], observed, n_failed),
    data.frame(noise_share = noise_share(rows, column))
  )
}

null_distribution <- function(values) {
  quantiles <- if (length(values) == 0) NA_real_ else stats::quantile(values, c(.025, .5, .975), names = FALSE)
  found <- c(if (length(values) == 0) c(NA, NA) else c(mean(values), stats::sd(values)), rep_len(quantiles, 3))
  names <- c("null_mean", "null_sd", "null_low", "null_median", "null_high")
  as.data.frame(stats::setNames(as.list(found), names))
}

tail_probabilities <- function(values, observed, n_failed) {
  n <- length(values)
  k <- c(sum(values >= observed), sum(values <= observed))
  if (is.na(observed) || n == 0) k <- c(NA, NA)
  larger <- clopper_pearson(k[[1]], n)
  smaller <- clopper_pearson(min(k), n)
  data.frame(
    n_as_large = as.integer(k[[1]]), p_one_sided = (1 + k[[1]]) / (1 + n), p_low = larger[[1]], p_high = larger[[2]],
    p_two_sided = min(1, 2 * (1 + min(k)) / (1 + n)), p_two_sided_low = min(1, 2 * smaller[[1]]),
    p_two_sided_high = min(1, 2 * smaller[[2]]), p_if_failed_large = (1 + k[[1]] + n_failed) / (1 + n + n_failed)
  )
}

# The exact 95 % interval of a share.
clopper_pearson <- function(k, n) {
  if (is.na(k)) {
    return(c(NA_real_, NA_real_))
  }
  c(
    if (k == 0) 0 else stats::qbeta(.025, k, n - k + 1),
    if (k == n) 1 else stats::qbeta(.975, k + 1, n - k)
  )
}

noise_share <- function(rows, column) {
  mcse <- rows[[paste0(column, "_mcse")]]
  if (is.null(mcse) || nrow(rows) < 2 || anyNA(mcse)) NA_real_ else mean(mcse^2) / stats::var(rows[[column]])
}
