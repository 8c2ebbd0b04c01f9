#' Logistic regressions, one per group of rows
#'
#' R's own [stats::glm()] with `family = binomial`, Wald's z and intervals: of decisions on D of the word pairs before
#' them, as in Bai et al. (2025), or of a choice by any number of groups that are described. It takes rows as
#' independent, unless `cluster` names what they share, such as stereotypes, people or wordings (one column or two), or
#' the rows of a factorial study ([open_trials()]) tell it. Standard errors are then over clusters, and the table
#' `clustered` has R's own beside them (`std_error_rows`). `method` says how: `"HC1"` as Stata
#' and `sandwich::vcovCL(type = "HC1", cadjust = TRUE)`, t with the number of clusters less 1 as degrees of freedom; of
#' fewer than 40 clusters `"CR2"`, bias-reduced with Satterthwaite's degrees of freedom (Pustejovsky & Tipton 2018, by
#' package clubSandwich; without it HC1, with a warning); `"two ways"` of two columns (Cameron, Gelbach & Miller 2011).
#' Simulated (`bench/truth.R`), p of CR2 is below .05 in 3.8 % (21 clusters), 5.0 % (16) and 5.2 % (10) of studies in
#' which there is nothing.
#'
#' @inheritParams fit_lme4
#' @param formula the formula as text, such as `"decision_bias ~ d"`; the outcome is 1 or 0. A column of text is a
#'   factor with the levels that `levels` lists, or sorted as in the C locale (a message says which is the reference).
#'   Rows in which a column of it is missing are left out and counted (`n_missing`).
#' @param cluster names of one or two columns with what rows have in common, or `NULL`.
#' @param declared what the study says that varied (as of [mean_contrasts()]). If `cluster` is `NULL`, errors are over
#'   what predictors are properties of (gender of a name), else over its `cluster` (such as `"item"`) or prompts; a
#'   model that answers each prompt alike every time has each counted once.
#' @param weights name of a column of weights (numbers of 0 or more; rows of 0 are left out), or `NULL`: those of
#'   [stats::lm()] and [stats::glm()]. Errors are right where they are precisions or counts; of a survey's weights, name
#'   `cluster`, too.
#' @return The same list of data frames as [fit_lme4()]. `estimates` has one row per coefficient, in log odds:
#'   `statistic` is Wald's z (`df` is `NA`), `conf_low` and `conf_high` its 95 % interval. `tables` holds `tests`: the
#'   row `"all"` is against the model without predictors, and where there are several terms each has a row, against
#'   the model without it: `null_log_lik` of the smaller model, McFadden's `pseudo_r_squared`, and the likelihood
#'   ratio test (`chi_squared`, `df`, `p_value`); over clusters, Wald's F (`f_value`, `df`, `df_residual`, `p_value`)
#'   next to that test of independent rows (`chi_squared_rows`, `p_value_rows`), and `clustered`: `term`, `estimate`,
#'   `std_error`, `df`, `statistic`, `p_value`, `conf_low`, `conf_high`, `method`, `clusters` (names) and `n_clusters`
#'   (the fewest). Where a predictor separates the outcome, coefficients have no finite estimate (over clusters,
#'   no error), and a warning says so; the likelihood ratio test holds all the same.
#' @source Bai et al. (2025), <https://doi.org/10.1073/pnas.2416228122>, figure 4.
#' @export
#' @examples
#' set.seed(1)
#' calls <- data.frame(name = rep(c("Ann", "Eva", "Jan"), each = 40))
#' calls$is_invited <- rbinom(120, 1, ifelse(calls$name == "Jan", .7, .5))
#' fit <- fit_logistic(calls, "is_invited ~ name")
#' coef(fit)
#' predict(fit, data.frame(name = "Jan"), type = "response")
fit_logistic <- function(data, formula, by = NULL, levels = NULL, cluster = NULL, save_to = NULL,
                         declared = list(), weights = NULL) {
  check_arguments()
  fit_fixed_effects(data, formula, by, levels, cluster, save_to, logistic_regression, declared, weights)
}

logistic_regression <- list(
  name = "a logistic regression", example = "decision_bias ~ d", mixed = "lme4 with family = \"binomial\"",
  prepared = function(rows, formula) {
    outcome <- all.vars(formula[[2]])
    for (name in outcome) rows[[name]] <- zeros_and_ones(rows[[name]], name)
    attr(rows, "separated") <- warn_of_separation(formula, rows, outcome)
    if (length(attr(rows, "separated")) > 0) {
      message("Where answers are separated, Wald's z and p say nothing; the likelihood ratio tests (`tests`) do.")
    }
    rows
  },
  model = function(formula, rows, weights = NULL) {
    call <- weighted_call(quote(stats::glm), formula, weights, family = quote(stats::binomial()))
    withCallingHandlers(eval(call), warning = function(condition) { # weights are no counts of answers
      if (grepl("non-integer #successes", conditionMessage(condition))) invokeRestart("muffleWarning")
    })
  },
  effects = function(model) wald_effects(model),
  tests = function(model) { # the null model is of the same rows; its deviance is minus twice its log likelihood
    all <- likelihood_ratio("all", model, model$null.deviance, model$df.null - model$df.residual)
    rbind(all, against_each_term(model, function(term, without) {
      likelihood_ratio(term, model, without$Deviance, without$Df)
    }))
  },
  changes = function(model) least_squares_changes(model), small_sample = function(model, n_clusters) hc1(model),
  clustered_as = "HC1", has_cr2 = TRUE, optimiser = "stats::glm, Wald z"
)

# Each term against the model without it, its interactions aside (marginal tests, as of stats::drop1()); no rows for one
# term alone, which "all" is of.
against_each_term <- function(model, made_of, ...) {
  if (length(attr(stats::terms(model), "term.labels")) > 1) {
    without <- stats::drop1(model, ...)[-1, , drop = FALSE]
    made_of(rownames(without), without)
  }
}

likelihood_ratio <- function(term, model, smaller_deviance, df) {
  chi_squared <- smaller_deviance - model$deviance
  frame_of(
    term = term, null_log_lik = -smaller_deviance / 2, pseudo_r_squared = chi_squared / smaller_deviance,
    chi_squared = chi_squared, df = as.double(df),
    p_value = ifelse(df > 0, stats::pchisq(chi_squared, pmax(df, 1), lower.tail = FALSE), NA_real_)
  )
}

# Of a model against the one without predictors, and, of several `terms`, each against the model without it. `reached`:
# deviance and number of coefficients, as `fit_without(formula, term)` gives them.
likelihood_ratios <- function(model, reached, null_deviance, terms, fit_without) {
  all <- likelihood_ratio("all", list(deviance = reached[[1]]), null_deviance, reached[[2]])
  each <- lapply(if (length(terms) > 1) intersect(stats::drop.scope(stats::terms(model)), terms), function(term) {
    smaller <- stats::update.formula(stats::formula(model), stats::as.formula(paste(". ~ . -", term)))
    found <- fit_without(smaller, term)
    likelihood_ratio(term, list(deviance = reached[[1]]), found[[1]], reached[[2]] - found[[2]])
  })
  do.call(rbind, c(list(all), each))
}
