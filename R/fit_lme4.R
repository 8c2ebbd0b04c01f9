#' Linear mixed models, one per group of rows
#'
#' Fits `lmerTest::lmer()` by REML to each group of rows, with Satterthwaite's degrees of freedom where every cluster
#' has all that is tested. This is the model of Tables S6 to S10 of the RM-IAT paper:
#' `tokens ~ condition + (1 | wording)`, one model and test at a time.
#'
#' A coefficient that is the same within clusters, such as the gender of a name with `(1 | name)`, or that has a slope
#' by cluster, is known over the clusters that there are. A model with one has Kenward and Roger's standard errors and
#' degrees of freedom (as [fit_crossed()]), at most as many as clusters less the coefficients that are the same within
#' them: Satterthwaite's forget a variance that was estimated as 0, and give hundreds. `optimiser` of `fits` says which.
#'
#' Factors are made from explicit level lists only, and coded as treatment contrasts whatever R's options say, so that
#' the reference level depends neither on the locale nor on the order of rows. A logical column is a factor of `FALSE`
#' (the reference) and `TRUE`. Grouping variables (right of a bar) become factors with sorted levels; one that is a
#' fixed effect, too, keeps the levels it has there. Rows with a missing value in a column of the formula are dropped
#' and counted.
#'
#' Random effects without correlations, `(1 + condition || wording)`, are what they say for a factor, too, in every
#' version of lme4 (before 2.0, `lme4::lmer()` leaves the levels of a factor correlated). The slope of each level but
#' the reference belongs to a number that is centred over the levels: -1/2 and 1/2 where there are two. Its variance is
#' that of the difference from the reference between wordings, and no condition is taken to vary less than another
#' one. Fixed effects keep their treatment contrasts.
#'
#' Where `data` have columns `study`, `source`, `study_version`, `variant` or `token_source` with more than one value in
#' a group, that group is fitted with a warning: name the column in `by`, or keep the rows of one value.
#'
#' With `family = "binomial"`, `lme4::glmer()` fits a logistic model (optimiser bobyqa, Laplace's approximation): z, p
#' and intervals are Wald's. Levels are then those of [fit_brms()]: a text column needs no list, levels that are not
#' in the data are left out, and a factor with one level is dropped from the formula, which a message says. A
#' combination of the factors in which all answers are alike (complete separation) is named in a warning, cell by cell:
#' log odds have no finite estimate there. Repetitions of trials get a random effect where the formula asks for it, as
#' in `"is_consistent ~ condition * model * test + (1 | item) + (1 | repetition)"` (or `run_id` for runs).
#'
#' Fits on the boundary (a variance of 0) are kept and flagged. A group that can't be fitted is one row of `fits` with
#' status `"failed"` and the reason.
#'
#' @param data a data frame with one row per trial.
#' @param formula the formula as text, or as a formula. It may hold columns of `data`, the operators of formulas and the
#'   functions `I()`, `log()`, `log1p()`, `sqrt()`, `scale()` and `poly()`, and nothing else.
#' @param by names of the columns that define the groups; `NULL` fits all rows together. Groups come out in the order
#'   in which they first appear.
#' @param levels a named list: for each text column that is a fixed effect, its levels, the reference level first.
#' @param save_to path of an `.rds` file for the fitted models (a list named by group), or `NULL` to keep none.
#' @param family `"gaussian"`, or `"binomial"` for an outcome that is `TRUE` or `FALSE` (or 1 or 0).
#' @param n_agq for `"binomial"`: 1 is Laplace's approximation; 0 is quicker by far and less exact (see `nAGQ` of
#'   [lme4::glmer()]).
#' @param polish for `"gaussian"`: `TRUE` ends each fit with Newton steps to the optimum itself; `FALSE` stops where
#'   lme4's optimiser does, with variances right to five digits or so, as printed tables have them.
#' @param contrast for `"binomial"`: the factor of two levels whose difference in probability is wanted, if it is there.
#' @param df_method `"kenward_roger"`: these where something is tested between clusters, else Satterthwaite's;
#'   `"satterthwaite"`: those of lmerTest everywhere, as papers print them.
#' @param declared what the study says that varied (as of [mean_contrasts()]): of a model that answers each prompt alike
#'   every time, each prompt counts once.
#' @return A [slant_fit]: a list of data frames, of which those about groups begin with the columns `by`, and the
#'   models:
#'   \describe{
#'     \item{estimates}{one row per fixed effect: `term` (`"intercept"`, `"conditionincompatible"` …), `estimate` and
#'       `std_error` in units of the outcome, `df`, `statistic` (t), `p_value`, `conf_low` and `conf_high` (95 %,
#'       `estimate ± qt(.975, df) * std_error`).}
#'     \item{fits}{one row per group: `status` (`"ok"`, `"singular"`, `"warned"`, `"failed"`), `n` rows used,
#'       `n_missing` rows dropped (a message says so), `n_groups` (levels of the first grouping variable), `log_lik`
#'       (REML), `aic`, `bic`, `singular`, `optimiser`, `messages` and `error` (text, `""` if none).}
#'     \item{variances}{one row per variance component: `group`, `term`, `variance` (not a standard deviation),
#'       `n_groups`. The residual is the group `"residual"`.}
#'     \item{messages}{one row per warning, message or error: `kind`, `text`.}
#'     \item{models}{the fitted models, a list named by group; `NULL` where a group failed.}
#'     \item{versions}{one row per package that took part, R first: `package`, `version`.}
#'   }
#'   With `family = "binomial"`, `estimates` are in log odds with Wald's z as `statistic` and no `df`, there is no
#'   residual variance, `log_lik` is the (approximate) log-likelihood, and `tables` holds `predictions` (the
#'   probability in each combination of the factors) and `contrasts` (the first level of `contrast` minus
#'   the second: `"delta_p"` in probability, `"s"` in log odds), each for a median item (`"population"`: random effects
#'   of 0) and as mean over new items (`"new_items"`), with Wald's intervals (none of a median item near separation).
#' @export
#' @examples
#' set.seed(1)
#' trials <- expand.grid(item = 1:10, wording = 1:8, condition = c("compatible", "incompatible"))
#' trials$condition <- as.character(trials$condition)
#' trials$tokens <- 100 + 40 * (trials$condition == "incompatible") + 5 * trials$wording +
#'   rnorm(nrow(trials), sd = 20)
#' fit <- fit_lme4(
#'   trials, "tokens ~ condition + (1 | wording)",
#'   levels = list(condition = c("compatible", "incompatible"))
#' )
#' fit$estimates
#' fit$fits
fit_lme4 <- function(data, formula, by = NULL, levels = NULL, save_to = NULL, family = "gaussian", n_agq = 1,
                     contrast = "condition", df_method = c("kenward_roger", "satterthwaite"), declared = list(),
                     polish = TRUE) {
  check_arguments()
  df_method <- one_of(df_method, c("kenward_roger", "satterthwaite"), "df_method")
  declared <- declare_trials(data, NULL, declared)$declared
  need_package("lmerTest", "fit mixed models")
  check_columns(data, character())
  formula <- checked_formula(formula, names(data))
  grouping <- grouping_variables(formula)
  if (length(formula) != 3 || length(grouping) == 0) {
    stop_with(
      sprintf("Can't fit %s as a mixed model.", quoted(deparse1(formula))),
      "It must have an outcome and a random effect, like \"tokens ~ condition + (1 | wording)\".",
      "Without a random effect, the engines are \"lm\" (a number), \"logistic\" (1 or 0) and \"clm\" (a rating)."
    )
  }
  outcome <- all.vars(formula[[2]])
  coded <- coded_variables(formula)
  family <- one_of(family, c("gaussian", "binomial"), "family")
  if (!is_whole(n_agq, 0) || n_agq > 1) stop_with("Can't fit: `n_agq` must be 0 or 1.")
  fit_one <- if (family == "binomial") {
    # Of all rows, so that each group has the same reference.
    levels <- listed_levels(data, coded, levels)
    function(rows) fit_binomial(formula, rows, by, levels, n_agq, contrast)
  } else {
    levels <- level_lists(data, coded, levels)
    function(rows) {
      check_outcome(rows, outcome)
      check_groupings(rows, formula)
      # Made here: an error in lmer()'s own argument comes with R's note on an interrupted promise.
      prepared <- with_factors(rows, setdiff(grouping, coded), levels)
      check_varies_within(prepared, formula)
      fit_mixed_model(formula, prepared, df_method, polish)
    }
  }
  if (family == "binomial") data <- without_token_sources(data, formula)
  if (any(c("repetition", "run_id") %in% grouping)) declared$prompt <- NULL # it is asked how repetitions differ
  fit_once <- function(rows) fit_one(once_per_prompt(rows, outcome[[1]], declared$prompt))
  result <- fit_each_group(data, by, unique(c(all.vars(formula), declared$prompt)), fit_once, save_to)
  if (!is.null(result$tables$contrasts)) {
    compared <- words_for(contrast, coded)
    result$tables$contrasts <- with_side_labels(result$tables$contrasts, data, compared, levels[[compared]])
  }
  slant_fit(result, c("lme4", "lmerTest"))
}

