#' Does an effect hold for other words and other wordings? Crossed random effects, one fit per group of rows
#'
#' A study asks some words in some wordings, but its conclusion is about words and wordings in general. Fits
#' `lmerTest::lmer()` by REML with an intercept and an effect of the condition for each wording and for each word,
#' without correlations, and says what the standard error of the effect is made of.
#'
#' The two conditions are coded -1/2 and 1/2, so that `||` leaves out the correlations in every version of lme4, and so
#' is every other text in the fixed effects that has two values (`group`, say; the first in the order of its letters is
#' -1/2). The coefficient of `contrast` is the difference of the conditions.
#'
#' A formula says what is drawn from what: `(1 + condition || group:item)` where one word stands in both groups, and
#' `condition * group` where words are to be drawn anew within the same two groups, so that the difference between
#' groups is no part of what words vary by.
#'
#' **Singular fits.** A variance of 0 lies on the boundary: the fit has status `"singular"`, and `variances` shows it.
#' Its estimates are those of the maximal model that is not singular, which has the same likelihood without the terms
#' that are 0; `effects$fitted` is its formula. Where none is left, that is a linear model.
#'
#' **What the standard error is made of.** The estimate is a weighted sum of the rows, `b = sum(a * y)`, with the
#' weights of generalised least squares. So its variance is exactly a sum over variance components: a component of
#' variance s2 whose column is z (1, or the coded condition) has the part
#' `s2 * sum over its groups of (sum of a * z in the group)^2`, the trials `s2 * sum(a^2)`. In a balanced design that
#' comes to `Var(b) = s2_wording / n_wordings + s2_word / n_words + 4 * s2 / N`, with the variances of the slopes, the
#' words of both groups counted, and N trials; intercepts drop out.
#'
#' **Minimum detectable effect.** The effect that a study with this standard error and these degrees of freedom finds
#' with probability `power` in a two-sided test at `alpha`, by the noncentral t distribution. It is a property of the
#' design, not of the estimate.
#'
#' @inheritParams fit_lme4
#' @param formula the model as text or as a formula. Random slopes stand left of `||`.
#' @param contrast name of the column with the two conditions.
#' @param levels the two conditions, the reference first; or a named list that has them.
#' @param beside formula of the model that the estimate is set beside: the paper's, say. `NULL`: of none.
#' @param power of the minimum detectable effect; `alpha`: the level of significance, of it and of the verdict.
#' @param alpha see `power`.
#' @return The same as [fit_lme4()]; `estimates` are of the maximal model that is not singular, `variances` of the
#'   maximal model. `tables` holds
#'   \describe{
#'     \item{effects}{one row per group: `term`, `estimate`, `std_error`, `df` (Satterthwaite), `p_value`, `conf_low`,
#'       `conf_high`, `sd` (within conditions, pooled as for Cohen's d), `mde` in units of the outcome, `mde_d` in
#'       those of `sd`; `beside` (a formula), `estimate_beside`, `std_error_beside` and `p_beside`, `std_error_ratio`
#'       (over that of the model beside) and `verdict`: the effect `"stays"` significant, is `"lost"` (also where its
#'       sign turns), is `"gained"`, or is `"not_significant"` in either model, which doesn't show that there is none;
#'       `"already_in_model"` where the model beside lets the effect vary over the same groups, so that there are no
#'       two models to compare; `is_singular`, `left_out` (the terms whose variance is 0, as text), `fitted`
#'       (formula).}
#'     \item{shares}{one row per variance component: `group` (`"wording"`, `"item"`, `"residual"`), `term`, `variance`,
#'       `n_groups`, `part` (of the squared standard error, in squared units), `share` (0 to 1).}
#'   }
#' @source Barr, Levy, Scheepers & Tily (2013), Random effects structure for confirmatory hypothesis testing, Journal
#'   of Memory and Language 68, 255-278; Westfall, Kenny & Judd (2014), Statistical power and optimal design in
#'   experiments in which samples of participants respond to samples of stimuli, Journal of Experimental Psychology:
#'   General 143.
#' @export
#' @examples
#' trials <- subset(simulate_trials(), !is_refusal)
#' fit <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' fit$tables$effects
#' fit$tables$shares
fit_crossed <- function(data, formula = crossed_formula, contrast = "condition", levels = NULL, by = NULL,
                        save_to = NULL, beside = NULL, power = .8, alpha = .05) {
  check_arguments()
  need_package("lmerTest", "fit mixed models")
  check_columns(data, c(contrast, by))
  check_alpha(alpha)
  check_power(power)
  formula <- checked_formula(formula, names(data))
  if (length(formula) != 3 || length(random_terms(formula)) == 0 || !contrast %in% all.vars(formula[[3]])) {
    stop_with(
      sprintf("Can't fit %s with crossed random effects.", quoted(deparse1(formula))),
      sprintf("It must have an outcome, %s, and a random effect, like \"%s\".", quoted(contrast), crossed_formula)
    )
  }
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to = "fit crossed random effects")
  beside <- if (!is.null(beside)) checked_formula(beside, names(data))
  fit_one <- function(rows) fit_crossed_cell(rows, formula, contrast, levels, beside, power, alpha)
  used <- unique(c(all.vars(formula), if (!is.null(beside)) all.vars(beside)))
  result <- fit_each_group(data, by, used, fit_one, save_to)
  slant_fit(result, c("lme4", "lmerTest"))
}

