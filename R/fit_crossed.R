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
#' A formula says what is drawn from what: `(1 + condition || group:item)` if one word is in both groups, and
#' `condition * group` if words are to be drawn again within the same two groups, so that the difference between
#' groups is no part of what words vary by.
#'
#' **Standard errors and degrees of freedom** are Kenward and Roger's (1997), of the maximal model. A variance that was
#' estimated as 0 lies on the boundary (the fit has status `"singular"`, `variances` shows it, `effects$fitted` is the
#' formula without it): it is not known to be 0, and so stays among the variances that degrees of freedom are about. A
#' model that forgets it has hundreds of degrees of freedom, where the words and wordings that were asked leave some
#' ten. Where Kenward and Roger's information matrix can't be inverted, the standard error is the model's own, and the
#' degrees of freedom are those of the fewest words or wordings less 1; `df_method` says which.
#'
#' **Fewer than three** words, or wordings, say nothing of others: they get no random slope, `generalises_to` names what
#' is left, and a message says so. With fewer than three of each there is no fit.
#'
#' **Repetitions** of a word in a wording and condition share what is special to that combination, which has a random
#' intercept of its own (the group `"combination"`) where there are any: answers that are the same every time are one
#' answer. Where all of them are, one of each is fitted, and what trials vary by is the combination's.
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
#' @param reference_model formula of the model that the estimate is compared with, such as the paper's. `NULL`: none.
#' @param power of the minimum detectable effect; `alpha`: the level of significance, of it and of the verdict.
#' @param alpha see `power`.
#' @return The same as [fit_lme4()]; `estimates` are of the maximal model that is not singular, `variances` of the
#'   maximal model. `tables` holds
#'   \describe{
#'     \item{effects}{one row per group: `term`, `estimate`, `std_error`, `df`, `p_value`, `conf_low`, `conf_high`, `sd`
#'       (within conditions, pooled as for Cohen's d), `mde` in units of the outcome, `mde_d` in those of `sd`;
#'       `reference_model` (a formula), `reference_estimate`, `reference_std_error` and `reference_p`, `std_error_ratio`
#'       (over that of the reference model) and `verdict`: the effect `"stays"` significant, is `"lost"` (also if its
#'       sign turns), is `"gained"`, or is `"not_significant"` in either model, which doesn't show that there is none;
#'       `"already_in_model"` if the reference model lets the effect vary over the same groups, so that there are no
#'       two models to compare; `is_singular`, `left_out` (the terms whose variance is 0, as text), `fitted` (formula
#'       without them); `df_method` (`"Kenward-Roger"` or `"capped"`), `generalises_to` (what the effect is claimed
#'       over, such as `"wording, item"`), `width_margin` (how much wider a run that may stop on width takes its
#'       interval to be).}
#'     \item{shares}{one row per variance component: `group` (`"wording"`, `"item"`, `"combination"`, `"residual"`),
#'       `term`, `variance`, `n_groups`, `part` (of the squared standard error, in squared units, before what Kenward
#'       and Roger add for variances that are estimated: 0 in a balanced design), `share` (0 to 1).}
#'   }
#' @source Barr, Levy, Scheepers & Tily (2013), Random effects structure for confirmatory hypothesis testing, Journal
#'   of Memory and Language 68, 255-278; Westfall, Kenny & Judd (2014), Statistical power and optimal design in
#'   experiments in which samples of participants respond to samples of stimuli, Journal of Experimental Psychology:
#'   General 143; Kenward & Roger (1997), Small sample inference for fixed effects from restricted maximum likelihood,
#'   Biometrics 53, 983-997.
#' @export
#' @examples
#' trials <- subset(simulate_trials(), is_valid)
#' fit <- fit_crossed(trials, levels = c("compatible", "incompatible"), by = c("model", "test"))
#' fit$tables$effects
#' fit$tables$shares
fit_crossed <- function(data, formula = crossed_formula, contrast = "condition", levels = NULL, by = NULL,
                        save_to = NULL, reference_model = NULL, power = .8, alpha = .05) {
  check_arguments()
  need_package("lmerTest", "fit mixed models")
  check_columns(data, c(contrast, by))
  formula <- checked_formula(formula, names(data))
  if (length(formula) != 3 || length(random_terms(formula)) == 0 || !contrast %in% all.vars(formula[[3]])) {
    stop_with(
      sprintf("Can't fit %s with crossed random effects.", quoted(deparse1(formula))),
      sprintf("It must have an outcome, %s, and a random effect, like \"%s\".", quoted(contrast), crossed_formula)
    )
  }
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to = "fit crossed random effects")
  reference_model <- if (!is.null(reference_model)) checked_formula(reference_model, names(data))
  fit_one <- function(rows) fit_crossed_cell(rows, formula, contrast, levels, reference_model, power, alpha)
  used <- unique(c(all.vars(formula), if (!is.null(reference_model)) all.vars(reference_model)))
  slant_fit(fit_each_group(data, by, used, fit_one, save_to), c("lme4", "lmerTest"))
}

