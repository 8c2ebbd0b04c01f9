# Random effects without correlations, (1 + condition || wording), where condition is a factor.
#
# lme4 reads || at the level of the formula, and up to its version 2.0 leaves the levels of a factor correlated: it fits
# (1 | wording) + (0 + condition | wording), which has an intercept twice. From 2.0 on it takes the correlations away,
# but with levels coded 0 and 1 the variance in the reference condition could then only be the smaller one. So each
# level but the reference gets a number that is centred over the levels: -1/2 and 1/2 where there are two. The variance
# of the slope is then that of the difference between the conditions, and both conditions vary alike (Barr et al. 2013).
# Fixed effects keep their coding.

# The formula with each (… || g) as a sum of terms of one column each. `data`: with its factors.
uncorrelated_slopes <- function(formula, data) {
  if (!"||" %in% all.names(formula)) {
    return(formula)
  }
  formula[[length(formula)]] <- without_double_bars(formula[[length(formula)]], data)
  environment(formula) <- list2env(list(level_contrast = level_contrast), parent = environment(formula))
  formula
}

without_double_bars <- function(part, data) {
  if (!is.call(part)) {
    return(part)
  }
  if (identical(part[[1]], as.name("||"))) {
    return(Reduce(function(sum, term) call("+", sum, term), single_slopes(part[[2]], part[[3]], data)))
  }
  if (identical(part[[1]], as.name("(")) && is.call(part[[2]]) && identical(part[[2]][[1]], as.name("||"))) {
    return(without_double_bars(part[[2]], data))
  }
  part[-1] <- lapply(as.list(part)[-1], without_double_bars, data = data)
  part
}

single_slopes <- function(slopes, group, data) {
  of_group <- function(slope) call("(", call("|", slope, group))
  terms <- stats::terms(stats::as.formula(call("~", slopes)))
  columns <- lapply(attr(terms, "term.labels"), function(label) {
    term_columns(all.vars(str2lang(label)), label, data)
  })
  c(
    if (attr(terms, "intercept") == 1) list(of_group(1)),
    lapply(unlist(columns, recursive = FALSE), function(column) of_group(call("+", 0, column)))
  )
}

# The columns of one term, as calls: itself where it has no factor, else one for each combination of levels.
term_columns <- function(variables, label, data) {
  factors <- Filter(function(name) is.factor(data[[name]]), variables)
  if (length(factors) == 0) {
    return(list(str2lang(label)))
  }
  parts <- lapply(all_parts(str2lang(label)), function(part) {
    if (!is.name(part) || !as.character(part) %in% factors) {
      return(list(part))
    }
    lapply(levels(data[[as.character(part)]])[-1], function(level) call("level_contrast", part, level))
  })
  Reduce(function(left, right) {
    pairs <- lapply(left, function(part) lapply(right, function(other) call(":", part, other)))
    unlist(pairs, recursive = FALSE)
  }, parts)
}

all_parts <- function(term) {
  if (is.call(term) && identical(term[[1]], as.name(":"))) c(all_parts(term[[2]]), all_parts(term[[3]])) else list(term)
}

# 1 at this level and 0 at others, less the mean over the levels.
level_contrast <- function(values, level) (values == level) - 1 / nlevels(values)

# What a table calls such a column: "conditioncrossed", as lme4 calls a slope that is coded by itself.
slope_name <- function(name) {
  gsub("level_contrast\\(`?([^,`]+)`?, \"((?:[^\"\\\\]|\\\\.)*)\"\\)", "\\1\\2", name, perl = TRUE)
}
