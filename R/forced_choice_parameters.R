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
    return(with_seed(seed, drawn_from_prior(cells)))
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

drawn_from_prior <- function(cells) {
  cells$p_valid <- cell_probabilities(cells)
  cells$p_consistent <- cell_probabilities(cells)
  cells$sd_item_valid <- stats::rexp(1)
  cells$sd_item_consistent <- stats::rexp(1)
  cells
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