crossed_formula <- "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)"

fit_crossed_cell <- function(rows, formula, contrast, levels, reference_model, power, alpha) {
  check_outcome(rows, all.vars(formula[[2]]))
  coded <- with_half_codes(rows, formula, contrast, levels)
  check_varies_within(coded, formula)
  plain <- reference_effect(rows, reference_model, contrast, levels)
  is_in_model <- !is.null(reference_model) && has_slopes_of(reference_model, formula, contrast)
  sd <- pooled_sd(eval(formula[[2]], rows, environment(formula)), as.character(rows[[contrast]]), levels)
  rows <- coded
  if (is.name(formula[[2]])) rows[[as.character(formula[[2]])]] <- as.double(rows[[as.character(formula[[2]])]])
  terms <- terms_with_levels(single_terms(uncorrelated_slopes(formula, rows)), rows)
  n_asked <- nrow(rows)
  rows <- with_combinations(rows, formula, terms)
  are_alike <- nrow(rows) < n_asked
  if (anyDuplicated(rows$combination) > 0) terms <- c(terms, "intercept by combination" = quote(1 | combination))
  # That it is singular is said with the terms that are 0, rather than by lme4.
  control <- polished_control(check.conv.singular = list(action = "ignore", tol = singular_below))
  model <- lme4::lmer(formula_of_terms(formula, terms), data = rows, REML = TRUE, control = control)
  sds <- relative_sds(model)
  left_out <- names(sds)[sds < singular_below]
  fitted <- formula_of_terms(formula, terms[!names(terms) %in% left_out])
  if (length(left_out) > 0) message(sprintf("Singular: the variance of %s is 0.", toString(left_out)))
  parts <- model_matrices(model, "combination")
  inverse <- inverse_of_variance(parts)
  error <- error_over_words(model, parts, inverse)
  estimates <- coefficient_rows(lme4::fixef(model), error)
  shares <- variance_parts(model, parts, inverse, contrast)
  if (are_alike) shares <- shares_of_combinations(shares, nrow(rows))
  estimates$term[estimates$term == contrast] <- paste0(contrast, levels[[2]])
  effect <- estimates[estimates$term == paste0(contrast, levels[[2]]), , drop = FALSE]
  mde <- minimum_detectable_effect(effect$std_error, effect$df, power, alpha)
  verdict <- if (is_in_model) "already_in_model" else verdict_against(effect, plain, alpha)
  list(
    estimates = estimates,
    fit = fit_of_mixed_model(model, length(left_out) > 0),
    variances = shares[c("group", "term", "variance", "n_groups")],
    model = refittable(model, rows),
    tables_of_group = list(
      effects = cbind(effect[setdiff(names(effect), "statistic")], frame_of(
        sd = sd, mde = mde, mde_d = mde / sd, reference_model = plain$formula, reference_estimate = plain$estimate,
        reference_std_error = plain$std_error, reference_p = plain$p_value, std_error_ratio = effect$std_error /
          plain$std_error, verdict = verdict, is_singular = length(left_out) > 0,
        left_out = toString(left_out), fitted = deparse1(fitted),
        df_method = error$df_method[[match(contrast, names(lme4::fixef(model)))]],
        generalises_to = toString(unique(sub("^.* by ", "", setdiff(names(terms), "intercept by combination")))),
        width_margin = width_margin(effect$df)
      )),
      shares = shares
    )
  )
}

# Words and wordings of which there are this many say something of others.
least_to_generalise <- 3

# The random effects of groupings that have enough levels; a message names the others.
terms_with_levels <- function(terms, rows) {
  groups <- sub("^.* by ", "", names(terms))
  n_levels <- vapply(groups, function(group) {
    nrow(unique(rows[all.vars(str2lang(group))]))
  }, 1L)
  few <- unique(groups[n_levels < least_to_generalise])
  for (group in few) {
    message(sprintf(
      "Fewer than three of \"%s\" (%d): nothing is said of others than these.", group, n_levels[groups == group][[1]]
    ))
  }
  if (length(few) == length(unique(groups))) {
    stop_with(
      sprintf("Can't say whether the effect holds for others: there are fewer than three of %s.", quoted(few)),
      "It takes three or more words, or wordings, that were asked in both conditions."
    )
  }
  terms[!groups %in% few]
}

# With the column `combination`: a word in a wording and condition, which repetitions share. Where all repetitions are
# alike, one of each is left.
with_combinations <- function(rows, formula, terms) {
  fixed <- all.vars(without_random_terms(formula)[[3]])
  keys <- unique(c(fixed, unlist(lapply(terms, function(bar) all.vars(bar[[3]]))), grouping_variables(formula)))
  rows$combination <- factor(group_codes(rows, keys))
  outcome <- eval(formula[[2]], rows, environment(formula))
  first <- match(rows$combination, rows$combination)
  if (anyDuplicated(rows$combination) > 0 && all(outcome == outcome[first])) {
    message(sprintf(
      "All repetitions of a word in a wording and condition are the same answer: %s count as %s.",
      counted(nrow(rows), "row"), counted(nlevels(rows$combination), "answer")
    ))
    rows <- rows[!duplicated(rows$combination), , drop = FALSE]
  }
  rows
}

