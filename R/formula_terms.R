# The two parts of a mixed model's formula. lme4 handed its functions for them over to the package reformulas: an lme4
# that needs that package loads it, and from 2.0 on warns where its own names are called, as if a fit were doubtful.

# The random effects as a list of calls, such as `1 | wording`.
random_terms <- function(formula) formula_tool("findbars")(formula)

# The formula without them.
without_random_terms <- function(formula) formula_tool("nobars")(formula)

# What the random effects are grouped by.
grouping_variables <- function(formula) {
  unique(unlist(lapply(random_terms(formula), function(bar) all.vars(bar[[3]]))))
}

formula_tool <- function(name) {
  loadNamespace("lme4")
  getExportedValue(if (isNamespaceLoaded("reformulas")) "reformulas" else "lme4", name)
}
