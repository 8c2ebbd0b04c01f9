# What exported functions are called with, checked before anything is done or written: by the name of the argument,
# which means the same in all of them. What the data must hold, and ranges of one function's own, it says itself.

# Called as the first line of a function: stops with a sentence at the first argument that it was given wrong. NULL is
# right where it is the default; what was not given must have one. Data frames of all kinds become plain ones.
# `more`: rules of arguments that only this function has.
check_arguments <- function(frame = parent.frame(), called = sys.function(sys.parent()), more = list()) {
  force(frame)
  force(called)
  parameters <- formals(called)
  is_missing <- function(name) eval(call("missing", as.name(name)), frame)
  required <- names(Filter(function(default) is.name(default) && !nzchar(as.character(default)), as.list(parameters)))
  lacking <- Filter(is_missing, setdiff(required, "..."))
  if (length(lacking) > 0) {
    stop_with(sprintf("%s must be given.", toString(sprintf("`%s`", lacking))), "See the function's help page.")
  }
  # Brackets of a data.table mean something else in sourced functions, and `$` of a tibble warns of a column it lacks.
  for (name in Filter(Negate(is_missing), setdiff(names(parameters), "..."))) {
    value <- get(name, envir = frame)
    if (is.data.frame(value) && class(value)[[1]] != "data.frame") assign(name, as.data.frame(value), frame)
  }
  rules <- c(more, argument_rules[setdiff(names(argument_rules), names(more))])
  for (name in intersect(names(parameters), names(rules))) {
    if (is_missing(name)) next
    value <- get(name, envir = frame)
    if (is.null(value) && is.null(parameters[[name]])) next
    rule <- rules[[name]]
    if (!rule$is_right(value)) {
      stop_with(sprintf("`%s` must be %s, but is %s.", name, rule$must_be, in_short(value)))
    }
  }
}

# One of the values that an argument of the calling function has by default, or the first where it was not given.
one_of <- function(value, choices, name) {
  if (identical(value, choices)) {
    return(choices[[1]])
  }
  if (!is_text(value) || !value %in% choices) {
    stop_with(sprintf("`%s` must be one of %s, but is %s.", name, quoted(choices), in_short(value)))
  }
  value
}

is_text <- function(value) is.character(value) && length(value) == 1 && !is.na(value)

is_whole <- function(value, least) {
  is.numeric(value) && length(value) == 1 && is.finite(value) && value == round(value) &&
    value >= least && value <= .Machine$integer.max
}

# A value as a sentence shows it.
in_short <- function(value) {
  if (is.function(value)) {
    return("a function")
  }
  if (is.null(value)) {
    return("NULL")
  }
  if (is.list(value) || length(value) != 1) {
    return(sprintf("of class \"%s\" and length %d", class(value)[[1]], length(value)))
  }
  if (is.character(value) && !is.na(value)) sprintf("the text \"%s\"", value) else format(value)
}

# Kinds of arguments: what one must be, in words, and whether a value is that.
argument_kinds <- local({
  is_number <- function(value) is.numeric(value) && length(value) == 1 && is.finite(value)
  text <- list(must_be = "one text", is_right = function(value) is_text(value) && nzchar(value))
  list(
    text = text,
    file = text,
    between = function(least, usual) {
      force(least)
      list(
        must_be = sprintf("one number between %s and 1, such as %s", least, usual),
        is_right = function(value) is_number(value) && value > least && value < 1
      )
    },
    whole = function(least) {
      force(least)
      list(
        must_be = sprintf("a whole number%s", if (least >= 0) sprintf(" from %d", least) else ""),
        is_right = function(value) is_whole(value, least)
      )
    },
    flag = list(must_be = "TRUE or FALSE", is_right = function(value) isTRUE(value) || isFALSE(value)),
    number = list(must_be = "one number", is_right = is_number),
    positive = list(must_be = "a number above 0", is_right = function(value) is_number(value) && value > 0)
  )
})

argument_rules <- local({
  text <- argument_kinds$text
  whole <- argument_kinds$whole
  flag <- argument_kinds$flag
  number <- argument_kinds$number
  texts <- list(
    must_be = "text, nothing of it missing",
    is_right = function(value) is.null(value) || (is.character(value) && !anyNA(value))
  )
  list_or_texts <- list(
    must_be = "text, or a list of it by name",
    is_right = function(value) {
      length(value) > 0 && (is.character(value) || is.list(value)) && is.character(unlist(value)) &&
        !anyNA(unlist(value))
    }
  )
  numbers <- list(
    must_be = "finite numbers", is_right = function(value) {
      !is.function(value) && is.numeric(unlist(value)) && all(is.finite(unlist(value)))
    }
  )
  by_name <- list(
    must_be = "a list by name",
    is_right = function(value) {
      is.null(value) || (is.list(value) && (length(value) == 0 || !is.null(names(value)) && all(nzchar(names(value)))))
    }
  )
  text_or_null <- list(
    must_be = "one text, or NULL", is_right = function(value) is.null(value) || text$is_right(value)
  )
  rules <- list(
    levels = list_or_texts, effect = number, topics = numbers, arguments = by_name, declared = by_name
  )
  rules[c("archive", "between", "contrast", "db", "draws_to", "engine", "file", "id", "name", "out", "preprocessing",
          "reference", "save_to", "study", "text", "adjust", "coding", "view", "estimate", "std_error",
          "provider_file", "code", "coder", "people", "repeated")] <- list(text)
  rules[c("probability", "fold", "disc_by", "outcome", "reasoning_kind", "subtitle", "thresholds_by", "title",
          "weights")] <- list(
    text_or_null
  )
  rules[c("predictors", "attributes", "by", "files", "indices", "material", "models", "placebo", "random",
          "removed_words", "sets", "strata", "within")] <- list(texts)
  rules[c("cores", "iterations", "chains", "max_em_its", "max_treedepth", "n", "n_classes", "n_groups", "n_wordings",
          "n_words", "repetitions", "permutations", "pilot", "max_rows", "again", "dpi",
          "n_games", "n_rounds", "n_cells")] <- list(whole(1))
  rules[["n_folds"]] <- whole(2)
  rules[c("lower_thresh", "n_examples", "warmup", "n_random", "n_draws")] <- list(whole(0))
  rules[["cluster"]] <- list(
    must_be = "one or two texts, or NULL", is_right = function(value) {
      is.null(value) || (is.character(value) && length(value) %in% 1:2 && !anyNA(value) && all(nzchar(value)))
    }
  )
  rules[["alpha"]] <- argument_kinds$between(0, .05)
  rules[["power"]] <- argument_kinds$between(.05, .8)
  rules[["bound"]] <- argument_kinds$positive
  rules[["least_answered"]] <- number
  rules[["lambda"]] <- list(
    must_be = "a number from 0 to 1, or NULL", is_right = function(value) {
      is.null(value) || (number$is_right(value) && value >= 0 && value <= 1)
    }
  )
  rules[["seed"]] <- whole(-.Machine$integer.max)
  rules[c("force", "simulated", "yes", "r", "other_models", "each_code", "polish")] <- list(flag)
  rules
})
