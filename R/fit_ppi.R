#' Regressions with a coded outcome by prediction-powered inference
#'
#' Codes of a model for all texts, corrected by those that people have coded: the estimate by people's codes plus
#' \eqn{\lambda} times what the coder's codes of the other texts give beyond those of people's texts. The `lambda` that
#' makes the variance (summed over coefficients) smallest is found, and cut to 0 (people alone) to 1. It takes people's
#' texts as a simple random sample, and rows as independent; for unequal probabilities, clusters or coded predictors
#' there is [fit_dsl()].
#'
#' @inheritParams fit_dsl
#' @param codes a named list of one: the column of people's codes, which is the formula's outcome, and that of the
#'   coder's.
#' @param lambda `NULL`, or a number from 0 to 1.
#' @return As of [fit_dsl()]; `tables$lambdas` has the lambda that was used (`lambda_used`), with `n_people` and
#'   `n_others` texts.
#' @references Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered inference.
#'   arXiv:2311.01453.
#' @seealso [fit_dsl()].
#' @export
#' @examples
#' set.seed(1)
#' posts <- data.frame(condition = rep(c("a", "b"), 300), is_angry = rbinom(600, 1, .3))
#' posts$code <- ifelse(runif(600) < .15, 1 - posts$is_angry, posts$is_angry)
#' posts$angry <- ifelse(runif(600) < .3, posts$is_angry, NA)
#' levels <- list(condition = c("a", "b"))
#' fit_ppi(posts, "angry ~ condition", list(angry = "code"), "binomial", levels = levels)$estimates
fit_ppi <- function(data, formula, codes, family = c("gaussian", "binomial"), lambda = NULL, by = NULL,
                    levels = NULL) {
  check_arguments()
  family <- one_of(family, c("gaussian", "binomial"), "family")
  formula <- coded_formula(data, formula, codes, by)
  if (length(unlist(codes)) != 1 || names(codes) != all.vars(formula[[2]])) {
    stop_with("Here one coder codes the outcome, and nothing else is coded; for more there is fit_dsl().")
  }
  fit_coded(data, formula, codes, by, character(), levels, function(rows) {
    sample <- coded_sample(rows, NULL)
    check_coded_levels(rows, formula, sample$is_coded)
    taken <- rows
    taken[[names(codes)]] <- as.double(rows[[unlist(codes)]])
    of_all <- stats::model.frame(formula, taken)
    parts <- list(
      x = stats::model.matrix(formula, of_all), code = as.double(stats::model.response(of_all)),
      people = as.double(rows[[names(codes)]]), is_coded = sample$is_coded,
      solve = function(weight, others) {
        solved_moments(formula, taken, with_people(rows, taken, names(codes)), weight, family, others)
      }
    )
    if (all(parts$is_coded)) stop_with("People have coded all texts: fit their codes.")
    used <- if (is.null(lambda)) tuned_lambda(parts, powered_estimate(parts, 1, family), family) else lambda
    estimate <- powered_estimate(parts, used, family)
    error <- frame_of(
      std_error = powered_error(parts, estimate, used, family),
      df = rep(as.double(sum(parts$is_coded) - ncol(parts$x)), ncol(parts$x))
    )
    estimates <- coefficient_rows(estimate, error)
    weight <- sample$is_coded / sample$probability
    compared <- compared_methods(estimates, rows, formula, codes, family, weight, NULL)
    lambdas <- frame_of(
      lambda_used = used, n_people = sum(parts$is_coded), n_others = sum(!parts$is_coded)
    )
    list(
      estimates = estimates, tables_of_group = list(corrections = compared, lambdas = lambdas),
      fit = list(optimiser = "prediction-powered inference"), variances = empty_table("variances"), model = NULL
    )
  })
}

powered_estimate <- function(parts, lambda, family) {
  ours <- parts$is_coded
  if (family == "gaussian") {
    least_squares_of <- function(is_in, y) qr.coef(qr(parts$x[is_in, , drop = FALSE]), y[is_in])
    return(least_squares_of(ours, parts$people) +
             lambda * (least_squares_of(!ours, parts$code) - least_squares_of(ours, parts$code)))
  }
  # People's codes weigh 1, and codes of others and of people's own texts stand against each other.
  weight <- ifelse(ours, 1 / sum(ours), 0)
  of_codes <- ifelse(ours, -lambda / sum(ours), lambda / sum(!ours))
  parts$solve(weight, of_codes + weight)$estimate
}

# How each row moves the estimate by its code and by people's, and the inverse Hessian of these rows.
powered_scores <- function(parts, estimate, family, uses_others) {
  eta <- drop(parts$x %*% estimate)
  expected <- if (family == "binomial") stats::plogis(eta) else eta
  slope <- if (family == "binomial") stats::dlogis(eta) else rep(1, length(eta))
  is_used <- uses_others | parts$is_coded
  x <- parts$x[is_used, , drop = FALSE]
  list(
    inverse = solve(crossprod(x, x * slope[is_used]) / sum(is_used)),
    people = (parts$x * (expected - parts$people))[parts$is_coded, , drop = FALSE],
    own = (parts$x * (expected - parts$code))[parts$is_coded, , drop = FALSE],
    others = (parts$x * (expected - parts$code))[!parts$is_coded, , drop = FALSE]
  )
}

tuned_lambda <- function(parts, estimate, family) {
  scores <- powered_scores(parts, estimate, family, TRUE)
  n <- nrow(scores$own)
  shared <- crossprod(scale(scores$people, scale = FALSE), scale(scores$own, scale = FALSE)) / n
  varied <- stats::cov(rbind(scores$own, scores$others))
  spread <- function(middle) sum(diag(scores$inverse %*% middle %*% scores$inverse))
  found <- spread(shared + t(shared)) / (2 * (1 + n / nrow(scores$others)) * spread(varied))
  min(max(found, 0), 1)
}

powered_error <- function(parts, estimate, lambda, family) {
  scores <- powered_scores(parts, estimate, family, lambda != 0)
  n <- nrow(scores$own)
  n_others <- nrow(scores$others)
  is_mean <- ncol(parts$x) == 1 # whose variances ppi_py divides by n, those of regressions by n - 1
  of_people <- stats::cov(scores$people - lambda * scores$own) * if (is_mean) (n - 1) / n else 1
  of_others <- stats::cov(scores$others) * if (is_mean) (n_others - 1) / n_others else 1
  middle <- of_people + n / n_others * lambda^2 * of_others
  sqrt(diag(scores$inverse %*% middle %*% scores$inverse) / n)
}
