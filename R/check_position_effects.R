#' Does the place of a profile, or of a question in a session, change the answer?
#'
#' Two things: do answers differ between places (the second of two profiles is chosen less often, say), and do levels of
#' an attribute matter more at one place than at another?
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per profile.
#' @param outcome name of the column with the choice (0 or 1) or the rating.
#' @param places names of the columns with places: of the profile in its question, of the question in the session.
#' @param attributes names of the columns with the levels that were shown, or `NULL`.
#' @param cluster see [marginal_means()].
#' @return A data frame with one row per place (`kind` is `"place"`): `place` (the column), `at`, `n`, `estimate` (the
#'   mean there), `std_error`, and of the whole column `chi_squared`, `df`, `p_value` (Wald's test that all means are
#'   the same, over clusters); and one per column and attribute (`"attribute"`): `attribute`, with the test that
#'   differences between its levels are the same at all places; `detectable`, a difference between two places (of the
#'   difference between two levels) that 80 % of such studies would find; `status`, `messages`.
#' @noRd
check_position_effects <- function(data, by = NULL, outcome = "chosen", places = "position", attributes = NULL,
                                   cluster = NULL) {
  check_columns(data, cluster, to = "look for effects of places")
  empty <- data.frame(
    kind = character(), place = character(), at = character(), attribute = character(), n = integer(),
    estimate = double(), std_error = double(), chi_squared = double(), df = double(), p_value = double(),
    detectable = double()
  )
  check_each_group(data, by, c(outcome, places, attributes, cluster), empty, function(rows) {
    used <- attribute_rows(rows, outcome, c(places, attributes), cluster, NULL, NULL)
    parts <- lapply(places, function(place) {
      levels_at <- lapply(attributes, function(name) attribute_at_places(name, place, used))
      do.call(rbind, c(list(means_at_places(place, used)), levels_at))
    })
    as_plain_rows(do.call(rbind, parts))
  })
}

means_at_places <- function(place, rows) {
  found <- cell_means(rows$factors[[place]], rows)
  n <- length(found$mean)
  tested <- wald_test(cbind(-1, diag(n - 1)), found)
  frame_of(
    kind = rep("place", n), place = rep(place, n), at = levels(rows$factors[[place]]),
    attribute = rep(NA_character_, n), n = found$n, estimate = found$mean, std_error = sqrt(diag(found$covariance)),
    chi_squared = rep(tested$chi_squared, n), df = rep(tested$df, n), p_value = rep(tested$p_value, n),
    detectable = rep(tested$detectable, n)
  )
}

# Each difference between levels at each place, less that at the first place.
attribute_at_places <- function(name, place, rows) {
  cells <- interaction(rows$factors[[name]], rows$factors[[place]], sep = "\037", lex.order = FALSE)
  if (any(tabulate(cells, nlevels(cells)) == 0)) {
    warning(sprintf("Not every level of \"%s\" was shown at every %s: it is not compared.", name, place), call. = FALSE)
    return(NULL)
  }
  found <- cell_means(cells, rows)
  less_first <- function(n) cbind(-1, diag(n - 1))
  weights <- kronecker(less_first(nlevels(rows$factors[[place]])), less_first(nlevels(rows$factors[[name]])))
  tested <- wald_test(weights, found)
  frame_of(
    kind = "attribute", place = place, at = NA_character_, attribute = name, n = sum(found$n), estimate = NA_real_,
    std_error = NA_real_, chi_squared = tested$chi_squared, df = tested$df, p_value = tested$p_value,
    detectable = tested$detectable
  )
}

wald_test <- function(weights, found) {
  difference <- weights %*% found$mean
  covariance <- weights %*% found$covariance %*% t(weights)
  solved <- tryCatch(solve(covariance, difference), error = function(problem) NULL)
  chi_squared <- if (is.null(solved)) NA_real_ else sum(difference * solved)
  df <- as.double(nrow(weights))
  list(
    chi_squared = chi_squared, df = df, p_value = stats::pchisq(chi_squared, df, lower.tail = FALSE),
    detectable = sqrt(noncentrality_of_squares(df, .005) * max(diag(covariance)))
  )
}