# Variables whose coding decides what an estimate means: fixed effects, and random slopes (left of a bar). One of them
# may group, too, as condition does in (1 | wording:condition), and is coded all the same.
coded_variables <- function(formula) {
  slopes <- lapply(random_terms(formula), function(bar) all.vars(bar[[2]]))
  unique(c(all.vars(without_random_terms(formula)[[3]]), unlist(slopes)))
}

fit_mixed_model <- function(formula, data, df_method, polish = TRUE) {
  control <- if (polish) polished_control() else lme4::lmerControl()
  model <- lmerTest::lmer(uncorrelated_slopes(formula, data), data = data, REML = TRUE, control = control)
  most <- most_df(model)
  # whether it tests anything between clusters: a coefficient, or, if it has no other, the intercept
  is_tested <- names(lme4::fixef(model)) != "(Intercept)"
  is_between <- df_method != "satterthwaite" && any(is.finite(most[if (any(is_tested)) is_tested else TRUE]))
  effects <- if (is_between) {
    effects_between_clusters(model, most)
  } else {
    list(estimates = fixed_effects(model), method = "Satterthwaite")
  }
  optimiser <- sprintf("%s, df: %s", optimiser_of(model), effects$method)
  list(
    estimates = effects$estimates, fit = fit_of_mixed_model(model, optimiser = optimiser),
    variances = variance_components(model), model = refittable(model, data)
  )
}