crossed_formula <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"

fit_crossed_cell <- function(rows, formula, contrast, levels, beside, power, alpha) {
  check_outcome(rows, all.vars(formula[[2]]))
  check_groupings(rows, formula)
  plain <- effect_beside(rows, beside, contrast, levels)
  is_in_model <- !is.null(beside) && has_slopes_of(beside, formula, contrast)
  sd <- pooled_sd(eval(formula[[2]], rows, environment(formula)), as.character(rows[[contrast]]), levels)
  rows <- with_half_codes(rows, formula, contrast, levels)
  if (is.name(formula[[2]])) rows[[as.character(formula[[2]])]] <- as.double(rows[[as.character(formula[[2]])]])
  terms <- single_terms(uncorrelated_slopes(formula, rows))
  maximal <- lmer_of_terms(formula, terms, rows)
  model <- not_singular(maximal, formula, terms, rows)
  estimates <- if (inherits(model$model, "lm")) linear_effects(model$model) else fixed_effects(model$model)
  estimates$term[estimates$term == contrast] <- paste0(contrast, levels[[2]])
  shares <- variance_parts(model$model, maximal, contrast)
  effect <- estimates[estimates$term == paste0(contrast, levels[[2]]), , drop = FALSE]
  mde <- minimum_detectable_effect(effect$std_error, effect$df, power, alpha)
  verdict <- if (is_in_model) "already_in_model" else verdict_beside(effect, plain, alpha)
  list(
    estimates = estimates,
    fit = fit_of_mixed_model(
      maximal, any(relative_sds(maximal) < singular_below),
      if (inherits(model$model, "lm")) "lm" else as.character(model$model@optinfo$optimizer)
    ),
    variances = shares[c("group", "term", "variance", "n_groups")],
    model = model$model,
    tables_of_group = list(
      effects = cbind(effect[setdiff(names(effect), "statistic")], frame_of(
        sd = sd, mde = mde, mde_d = mde / sd, beside = plain$formula, estimate_beside = plain$estimate,
        std_error_beside = plain$std_error, p_beside = plain$p_value, std_error_ratio = effect$std_error /
          plain$std_error, verdict = verdict, is_singular = length(model$left_out) > 0,
        left_out = toString(model$left_out), fitted = deparse1(model$formula)
      )),
      shares = shares
    )
  )
}

# The effect of the contrast in another mixed model of the same rows, or NA where there is none.
effect_beside <- function(rows, formula, contrast, levels) {
  if (is.null(formula)) {
    return(list(formula = NA_character_, estimate = NA_real_, std_error = NA_real_, p_value = NA_real_))
  }
  fit <- fit_lme4(rows, formula, levels = stats::setNames(list(levels), contrast))
  effect <- fit$estimates[fit$estimates$term == paste0(contrast, levels[[2]]), , drop = FALSE]
  if (nrow(effect) != 1) {
    stop_with(
      sprintf("Can't fit %s, which the effect is set beside.", quoted(deparse1(formula))),
      if (nzchar(fit$fits$error)) fit$fits$error else sprintf("It must have the effect of %s.", quoted(contrast))
    )
  }
  c(list(formula = deparse1(formula)), as.list(effect[c("estimate", "std_error", "p_value")]))
}

# Whether a model has a slope of the contrast, correlated or not, for each group that has one in `formula`.
has_slopes_of <- function(model, formula, contrast) {
  groups_of <- function(formula) {
    with_slope <- Filter(function(bar) contrast %in% all.vars(bar[[2]]), random_terms(formula))
    vapply(with_slope, function(bar) deparse1(bar[[3]]), "")
  }
  groups <- groups_of(formula)
  length(groups) > 0 && all(groups %in% groups_of(model))
}

verdict_beside <- function(effect, plain, alpha) {
  here <- conclusion(effect$estimate, effect$p_value, alpha)
  there <- conclusion(plain$estimate, plain$p_value, alpha)
  if (is.na(here) || is.na(there)) {
    return(NA_character_)
  }
  if (there == 0) {
    if (here == 0) "not_significant" else "gained"
  } else if (here == there) {
    "stays"
  } else {
    "lost"
  }
}

# The contrast, and every other text of two values in the fixed effects, as -1/2 and 1/2.
with_half_codes <- function(rows, formula, contrast, levels) {
  for (name in all.vars(without_random_terms(formula)[[3]])) {
    values <- rows[[name]]
    if (name != contrast && is.numeric(values)) next
    known <- if (name == contrast) levels else sort(unique(as.character(values)), method = "radix")
    if (length(known) != 2) {
      stop_with(sprintf("\"%s\" must have two values to be coded -1/2 and 1/2, not %d.", name, length(known)))
    }
    rows[[name]] <- c(-.5, .5)[as.integer(as_listed_factor(values, known, name))]
  }
  with_factors(rows, setdiff(grouping_variables(formula), all.vars(without_random_terms(formula))), list())
}

