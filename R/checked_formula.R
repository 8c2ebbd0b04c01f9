#' Read a model formula that may come from a stranger
#'
#' `as.formula()` followed by `model.frame()` runs whatever calls stand in the formula, so that a study file could
#' run code. Here the text is only parsed, and every part of it is compared with a list of allowed operators and
#' functions and with the columns of the data.
#'
#' Allowed are the operators `~ + - * : / ^ | ||` and parentheses, the functions `I`, `log`, `log1p`, `sqrt`, `scale`
#' and `poly`, numbers, `TRUE` and `FALSE` (as arguments), and names of columns. Everything else is an error that
#' names the part.
#'
#' What R would multiply out is counted first: `(a + b)^30`, or twenty factors joined by `*`, become millions of terms,
#' and `a^1e8` is multiplied out for hours. A power of terms is a whole number from 1 to 10 (in `I(x^2)` it is
#' arithmetic, and any number), and a formula has at most 500 terms.
#'
#' @param text the formula as one string, such as `"tokens ~ condition + (1 | wording)"`; a formula object is taken
#'   too, and checked alike.
#' @param columns names of the columns that may stand in it.
#' @return A formula. Its environment holds the allowed functions and base R, nothing of the caller.
#' @noRd
checked_formula <- function(text, columns) {
  expression <- if (inherits(text, "formula")) `attributes<-`(text, NULL) else parse_formula(text)
  shown <- paste(deparse(expression, width.cutoff = 500L), collapse = " ")
  if (!is.call(expression) || !identical(expression[[1]], as.name("~"))) {
    stop_with(
      sprintf("Can't use %s as a formula: it has no ~.", quoted(shown)),
      "A formula reads like \"tokens ~ condition + (1 | wording)\"."
    )
  }
  for (side in as.list(expression)[-1]) {
    check_part(side, columns, shown)
  }
  if (n_terms(expression[[length(expression)]], shown) > most_terms) {
    stop_with(sprintf("Can't use the formula %s: it has more than %d terms.", quoted(shown), most_terms))
  }
  # A formula carries an environment in which its calls are looked up; the caller's would be saved with a model.
  place <- new.env(parent = baseenv())
  place$poly <- stats::poly
  structure(expression, class = "formula", .Environment = place)
}

parse_formula <- function(text) {
  if (!is.character(text) || length(text) != 1 || is.na(text) || nchar(text, "bytes") > 2000) {
    stop_with("Can't use this as a formula: it must be one string of at most 2,000 bytes.")
  }
  parsed <- tryCatch(parse(text = text, keep.source = FALSE, encoding = "UTF-8"), error = function(problem) NULL)
  if (length(parsed) != 1) {
    stop_with(
      sprintf("Can't use %s as a formula: it must be exactly one R expression.", quoted(text)),
      "A formula reads like \"tokens ~ condition + (1 | wording)\"."
    )
  }
  parsed[[1]]
}

allowed_operators <- function() c("+", "-", "*", ":", "/", "^", "(", "|", "||")

allowed_functions <- function() c("I", "log", "log1p", "sqrt", "scale", "poly")

# Walks one part of the parsed formula; nothing is evaluated.
check_part <- function(part, columns, formula) {
  if (is.call(part)) {
    head <- if (is.name(part[[1]])) as.character(part[[1]]) else deparse(part[[1]])[[1]]
    if (!is.name(part[[1]]) || !head %in% c(allowed_operators(), allowed_functions())) {
      operators <- toString(setdiff(allowed_operators(), "("))
      stop_with(
        sprintf("Can't use the formula %s: \"%s\" is not allowed in it.", quoted(formula), head),
        sprintf("Operators: %s. Functions: %s.", operators, toString(allowed_functions()))
      )
    }
    for (i in seq_along(part)[-1]) {
      # By index: a missing argument, as in log(, 2), can't even be named.
      if (is.name(part[[i]]) && !nzchar(part[[i]])) {
        stop_with(sprintf("Can't use the formula %s: an argument is missing.", quoted(formula)))
      }
      check_part(part[[i]], columns, formula)
    }
  } else if (is.name(part) && !as.character(part) %in% columns) {
    stop_with(
      sprintf("Can't use the formula %s: \"%s\" is not a column of the data.", quoted(formula), as.character(part)),
      nearest_known(as.character(part), columns),
      sprintf("Columns there are: %s.", paste(columns, collapse = ", "))
    )
  } else if (!is.name(part) && !is.numeric(part) && !is.logical(part)) {
    stop_with(
      sprintf("Can't use the formula %s: %s is not allowed in it.", quoted(formula), deparse(part)[[1]]),
      sprintf("Only columns, numbers, operators and %s may stand there.", toString(allowed_functions()))
    )
  }
  invisible(TRUE)
}

most_terms <- 500L

most_power <- 10

countless <- 1e6

# How many terms R makes of a part, at most: nothing is multiplied out for it.
n_terms <- function(part, formula) {
  head <- if (is.call(part)) as.character(part[[1]]) else ""
  if (!head %in% allowed_operators()) {
    return(1)
  }
  if (head == "^") {
    power <- part[[3]]
    if (!is.numeric(power) || length(power) != 1 || !power %in% seq_len(most_power)) {
      stop_with(
        sprintf(
          "Can't use the formula %s: a power of terms must be a whole number from 1 to %d.", quoted(formula), most_power
        ),
        "For arithmetic: I(x^2)."
      )
    }
    n <- n_terms(part[[2]], formula)
    return(min(sum(choose(n, seq_len(min(n, part[[3]])))), countless))
  }
  n <- vapply(as.list(part)[-1], n_terms, 1, formula)
  if (length(n) == 1) {
    return(n)
  }
  all <- switch(head,
    "*" = sum(n) + prod(n),
    ":" = ,
    "|" = ,
    "||" = prod(n),
    sum(n)
  )
  min(all, countless)
}

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
    # A term with factors has a column for each combination of levels.
    factors <- Filter(function(name) is.factor(data[[name]]), all.vars(str2lang(label)))
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
  })
  c(
    if (attr(terms, "intercept") == 1) list(of_group(1)),
    lapply(unlist(columns, recursive = FALSE), function(column) of_group(call("+", 0, column)))
  )
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