fit_of_mixed_model <- function(model, singular = lme4::isSingular(model), optimiser = optimiser_of(model)) {
  list(
    n_groups = unname(lme4::ngrps(model)[[1]]), log_lik = as.numeric(stats::logLik(model)), aic = stats::AIC(model),
    bic = stats::BIC(model), singular = singular, optimiser = optimiser
  )
}

fixed_effects <- function(model) {
  table <- stats::coef(summary(model, ddf = "Satterthwaite"))
  # Where Satterthwaite's method fails, lmerTest says so and gives a table without df and p.
  column <- function(name) if (name %in% colnames(table)) unname(table[, name]) else rep(NA_real_, nrow(table))
  estimate_rows(
    rownames(table), column("Estimate"), column("Std. Error"), column("df"), column("t value"), column("Pr(>|t|)")
  )
}

# Variances only: the covariances of random slopes are in the saved model.
variance_components <- function(model) {
  table <- as.data.frame(lme4::VarCorr(model))
  table <- table[is.na(table$var2), ]
  is_residual <- table$grp == "Residual"
  # Two terms of one grouping variable ((1 + x || g)) are named g and g.1 in this table.
  n_groups <- lme4::ngrps(model)[sub("\\.\\d+$", "", table$grp)]
  frame_of(
    group = ifelse(is_residual, "residual", table$grp),
    term = slope_name(term_name(ifelse(is_residual, "residual", table$var1))),
    variance = table$vcov,
    n_groups = as.integer(ifelse(is_residual, NA, n_groups))
  )
}

# The level list of each variable that is text, logical or a factor. Of text without one, the reference is the first in
# the order of the C locale, which is the same on every machine, and is said.
level_lists <- function(data, variables, levels) {
  if (length(levels) > 0 && is.null(names(levels))) {
    stop_with("`levels` must name the columns that it lists levels of, as in list(condition = c(\"a\", \"b\")).")
  }
  given <- lapply(as.list(levels), function(level) as.character(unlist(level)))
  is_coded <- function(column) is.character(column) || is.factor(column) || is.logical(column)
  lists <- list()
  for (name in variables[vapply(data[variables], is_coded, logical(1)) | variables %in% names(given)]) {
    listed <- given[[name]]
    if (is.null(listed)) listed <- if (is.logical(data[[name]])) c("FALSE", "TRUE") else own_levels(data, name)
    if (length(listed) < 2 || anyDuplicated(listed) > 0) {
      stop_with(
        sprintf("Can't fit: \"%s\" needs at least two different levels, the reference level first.", name),
        sprintf("It has: %s.", if (length(listed) == 0) "none" else quoted(listed)),
        sprintf("To choose them: levels = list(%s = c(\"compatible\", \"incompatible\")).", name)
      )
    }
    if (is.null(given[[name]]) && is.character(data[[name]])) {
      message(sprintf(
        "%s: the reference level is \"%s\", before %s. Another order: levels = list(%s = c(...)).",
        name, listed[[1]], quoted(utils::head(listed[-1], 5)), name
      ))
    }
    lists[[name]] <- listed
  }
  lists
}

