# Columns of a formula as a Bayesian fit takes them: an outcome as its family takes it, factors with their coding.

coded_data <- function(data, formula, levels, coding = "treatment", outcome = zeros_and_ones, is_mixed = TRUE) {
  check_columns(data, all.vars(formula))
  grouping <- grouping_variables(formula)
  if (length(formula) != 3 || (is_mixed && length(grouping) == 0)) {
    stop_with(
      sprintf("Can't fit %s as a mixed model.", quoted(deparse1(formula))),
      "It must have an outcome and a random effect, like \"is_valid ~ condition * model + (1 | item)\"."
    )
  }
  coded <- coded_variables(formula)
  levels <- listed_levels(data, coded, levels)
  columns <- data[unique(all.vars(formula))]
  for (name in all.vars(formula[[2]])) columns[[name]] <- outcome(columns[[name]], name)
  columns <- with_factors(columns, setdiff(grouping, coded), levels)
  for (name in names(levels)) {
    if (coding == "sum") stats::contrasts(columns[[name]]) <- "contr.sum"
  }
  columns
}

# The levels of each text column that are in the data, the reference first.
listed_levels <- function(data, variables, levels) {
  is_text <- function(name) is.character(data[[name]]) || is.factor(data[[name]]) || is.logical(data[[name]])
  listed <- list()
  for (name in variables[vapply(variables, is_text, logical(1)) | variables %in% names(levels)]) {
    known <- if (is.null(levels[[name]])) own_levels(data, name) else as.character(unlist(levels[[name]]))
    check_listed(data[[name]], known, name)
    listed[[name]] <- known[known %in% as.character(data[[name]])]
  }
  listed
}

# A level that is not in the list would silently become missing.
check_listed <- function(values, levels, name) {
  unlisted <- setdiff(unique(as.character(values)), c(levels, NA))
  if (length(unlisted) > 0) {
    stop_with(
      sprintf("\"%s\" holds %s, which is not among its levels.", name, quoted(unlisted)),
      sprintf("Levels: %s.", quoted(levels))
    )
  }
}

# Without a list: a factor's own levels; else the values sorted, by their numbers where the data have those.
own_levels <- function(data, name) {
  values <- data[[name]]
  if (is.factor(values)) {
    return(levels(values))
  }
  number <- data[[paste0(name, "_no")]]
  if (is.null(number)) number <- rep(0, length(values))
  distinct <- unique(data.frame(value = as.character(values), no = number))
  distinct <- distinct[!is.na(distinct$value), ]
  unique(distinct$value[order(distinct$no, distinct$value, method = "radix")])
}

zeros_and_ones <- function(values, name) {
  numbers <- if (is.logical(values) || is.numeric(values)) as.numeric(values) else NA
  if (anyNA(numbers) || !all(numbers %in% c(0, 1))) {
    stop_with(
      sprintf("The outcome \"%s\" must be TRUE or FALSE, or 1 or 0, in every row.", name),
      sprintf("Found: %s.", quoted(utils::head(unique(values), 3)))
    )
  }
  as.integer(numbers)
}

# The formula without the factors that are of one level in the data, each said in a message: list(formula, dropped).
without_single_levels <- function(formula, data, levels) {
  listed <- listed_levels(data, coded_variables(formula), levels)
  dropped <- listed[lengths(listed) == 1]
  for (name in names(dropped)) {
    formula[[3]] <- without_variable(formula[[3]], name)
    if (is.null(formula[[3]])) formula[[3]] <- 1
  }
  if (length(dropped) > 0) {
    message(sprintf(
      "%s: the formula is now %s.",
      paste(sprintf("All rows are of one %s, %s", names(dropped), unlist(dropped)), collapse = "; "), deparse1(formula)
    ))
  }
  list(formula = formula, dropped = dropped)
}

# One side of a formula without a variable; NULL where nothing is left of it.
without_variable <- function(part, name) {
  if (is.name(part)) {
    return(if (!identical(as.character(part), name)) part)
  }
  if (!is.call(part)) {
    return(part)
  }
  operator <- as.character(part[[1]])
  if (operator %in% c("|", "||")) {
    left <- without_variable(part[[2]], name)
    part[2] <- list(if (is.null(left)) 1 else left)
    return(part)
  }
  sides <- Filter(Negate(is.null), lapply(as.list(part)[-1], without_variable, name = name))
  if (length(sides) == length(part) - 1) {
    return(as.call(c(part[[1]], sides)))
  }
  if (length(sides) == 1 && operator %in% c("+", "*", ":")) sides[[1]]
}

# The levels to compare where nobody gives them: in the order of a factor, or of the column NAME_no that the views have,
# else in alphabetical order, which is said. The first one is the reference. Two there must be, unless there
# `may_be_fewer`, or `may_be_more`.
levels_of <- function(data, contrast, levels = NULL, may_be_fewer = FALSE, may_be_more = FALSE) {
  if (!is.null(levels)) {
    return(levels)
  }
  check_columns(data, contrast)
  values <- data[[contrast]]
  number <- paste0(contrast, "_no")
  if (is.factor(values)) {
    present <- levels(droplevels(values))
  } else if (number %in% names(data) && !anyNA(data[[number]])) {
    present <- unique(as.character(values)[order(data[[number]], method = "radix")])
  } else {
    present <- sort(unique(as.character(values[!is.na(values)])), method = "radix")
    message(sprintf(
      "The reference level of %s is %s, the first in the alphabet; for another: levels = c(\"%s\").",
      contrast, quoted(present[1]), paste(rev(present), collapse = "\", \"")
    ))
  }
  if (length(present) == 0 && !may_be_fewer) {
    stop_with(sprintf(
      "Can't compare: %s.",
      if (nrow(data) == 0) "there are no rows" else sprintf("the column %s has no values", quoted(contrast))
    ))
  }
  if (length(present) != 2 && !(may_be_fewer && length(present) < 2) && !(may_be_more && length(present) > 2)) {
    stop_with(
      sprintf(
        "Can't compare: the column %s has %d values (%s), not two.", quoted(contrast), length(present),
        toString(present)
      ),
      "Name two of them, the reference first: levels = c(\"...\", \"...\")."
    )
  }
  present
}
