#' What brms makes of a model: code, data and priors for Stan
#'
#' The parts of a Bayesian mixed model as brms writes it, for `compiled_model()` and `rstan::sampling()`. The
#' numbers of the priors are data of the Stan program rather than text in it, so that other priors of the same families
#' need no new compiling. The draws are the same, bit by bit, as those of `brms::brm()` with the numbers in its code.
#'
#' Coding depends neither on R's options nor on the locale: factors come from `levels`, or are what [fit_brms()] says.
#'
#' @param data a data frame with one row per trial, without missing values in the columns of the formula.
#' @param formula the formula as text (see `checked_formula()`) or as a formula: an outcome of 0 and 1, or `FALSE` and
#'   `TRUE`; of the family `"gaussian"`, a number.
#' @param step see `bayes_family()`.
#' @param kind_columns of ratings, see `kind_columns()`.
#' @inheritParams fit_brms
#' @return A list: `formula`, `model` (the same as brms has it: of counts their intervals), `dropped` (the level of each
#'   dropped factor, by name), `data` (the columns of the formula, coded), `outcome` (as numbers), `family` (see
#'   `bayes_family()`), `priors` (text by class), `prior` and `stanvars` (of brms), `code` (the Stan program),
#'   `standata` (its data), `exclude` (names of parameters that are not worth keeping), `init` (where a chain begins).
#' @source Cohen & Kincaid (2026), appendix S2.
#' @noRd
brms_parts <- function(data, formula, levels = NULL, priors = NULL, coding = c("treatment", "sum"),
                       family = "bernoulli", step = NULL, kind_columns = list()) {
  need_package("brms", "fit Bayesian models")
  coding <- match.arg(coding)
  formula <- checked_formula(formula, names(data))
  points <- levels[[all.vars(formula)[[1]]]]
  family <- bayes_family(family, step, points)
  priors <- checked_priors(priors, family)
  usable <- without_single_levels(formula, data, levels)
  formula <- usable$formula
  observed <- data[[all.vars(formula)[[1]]]]
  source <- data
  data <- coded_data(data, formula, levels, coding, family$outcome, is_mixed = FALSE)
  outcome <- as.numeric(data[[all.vars(formula)[[1]]]])
  model <- formula
  if (family$name == "cumulative") {
    points <- levels(suppressMessages(rated_points(observed, all.vars(formula)[[1]], points)))
    kinds <- with_kind_columns(data, source, kind_columns, levels, usable$dropped)
    data <- kinds$data
    usable$dropped <- kinds$dropped
    kind_columns <- kinds$columns
    model <- rating_formula(formula, length(points), kind_columns)
  }
  if (!is.null(family$step)) {
    data <- cbind(data, family$observed(outcome))
    model <- count_formula(formula, family)
  }
  priors <- utils::modifyList(usual_priors(family, formula, data, if (!is.null(family$step)) outcome), priors)
  set <- brms_priors(priors, model, data, family)
  arguments <- list(model, data, family = family$brms(), prior = set$prior, stanvars = set$stanvars)
  code <- do.call(brms::make_stancode, arguments)
  standata <- do.call(brms::make_standata, arguments)
  # As brms itself does: standardised random effects, and the intercept at the means, can be had from the others.
  declared <- regmatches(code, gregexpr("\\b(z|L|Cor|r)_[0-9]+\\b", code))[[1]]
  merged <- if (grepl("merged_Intercept", code)) "merged_Intercept" # thresholds of groups, once more
  c(
    list(
      formula = formula, model = model, dropped = usable$dropped, data = data, outcome = outcome, family = family,
      priors = priors, points = points, kind_columns = kind_columns
    ),
    set,
    list(
      code = as.character(code), standata = standata,
      exclude = c("Intercept", merged, sort(unique(declared), method = "radix")),
      init = if (is.null(family$step)) "random" else list(starting_values(family$start(outcome, family$step), standata))
    )
  )
}

# Where a chain of counts begins, in the shapes that Stan has for them; what isn't named is random.
starting_values <- function(start, standata) {
  groups <- grep("^M_[0-9]+$", names(standata), value = TRUE)
  sds <- lapply(standata[groups], function(n) array(start$sd, n))
  b <- if (standata$K > 1) list(b = array(0, standata$K - 1))
  c(start[names(start) != "sd"], b, stats::setNames(sds, sub("^M", "sd", groups)))
}

# The paper's priors (its appendix S2).
paper_priors <- function() {
  list(b = "normal(0, 1)", Intercept = "normal(3, 1.5)", sd = "exponential(1)", cor = "lkj(1)")
}