with_factors <- function(rows, grouping, levels) {
  for (name in names(levels)) {
    rows[[name]] <- as_listed_factor(rows[[name]], levels[[name]], name)
  }
  for (name in grouping) {
    # sort() by radix knows no locale; numbers keep their order as numbers.
    values <- if (is.factor(rows[[name]])) as.character(rows[[name]]) else rows[[name]]
    rows[[name]] <- factor(values, levels = sort(unique(values), method = "radix"))
  }
  rows
}

# A missing reference would silently change the contrast.
as_listed_factor <- function(values, levels, name) {
  values <- as.character(values)
  check_listed(values, levels, name)
  present <- levels[levels %in% values]
  if (length(present) < 2 || present[[1]] != levels[[1]]) {
    stop_with(
      sprintf("\"%s\" must hold its reference level \"%s\" and another one.", name, levels[[1]]),
      sprintf("Found only: %s.", quoted(present))
    )
  }
  listed <- factor(values, levels = present)
  # Without this, R's option `contrasts` would code it, and an argument of lmer() does not reach random slopes.
  stats::contrasts(listed) <- "contr.treatment"
  listed
}

# lme4 refuses a random effect of one level without saying which one it is.
check_groupings <- function(rows, formula) {
  for (bar in random_terms(formula)) {
    names <- all.vars(bar[[3]])
    if (length(names) > 0 && all(names %in% names(rows)) && nrow(unique(rows[names])) == 1) {
      stop_with(
        sprintf("The random effect (%s) needs two or more levels, but has one.", deparse1(bar)),
        sprintf(
          "All %d rows have %s. Fit a formula without it.", nrow(rows),
          paste(names, "=", vapply(rows[1, names, drop = FALSE], as.character, ""), collapse = ", ")
        )
      )
    }
  }
}

# Where the fixed effects give the outcome to the last digit (100 in one condition, 200 in the other) there is no error
# to measure them by: what lme4 prints then, a t of 2e15, is rounding.
check_varies_within <- function(rows, formula) {
  fixed <- without_random_terms(formula)
  environment(fixed) <- environment(formula)
  outcome <- as.double(eval(formula[[2]], rows, environment(formula)))
  fit <- stats::lm.fit(stats::model.matrix(fixed, rows), outcome)
  if (fit$rank < length(outcome) && max(abs(fit$residuals)) <= 1e-10 * max(abs(outcome - mean(outcome)))) {
    stop_with(sprintf(
      "The outcome \"%s\" does not vary within the conditions: there is nothing to measure an effect by.",
      deparse1(formula[[2]])
    ))
  }
}

check_outcome <- function(rows, outcome) {
  for (name in outcome) {
    values <- rows[[name]]
    if (!is.numeric(values) && !is.logical(values)) {
      stop_with(sprintf("The outcome \"%s\" must be a number, not of class %s.", name, quoted(class(values)[[1]])))
    }
    if (any(!is.finite(values))) {
      stop_with(sprintf("The outcome \"%s\" holds a value that is not finite.", name))
    }
    if (length(unique(values)) == 1) {
      stop_with(sprintf(
        "The outcome \"%s\" is %s in all %d rows: there is nothing to explain.",
        name, format(values[[1]]), length(values)
      ))
    }
  }
}

# A mixed model as fit_lme4() fits it, by REML and coded alike, without what only the tables of the paper need (tests of
# coefficients), which takes longer than the fit. Returns a list: `fit`, a function of rows that gives an lme4 model;
# `prepare`, one that gives the rows with their factors; `formula`; and the names of its `columns` and `grouping`
# variables.
model_maker <- function(data, formula, levels) {
  need_package("lme4", "fit mixed models")
  check_columns(data, character(), to = "check")
  formula <- checked_formula(formula, names(data))
  grouping <- grouping_variables(formula)
  if (length(formula) != 3 || length(grouping) == 0) {
    stop_with(sprintf("Can't check %s: it is not the formula of a mixed model.", quoted(deparse1(formula))))
  }
  coded <- coded_variables(formula)
  levels <- level_lists(data, coded, levels)
  prepare <- function(rows) {
    check_outcome(rows, all.vars(formula[[2]]))
    check_groupings(rows, formula)
    with_factors(rows, setdiff(grouping, coded), levels)
  }
  fit <- function(rows, control = polished_control(), ...) {
    prepared <- prepare(rows)
    lme4::lmer(uncorrelated_slopes(formula, prepared), data = prepared, REML = TRUE, control = control, ...)
  }
  list(fit = fit, prepare = prepare, formula = formula, columns = all.vars(formula), grouping = grouping)
}
