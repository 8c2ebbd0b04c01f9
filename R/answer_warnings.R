# What the data can't tell, said before the fit: answers that are all the same, conditions that are missing.

# Where the answers are all the same, the priors alone keep the estimates finite.
warn_of_equal_answers <- function(parts) {
  y <- parts$outcome
  if (length(unique(y)) == 1) {
    warning(sprintf(
      "All %s values of %s are %s: what is estimated rests on the priors alone.", format(length(y), big.mark = ","),
      all.vars(parts$formula)[[1]], format(y[[1]])
    ), call. = FALSE)
  } else if (parts$family$name == "bernoulli") {
    warn_of_separation(
      parts$formula, parts$data, all.vars(parts$formula)[[1]], message, "log odds are kept finite by the priors"
    )
  }
}

# A condition that is missing takes the contrast with it, in all cells or in some.
warn_of_missing_conditions <- function(parts, contrast = contrast_of(parts)) {
  if (!is.null(parts$dropped[[contrast]])) {
    warning(sprintf(
      "No difference between %1$ss can be had: all rows are of the %1$s \"%2$s\".", contrast,
      parts$dropped[[contrast]]
    ), call. = FALSE)
  } else if (contrast %in% cell_factors(parts)) {
    others <- setdiff(cell_factors(parts), contrast)
    if (length(others) == 0) {
      return(invisible())
    }
    sides <- split(as.character(parts$data[[contrast]]), parts$data[others], drop = TRUE)
    n_lacking <- sum(vapply(sides, function(own) length(unique(own)) < 2, logical(1)))
    if (n_lacking > 0) {
      warning(sprintf(
        "No difference between %1$ss can be had in %2$d of %3$d combinations of %4$s: one %1$s is missing there.",
        contrast, n_lacking, length(sides), paste(others, collapse = " and ")
      ), call. = FALSE)
    }
  }
}

# Right as it is, and should be known: such an item says little about the difference of the conditions.
say_items_of_one_condition <- function(parts, contrast = contrast_of(parts), item = "item") {
  if (!all(c(contrast, item) %in% names(parts$data)) || !is.null(parts$dropped[[contrast]])) {
    return(invisible())
  }
  n_sides <- tapply(as.integer(parts$data[[contrast]]), parts$data[[item]], function(own) length(unique(own)))
  n_one <- sum(n_sides < 2)
  if (n_one > 0) {
    verb <- if (n_one == 1) "is" else "are"
    message(sprintf(
      "%d of %d items %s in one %s only, and compared through the others.", n_one, length(n_sides), verb, contrast
    ))
  }
}

# Answers to the very same question are alike beyond what an effect of the item explains, in one condition and model
# more than in another. Taken as independent, they promise more than they know.
say_repeated_trials <- function(parts, item = "item") {
  trial <- c(intersect(c(item, "wording"), names(parts$data)), cell_factors(parts))
  apart <- lapply(random_terms(parts$formula), function(bar) all.vars(bar[[3]]))
  is_told <- any(vapply(apart, function(names) all(trial %in% names), NA))
  n_trials <- nrow(unique(parts$data[trial]))
  if (item %in% names(parts$data) && !is_told && n_trials < nrow(parts$data)) {
    message(sprintf(
      paste(
        "%d rows answer %d questions (one item, the same %s): taken as independent answers, so that intervals are too",
        "narrow where a model repeats itself; (1 | %s) in the formula lets questions differ."
      ),
      nrow(parts$data), n_trials, toString(trial[-1]), paste(trial, collapse = ":")
    ))
  }
}

# The cell of each row: its combination of the factors among the fixed effects, numbered in the order of their levels.
cell_numbers <- function(parts) {
  codes <- lapply(unname(parts$data[cell_factors(parts)]), as.integer)
  if (length(codes) == 0) {
    return(rep(1L, nrow(parts$data)))
  }
  number <- Reduce(function(before, code) before * 1000 + code, codes)
  match(number, sort(unique(number)))
}

cell_factors <- function(parts) {
  fixed <- all.vars(without_random_terms(parts$formula)[[3]])
  intersect(c("model", words_for("test", fixed), contrast_of(parts)), fixed)
}

# The column with the two sides: of choices the condition, of counts the first factor of the formula.
contrast_of <- function(parts) {
  fixed <- all.vars(without_random_terms(parts$formula)[[3]])
  if (is.null(parts$family$step)) {
    return(words_for("condition", c(fixed, names(parts$dropped))))
  }
  factors <- c(names(parts$dropped), Filter(function(name) is.factor(parts$data[[name]]), fixed))
  c(setdiff(factors, c("model", words_for("test", factors))), "condition")[[1]]
}

# Whether each trial is without an answer, as far as the rows say it.
is_without_answer <- function(trials) {
  if ("is_valid" %in% names(trials)) return(!trials$is_valid %in% TRUE)
  if ("is_refusal" %in% names(trials)) trials$is_refusal %in% TRUE else rep(FALSE, nrow(trials))
}
