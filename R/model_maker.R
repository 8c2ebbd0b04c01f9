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