# The effect of the contrast in another mixed model of the same rows, or NA where there is none.
reference_effect <- function(rows, formula, contrast, levels) {
  if (is.null(formula)) {
    return(list(formula = NA_character_, estimate = NA_real_, std_error = NA_real_, p_value = NA_real_))
  }
  fit <- fit_lme4(rows, formula, levels = stats::setNames(list(levels), contrast))
  effect <- fit$estimates[fit$estimates$term == paste0(contrast, levels[[2]]), , drop = FALSE]
  if (nrow(effect) != 1) {
    stop_with(
      sprintf("Can't fit %s, which the effect is compared with.", quoted(deparse1(formula))),
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

verdict_against <- function(effect, plain, alpha) {
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

formula_of_terms <- function(formula, terms) {
  fixed <- without_random_terms(formula)
  fixed[[3]] <- Reduce(function(sum, term) call("+", sum, call("(", term)), unname(terms), fixed[[3]])
  environment(fixed) <- environment(formula)
  fixed
}

# The estimated standard deviation of each term, over the residual one, named as single_terms() names them.
relative_sds <- function(model) {
  columns <- term_name(unlist(model@cnms, use.names = FALSE))
  stats::setNames(lme4::getME(model, "theta"), paste(columns, "by", names(model@cnms)))
}

# The standard error and degrees of freedom of each coefficient over words and wordings, and by which method: see
# "Standard errors and degrees of freedom" in the help of fit_crossed(). Whatever is said over words and wordings of a
# mixed model goes through here; of a model that has no random effects, through clustered_error().
error_over_words <- function(model, parts, inverse) {
  error <- kenward_roger(parts, inverse)
  error$df_method <- "Kenward-Roger"
  is_unknown <- is.na(error$df)
  if (any(is_unknown)) {
    groups <- lme4::ngrps(model)
    error$std_error[is_unknown] <- sqrt(diag(as.matrix(stats::vcov(model))))[is_unknown]
    error$df[is_unknown] <- capped_df(groups[names(groups) != "combination"])
    error$df_method[is_unknown] <- "capped"
  }
  error
}

# How much wider an interval is taken to be where a run may stop because it is narrow: the upper limit, one-sided and
# of 70 %, of the standard deviation of a variance with that many degrees of freedom. A run stops rather if its
# variance is underestimated; the fewer degrees of freedom, the more. bench/truth.R shows what that reaches.
width_margin <- function(df) sqrt(df / stats::qchisq(.3, df))

# Degrees of freedom over that many words and wordings, if no better number is known.
capped_df <- function(n_levels) as.double(min(n_levels) - 1)

coefficient_rows <- function(estimates, error) {
  rows <- tested_rows(names(estimates), unname(estimates), error$std_error, error$df)
  structure(rows, covariance = attr(error, "covariance"))
}

# What each component has of the squared standard error of the coefficient `name`: see "What the standard error is made
# of" in the help of fit_crossed().
variance_parts <- function(model, parts, inverse, name) {
  weights <- estimation_weights(parts, inverse)[, match(name, colnames(parts$x))]
  is_repeated <- names(model@cnms) == "combination"
  order <- c(which(!is_repeated), which(is_repeated))
  groups <- names(model@cnms)[order]
  variance <- c(parts$variances, parts$diagonal_variances)
  of_terms <- vapply(parts$terms, function(z) sum(crossprod(z, weights)^2), 1)
  of_diagonals <- vapply(parts$diagonals, function(diagonal) sum(diagonal * weights^2), 1)
  part <- variance * c(of_terms, of_diagonals)
  frame_of(
    group = c(groups, "residual"), term = c(term_name(unlist(model@cnms, use.names = FALSE))[order], "residual"),
    variance = variance, n_groups = as.integer(c(lme4::ngrps(model)[groups], NA)), part = part,
    share = part / sum(part)
  )
}

# The same where all repetitions are alike: what one answer varies by is the combination's, and trials have nothing.
shares_of_combinations <- function(shares, n_combinations) {
  is_residual <- shares$group == "residual"
  trials <- shares[is_residual, , drop = FALSE]
  trials[c("variance", "part", "share")] <- 0
  shares[is_residual, c("group", "term", "n_groups")] <- list("combination", "intercept", as.integer(n_combinations))
  as_plain_rows(rbind(shares, trials))
}

# The weights a of the rows in the estimates b = sum(a * y), a column a coefficient: V^-1 X (X'V^-1 X)^-1. Where
# there are repetitions, rows are their means times the root of their number.
estimation_weights <- function(parts, inverse) {
  solved <- inverse$apply(parts$x)
  solved %*% solve(crossprod(parts$x, solved))
}
