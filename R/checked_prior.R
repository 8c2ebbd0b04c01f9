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
  expression <- parse_prior(text)
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

parse_prior <- function(text) {
  if (!is.character(text) || length(text) != 1 || is.na(text) || nchar(text, "bytes") > 200) {
    stop_with("Can't use this as a prior: it must be one string, like \"normal(0, 1)\".")
  }
  parsed <- tryCatch(parse(text = text, keep.source = FALSE, encoding = "UTF-8"), error = function(problem) NULL)
  if (length(parsed) == 1) parsed[[1]]
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
