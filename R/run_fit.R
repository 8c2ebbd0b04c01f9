#' Fit by the name of an engine
#'
#' The one door to all engines, for callers that hold a table of fits as data: study files, and Python. What each is
#' and takes says `analyze --help` in the shell, too.
#'
#' @param engine \describe{
#'     \item{`"lme4"`, `"brms"`, `"effect_size"`, `"stm"`}{[fit_lme4()], [fit_brms()], [effect_size()], [fit_stm()].}
#'     \item{`"welch"`}{Welch's t test of two sides: `outcome`, `contrast` (`"is_refusal"` if none is given), `levels`,
#'       `by`.}
#'     \item{`"t_test"`}{a one-sample t test of a mean against `mu` (0): `outcome`, `by`.}
#'     \item{`"logistic"`}{a logistic regression by [stats::glm()], in log odds, without random effects: `formula`,
#'       `levels` (of groups, the reference first), `by`, and `cluster`, one or two columns with what rows share, for
#'       standard errors over others of them. `tables$tests` has the likelihood ratio tests of the model and its terms.}
#'     \item{`"lm"`}{a linear model by [stats::lm()] without random effects: the same arguments; `tables$tests` has the
#'       F tests. Standard errors over 40 clusters or more are Stata's (HC1), over fewer bias-reduced (CR2, if package
#'       clubSandwich is there); `method` of `tables$clustered` says which.}
#'     \item{`"clm"`}{a cumulative model of a rating by `ordinal::clm()`, in log odds, a coefficient above 0 for higher
#'       ratings: the same arguments, `levels` also of the rating where it is text (the lowest first).
#'       `tables$categories` has what each level does to the probability of each point.}
#'     \item{`"clmm"`}{the same with random effects, by `ordinal::clmm()`: `formula`, `levels`, `by`, and `n_agq` (1 is
#'       Laplace's approximation; more points for one random intercept only).}
#'     \item{`"clogit"`}{a conditional logit of which profile of a set was chosen, as `survival::clogit()`: as
#'       `"logistic"`, and `sets`, the columns that tell the sets apart (if not given, those of `respondent`, `persona`,
#'       `template`, `repetition`, `task` that there are).}
#'     \item{`"dsl"`, `"ppi"`}{[fit_dsl()], [fit_ppi()].}
#'     \item{`"consistency"`}{[corrected_choices()], of tasks that were shown twice.}
#'     \item{`"marginal_means"`, `"amce"`, `"amie"`, `"mean_contrasts"`, `"impact_ratio"`}{[marginal_means()],
#'       [amce()], [amie()], [mean_contrasts()], [impact_ratio()].}
#'     \item{`"paired"`}{differences of versions from a baseline over a `material`, and from a `placebo`, with the mean
#'       absolute difference that shuffled repetitions give: `outcome`, `attributes`, `material`, `by`.}
#'     \item{`"reliability"`}{[scale_reliability()] of rows that carry their keys: `outcome` (the rating), `by`,
#'       and names of the columns `respondent`, `item`, `scale`, `key` and `limits` (two); `least_answered`.}
#'     \item{`"choice"`}{what choices of groups in a game go by: a conditional logit of the rounds, standard errors over
#'       games: `by` and `terms`. `data` of this and the next two: one row per candidate of a round, as the view
#'       `allocation_candidates`. `tables$terms` has variance inflation, `tables$sets` nats a choice.}
#'     \item{`"policies"`}{which of ten ways to choose plays like these games, by games that were not seen and by
#'       replays: `by`, `folds` (5), `seed`. `tables$candidates` has a verdict on each, `curves` how choices
#'       settle by round next to the replays.}
#'     \item{`"learning"`}{a hierarchical learner by Stan: `by`, the switches `perseveration`, `lapse` (on),
#'       `two_rates`, `bonus`, `generalisation`, `free_values` (off), `people` (numbers to
#'       explore by), `folds`, and the sampler's settings as of
#'       [fit_brms()]. `tables$learner` has its verdict, `priors` what is identified, `checks` its replays,
#'       `counterfactuals` the indices with more and less exploration, `curves` as of `"policies"`.}
#'     \item{`"d_score"`}{D of people's response times (Greenwald, Nosek & Banaji 2003, improved): `outcome`
#'       (milliseconds), `contrast`, `levels`, `by`, and names of columns: `unit` (`"participant"`), `error`
#'       (`"is_error"`), `phase` (`"phase"`, practice and test apart). `tables$people` has D of each person.}
#'     \item{`"trimmed_difference"`}{Yuen's test of trimmed means: `outcome`, `contrast` (if not given
#'       `"condition"`), `levels`, `by`, and `trim` (.2).}
#'     \item{`"median_difference"`}{of medians, with a percentile bootstrap: the same, `n_draws` (2000), `seed`.}
#'     \item{`"step_sensitivity"`}{Cohen's d where counts come in steps, each drawn again within its step: the same,
#'       `step` (found where it is not given), `n_draws` (1000), `seed`.}
#'     \item{`"crossed"`}{[fit_crossed()]: the mixed model over words and wordings.}
#'     \item{`"censored"`}{counts as lognormal ones of which only the step is known, by `survival::survreg()`:
#'       `outcome`, `contrast`, `levels`, `by`, `step` (found where it is not given), `cluster` (`"wording"`), the
#'       column that standard errors are clustered by. `tables$effects` has the ratio of medians and the shares of
#'       zeros, observed and predicted, `tables$families` the likelihoods of other families of the same counts.}
#'     \item{`"leave_one_out"`}{the mixed model without each prompt in turn: `formula`, `levels`, `by`, and `group`, the
#'       grouping variable.}
#'   }
#' @param data a data frame, or a named list of columns of equal length.
#' @param arguments a named list of further arguments of that engine, such as `formula`, `by`, `levels`.
#' @return A [slant_fit] without `models`: data frames alone. `save_to` among the arguments keeps the models in a file.
#' @export
#' @examples
#' trials <- data.frame(condition = rep(c("compatible", "incompatible"), each = 3),
#'   tokens = c(1, 2, 3, 2, 4, 6))
#' run_fit("effect_size", trials, list(outcome = "tokens"))
#' run_fit("trimmed_difference", trials, list(trim = 0))
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   answered <- subset(simulate_trials(), is_valid)
#'   run_fit("censored", answered, list(levels = c("compatible", "incompatible")))$tables$families
#' }
run_fit <- function(engine, data, arguments = list()) {
  check_arguments()
  known <- engines()
  if (!is.character(engine) || length(engine) != 1 || !engine %in% names(known)) {
    stop_with(
      sprintf("Can't fit: there is no engine %s.", quoted(as.character(engine))),
      nearest_known(as.character(engine)[[1]], names(known)),
      sprintf("Engines there are: %s.", toString(names(known)))
    )
  }
  fit <- known[[engine]]
  arguments <- Filter(Negate(is.null), as.list(arguments))
  check_named_arguments(fit, arguments, engine, to = "fit")
  result <- do.call(fit, c(list(data = as_columns(data)), arguments), quote = TRUE)
  # Data frames cross to Python, R's models do not.
  result$models <- NULL
  result
}

# By the name of each engine, its function; inst/engines.csv is the table that Python reads, too.
engines <- function() {
  if (is.null(engine_table$rows)) {
    engine_table$rows <- utils::read.csv(shipped_file("engines.csv"), encoding = "UTF-8")
  }
  functions <- lapply(engine_table$rows$r_function, get, envir = environment(run_fit), mode = "function")
  stats::setNames(functions, engine_table$rows$engine)
}

engine_table <- new.env(parent = emptyenv())

# A list of columns as a data frame, without the copies and the conversions of as.data.frame().
as_columns <- function(data) {
  if (is.data.frame(data) || !is.list(data)) {
    return(data)
  }
  n <- if (length(data) == 0) 0L else length(data[[1]])
  structure(data, class = "data.frame", row.names = seq_len(n))
}
