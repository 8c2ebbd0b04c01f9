#' The two stages of the interference study
#'
#' Stage `"valid"` (A): does a model answer with exactly one of the two options? Stage `"consistent"` (B): if it
#' does, is it the option that holds the word's own group? Both are `condition * model * test + (1 | item)`, fitted
#' by [fit_brms()]: 4 chains of 4000 iterations by default, about half a minute on two cores.
#'
#' What the data lack is met so: a factor with one value (one model, one test) is dropped from the formula, and a
#' message says so; without both conditions there is no ΔP, and a warning says so; answers that are all the same are
#' fitted, with a warning that the priors decide. A trial that occurs twice is an error.
#'
#' @param data a data frame with one row per trial and the columns of the database's view `forced_choice_trials`:
#'   `model`, `test`, `condition` (`"congruent"`, `"incongruent"`), `item`, `is_valid`, and for stage B `is_consistent`
#'   (or, in the paper's words, `domain` and `block`).
#'   Where there are `trial_id`, `repetition` and `model_no` (the order of models), they are used.
#' @param stage `"valid"` or `"consistent"`.
#' @param random names of the columns that have random intercepts: `"item"`, and if asked `"repetition"` or
#'   `"run_id"`.
#' @param ... further arguments of [fit_brms()]: `priors`, `chains`, `iterations`, `warmup`, `seed`, `cores` …
#' @inheritParams fit_brms
#' @return What [fit_brms()] returns.
#' @source Cohen & Kincaid (2026): equations 1 and 2, Tables 1 and 2.
#' @export
#' @examplesIf interactive()
#' # Compiles at its first use, and so takes a minute.
#' trials <- expand.grid(
#'   item = paste("word", 1:20), condition = c("congruent", "incongruent"), model = c("one", "two"),
#'   test = c("gender_career", "gender_science"), stringsAsFactors = FALSE
#' )
#' set.seed(1)
#' trials$is_valid <- TRUE
#' trials$is_consistent <- runif(nrow(trials)) < ifelse(trials$condition == "congruent", .95, .8)
#' fit <- fit_forced_choice(trials, "consistent", chains = 2, iterations = 600, warmup = 300)
#' fit$tables$contrasts
#' fit$tables$model$verdict
fit_forced_choice <- function(data, stage = c("valid", "consistent"), random = "item", levels = NULL, ...) {
  check_arguments()
  stage <- one_of(stage, eval(formals(fit_forced_choice)$stage), "stage")
  condition <- words_for("condition", names(data))
  test <- words_for("test", names(data))
  check_columns(data, unique(c("model", test, condition, "item", "is_valid", random)))
  check_no_duplicates(data)
  rows <- if (stage == "consistent") valid_rows(data) else data
  say_repetitions(rows, random)
  random <- varying_columns(rows, random)
  levels <- as.list(levels)
  names(levels) <- words_for(our_words(names(levels)), names(data))
  levels[[condition]] <- levels_of(data, condition, levels[[condition]], may_be_fewer = TRUE)
  formula <- sprintf(
    "%s ~ %s * model * %s + %s", if (stage == "valid") "is_valid" else "is_consistent", condition, test,
    paste(sprintf("(1 | %s)", random), collapse = " + ")
  )
  fit_brms(rows, formula, levels = levels, ...)
}

check_no_duplicates <- function(data) {
  if (!is.null(data$trial_id)) {
    n <- sum(duplicated(data$trial_id[!is.na(data$trial_id)]))
    if (n > 0) {
      stop_with(
        sprintf("Can't fit: of %s, %d repeat the trial of another row.", counted(nrow(data), "row"), n),
        "Keep one row of each: data[!duplicated(data$trial_id), ]"
      )
    }
    return(invisible())
  }
  cell <- c("model", words_for(c("test", "condition"), names(data)))
  keys <- intersect(c("source", "run_id", cell, "item", "wording", "repetition"), names(data))
  n <- sum(duplicated(data[keys]))
  if (n > 0) {
    warning(sprintf(
      "%s the same %s as another one: are they repetitions?", if (n == 1) "1 row has" else paste(n, "rows have"),
      toString(keys)
    ), call. = FALSE)
  }
}

valid_rows <- function(data) {
  check_columns(data, "is_consistent")
  is_valid <- zeros_and_ones(data$is_valid, "is_valid") == 1
  if (!any(is_valid)) {
    stop_with(
      sprintf("Can't fit how consistent the answers are: none of the %d is valid.", nrow(data)),
      "Stage B looks at valid answers only; stage A, fit_forced_choice(data, \"valid\"), can be fitted."
    )
  }
  data[is_valid, , drop = FALSE]
}

say_repetitions <- function(rows, random) {
  n_repetitions <- length(unique(rows$repetition))
  if (n_repetitions > 1 && !"repetition" %in% random) {
    message(sprintf(
      "%d repetitions are put together; to let them differ: random = c(\"item\", \"repetition\").", n_repetitions
    ))
  }
}

# Without the columns that hold one value: nothing can vary over it.
varying_columns <- function(rows, random) {
  n_values <- vapply(rows[random], function(column) length(unique(column)), integer(1))
  fixed <- random[n_values < 2 & random != "item"]
  if (length(fixed) > 0) {
    message(sprintf("No random effect of %s: all rows have the same value.", toString(fixed)))
  }
  setdiff(random, fixed)
}