checked_priors <- function(priors, family = bayes_family("bernoulli")) {
  given <- as.list(priors)
  # a shift is uniform up to the lowest count
  own <- if (family$name == "gaussian") "sigma" else setdiff(family$parameters, c("ndt", "hu"))
  more <- if (family$name == "cumulative") "b_disc" else if (isTRUE(family$is_hurdle)) c("b_hu", "Intercept_hu")
  known <- c(names(paper_priors()), own, more)
  unknown <- setdiff(names(given), known)
  if (length(unknown) > 0 || length(names(given)) != length(given)) {
    example <- "as in list(b = \"normal(0, 1)\", sd = \"exponential(1)\")."
    stop_with(
      sprintf("Can't set a prior for %s.", if (length(unknown) > 0) quoted(unknown) else "what has no name"),
      sprintf("Priors can be set for %s: %s", all_in_words(known), example)
    )
  }
  lapply(given, function(prior) checked_prior(prior)$text)
}

# "b", or "b_hu" of what predicts hu.
prior_keys <- function(prior) paste0(prior$class, ifelse(nzchar(prior$dpar), paste0("_", prior$dpar), ""))

# The priors as brms wants them, and the variables of Stan that their numbers are handed over in. brms refuses a prior
# for what the model hasn't got.
brms_priors <- function(priors, formula, data, family) {
  possible <- brms::get_prior(formula, data, family = family$brms())
  used <- priors[names(priors) %in% prior_keys(possible)]
  prior <- brms::empty_prior()
  stanvars <- if (!is.null(family$step)) family$stanvars()
  for (key in names(used)) {
    parsed <- checked_prior(used[[key]])
    names <- sprintf("prior_%s_%d", tolower(key), seq_along(parsed$numbers))
    if (parsed$family == "lkj") {
      names <- parsed$numbers # brms reads this one itself, and wants the number
    } else {
      numbers <- Map(brms::stanvar, parsed$numbers, names)
      stanvars <- Reduce(`+`, if (is.null(stanvars)) numbers else c(list(stanvars), numbers))
    }
    text <- sprintf("%s(%s)", parsed$family, toString(names))
    dpar <- if (grepl("_(hu|disc)$", key)) sub("^.*_", "", key) else ""
    prior <- prior + brms::set_prior(text, class = sub("_(hu|disc)$", "", key), dpar = dpar)
  }
  list(prior = prior, stanvars = stanvars)
}

#' Read a prior that may come from a stranger
#'
#' brms pastes the text of a prior into a Stan program, which is compiled and run. Here the text is only parsed, and
#' compared with a list of allowed distributions; what is left of it are their numbers.
#'
#' Allowed are `normal(mean, sd)`, `student_t(df, location, scale)`, `cauchy(location, scale)`,
#' `logistic(location, scale)`, `exponential(rate)`, `gamma(shape, rate)`, `lognormal(mean, sd)` and `lkj(eta)`, with
#' plain numbers as arguments. Scales, rates and degrees of freedom must be above 0.
#'
#' @param text the prior as one string, such as `"normal(0, 1)"`.
#' @return A list: `text` (the prior written again), `family`, and `numbers`.
#' @noRd
checked_prior <- function(text) {
  if (!is_text(text) || nchar(text, "bytes") > 200) {
    stop_with("Can't use this as a prior: it must be one string, like \"normal(0, 1)\".")
  }
  parsed <- tryCatch(parse(text = text, keep.source = FALSE, encoding = "UTF-8"), error = function(problem) NULL)
  expression <- if (length(parsed) == 1) parsed[[1]]
  family <- if (is.call(expression) && is.name(expression[[1]])) as.character(expression[[1]]) else ""
  known <- prior_families()
  if (!family %in% names(known)) {
    stop_with(
      sprintf("Can't use %s as a prior: it is none of the distributions that are known.", quoted(text)),
      nearest_known(family, names(known)),
      sprintf("Distributions there are: %s.", toString(names(known)))
    )
  }
  numbers <- vapply(as.list(expression)[-1], plain_number, numeric(1))
  is_scale <- known[[family]]
  if (length(numbers) != length(is_scale) || anyNA(numbers) || any(numbers[is_scale] <= 0)) {
    stop_with(
      sprintf("Can't use %s as a prior.", quoted(text)),
      sprintf("It must have %s, scales above 0:", counted(length(is_scale), "plain number")),
      sprintf("like %s.", quoted(prior_text(family, ifelse(is_scale, 1, 0))))
    )
  }
  list(text = prior_text(family, numbers), family = family, numbers = numbers)
}

# By distribution: which of its arguments must be above 0.
prior_families <- function() {
  list(
    normal = c(FALSE, TRUE), student_t = c(TRUE, FALSE, TRUE), cauchy = c(FALSE, TRUE), logistic = c(FALSE, TRUE),
    exponential = TRUE, gamma = c(TRUE, TRUE), lognormal = c(FALSE, TRUE), lkj = TRUE
  )
}

# The number that is there; NA for anything else. Nothing is evaluated.
plain_number <- function(part) {
  if (is.call(part) && length(part) == 2 && identical(part[[1]], as.name("-"))) {
    return(-plain_number(part[[2]]))
  }
  if (is.numeric(part) && length(part) == 1 && is.finite(part)) as.numeric(part) else NA_real_
}

prior_text <- function(family, numbers) {
  sprintf("%s(%s)", family, toString(vapply(numbers, format, character(1), digits = 15)))
}