# Random effects of one column each, as calls named by group and column; a correlated pair has no place among them.
single_terms <- function(formula) {
  terms <- random_terms(formula)
  names(terms) <- vapply(terms, function(bar) {
    column <- stats::terms(stats::as.formula(call("~", bar[[2]])))
    labels <- c(if (attr(column, "intercept") == 1) "intercept", attr(column, "term.labels"))
    if (length(labels) != 1) {
      stop_with(
        sprintf("Can't fit (%s): crossed effects are fitted without correlations.", deparse1(bar)),
        sprintf("Write || for |, as in (%s || %s).", deparse1(bar[[2]]), deparse1(bar[[3]]))
      )
    }
    paste(labels, "by", deparse1(bar[[3]]))
  }, "")
  terms
}

# A standard deviation, in units of the residual one, that lme4 takes for 0.
singular_below <- 1e-4

lmer_of_terms <- function(formula, terms, rows, start = NULL) {
  fixed <- without_random_terms(formula)
  fixed[[3]] <- Reduce(function(sum, term) call("+", sum, call("(", term)), unname(terms), fixed[[3]])
  environment(fixed) <- environment(formula)
  # That it is singular is said with the terms that are 0, rather than by lme4.
  control <- lme4::lmerControl(check.conv.singular = list(action = "ignore", tol = singular_below))
  lmerTest::lmer(fixed, data = rows, REML = TRUE, start = start, control = control)
}

# The estimated standard deviation of each term, over the residual one, named as single_terms() names them.
relative_sds <- function(model) {
  columns <- term_name(unlist(model@cnms, use.names = FALSE))
  stats::setNames(lme4::getME(model, "theta"), paste(columns, "by", names(model@cnms)))
}

# Without the terms whose variance is 0 the likelihood is the same, so that all of them may go at once.
not_singular <- function(maximal, formula, terms, rows) {
  model <- maximal
  left_out <- character()
  repeat {
    sds <- relative_sds(model)
    zero <- names(sds)[sds < singular_below]
    if (length(zero) == 0) break
    left_out <- c(left_out, zero)
    terms <- terms[!names(terms) %in% zero]
    if (length(terms) == 0) {
      model <- stats::lm(without_random_terms(formula), data = rows)
      break
    }
    model <- lmer_of_terms(formula, terms, rows, start = unname(sds[!names(sds) %in% zero]))
  }
  shown <- stats::formula(model)
  if (length(left_out) > 0) {
    message(sprintf(
      "Singular: the variance of %s is 0. The maximal model that is not singular: %s", toString(left_out),
      deparse1(shown)
    ))
  }
  list(model = model, left_out = left_out, formula = shown)
}

linear_effects <- function(model) {
  table <- stats::coef(summary(model))
  df <- as.double(stats::df.residual(model))
  estimate_rows(rownames(table), table[, 1], table[, 2], df, statistic = table[, 3], p_value = table[, 4])
}

# What each component has of the squared standard error of the coefficient `name`: see "What the standard error is made
# of" in the help of fit_crossed(). Terms that only the maximal model has are 0.
variance_parts <- function(model, maximal, name) {
  n_groups <- lme4::ngrps(maximal)[names(maximal@cnms)]
  columns <- term_name(unlist(maximal@cnms, use.names = FALSE))
  parts <- frame_of(
    group = c(names(maximal@cnms), "residual"), term = c(columns, "residual"),
    variance = rep(0, length(columns) + 1), n_groups = as.integer(c(n_groups, NA)), part = rep(0, length(columns) + 1)
  )
  weights <- estimation_weights(model, name)
  variance <- stats::sigma(model)^2
  parts[nrow(parts), c("variance", "part")] <- c(variance, variance * sum(weights^2))
  if (!inherits(model, "lm")) {
    sums <- as.vector(lme4::getME(model, "Zt") %*% weights)
    starts <- lme4::getME(model, "Gp")
    sds <- relative_sds(model)
    for (i in seq_along(sds)) {
      row <- match(names(sds)[[i]], paste(parts$term, "by", parts$group))
      of_term <- variance * sds[[i]]^2
      parts$variance[[row]] <- of_term
      parts$part[[row]] <- of_term * sum(sums[(starts[[i]] + 1):starts[[i + 1]]]^2)
    }
  }
  parts$share <- parts$part / sum(parts$part)
  parts
}

# The weights a of the rows in the estimate b = sum(a * y), by generalised least squares: with V = I + ZLL'Z', in
# units of the residual variance, a row of (X'V^-1 X)^-1 X'V^-1. V^-1 X by Woodbury's identity: its matrix is of groups,
# not rows.
estimation_weights <- function(model, name) {
  x <- stats::model.matrix(model)
  if (inherits(model, "lm")) {
    solved <- x
  } else {
    u <- as.matrix(lme4::getME(model, "Lambdat") %*% lme4::getME(model, "Zt"))
    solved <- x - crossprod(u, solve(tcrossprod(u) + diag(nrow(u)), u %*% x))
  }
  as.vector(solved %*% solve(crossprod(x, solved))[, match(name, colnames(x))])
}
