#' Regressions with a coded outcome by prediction-powered inference
#'
#' Codes of a model for all texts, corrected by those that people have coded: the estimate by people's codes plus
#' \eqn{\lambda} times what the coder's codes of the other texts give beyond those of people's texts. The `lambda` that
#' makes the variance (summed over coefficients) smallest is found, and cut to 0 (people alone) to 1. It takes people's
#' texts as a simple random sample; for unequal probabilities or coded predictors there is [fit_dsl()], as which it
#' treats clusters. Without any, rows are taken as independent.
#'
#' @inheritParams fit_dsl
#' @param codes a named list of one: the column of people's codes, which is the formula's outcome, and that of the
#'   coder's.
#' @param probability as in [fit_dsl()]; if people's texts were drawn with unequal ones, this is refused.
#' @param lambda `NULL`, or a number from 0 to 1.
#' @return As of [fit_dsl()]; `tables$lambdas` has the lambda of each regression (`lambda_used`), with `n_people` and
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
                    levels = NULL, estimator = c("regression", "amce", "marginal_means", "impact_ratio"),
                    cluster = NULL, probability = NULL) {
  check_arguments()
  family <- one_of(family, c("gaussian", "binomial"), "family")
  estimator <- one_of(estimator, corrected_estimators, "estimator")
  formula <- coded_formula(data, formula, codes, c(cluster, probability, by))
  if (length(unlist(codes)) != 1 || names(codes) != all.vars(formula[[2]])) {
    stop_with("Here one coder codes the outcome, and nothing else is coded; for more there is fit_dsl().")
  }
  fit_coded(data, formula, codes, by, c(cluster, probability), levels, function(rows) {
    sample <- coded_sample(rows, probability)
    drawn <- range(sample$probability[sample$is_coded])
    if (drawn[[2]] > 1.01 * drawn[[1]]) {
      stop_with(
        sprintf(
          "Texts were drawn for people with probabilities from %.2g to %.2g, and ppi needs a simple random sample.",
          drawn[[1]], drawn[[2]]
        ),
        "For unequal probabilities: fit_dsl() (--fit dsl)."
      )
    }
    check_coded_levels(rows, formula, sample$is_coded)
    if (all(sample$is_coded)) stop_with("People have coded all texts: fit their codes.")
    weight <- as.double(sample$is_coded)
    codes_of <- coded_clusters(rows[cluster])
    lambdas <- NULL
    compared <- lapply(estimands(formula, rows, estimator, names(codes), family), function(one) {
      rows <- rows_with(rows, one$columns, sample$is_coded)
      parts <- powered_parts(one$formula, rows, codes, sample$is_coded, family)
      used <- if (is.null(lambda)) tuned_lambda(parts, powered_estimate(parts, 1, family), family) else lambda
      estimate <- powered_estimate(parts, used, family)
      solved <- list(
        estimate = estimate, inverse = diag(length(estimate)), scores = if (is.null(cluster)) {
          axes <- eigen(powered_covariance(parts, estimate, used, family), symmetric = TRUE)
          sqrt(pmax(0, axes$values)) * t(axes$vectors)
        } else {
          powered_changes(parts, estimate, used, family)
        },
        without = function(is_out) {
          rest <- powered_parts(one$formula, rows[!is_out, , drop = FALSE], codes, sample$is_coded[!is_out], family)
          powered_estimate(rest, used, family)
        }
      )
      corrected <- coefficients_over(one$of(solved), codes_of, sum(sample$is_coded))
      lambdas <<- rbind(lambdas, frame_of(
        lambda_used = used, n_people = sum(sample$is_coded), n_others = sum(!sample$is_coded)
      ))
      compared_methods(corrected, rows, one$formula, codes, family, weight, codes_of, one$of)
    })
    corrected_fit(do.call(rbind, compared), "prediction-powered inference", estimator, list(lambdas = lambdas))
  })
}

powered_parts <- function(formula, rows, codes, is_coded, family) {
  taken <- rows
  taken[[names(codes)]] <- as.double(rows[[unlist(codes)]])
  of_all <- stats::model.frame(formula, taken)
  list(
    x = stats::model.matrix(formula, of_all), code = as.double(stats::model.response(of_all)),
    people = as.double(rows[[names(codes)]]), is_coded = is_coded,
    solve = function(weight, others) {
      solved_moments(formula, taken, with_people(rows, taken, names(codes)), weight, family, others)
    }
  )
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

powered_covariance <- function(parts, estimate, lambda, family) {
  scores <- powered_scores(parts, estimate, family, lambda != 0)
  n <- nrow(scores$own)
  n_others <- nrow(scores$others)
  is_mean <- ncol(parts$x) == 1 # whose variances ppi_py divides by n, those of regressions by n - 1
  of_people <- stats::cov(scores$people - lambda * scores$own) * if (is_mean) (n - 1) / n else 1
  of_others <- stats::cov(scores$others) * if (is_mean) (n_others - 1) / n_others else 1
  middle <- of_people + n / n_others * lambda^2 * of_others
  scores$inverse %*% middle %*% scores$inverse / n
}

# How each row moves the estimate.
powered_changes <- function(parts, estimate, lambda, family) {
  scores <- powered_scores(parts, estimate, family, lambda != 0)
  changes <- matrix(0, length(parts$is_coded), length(estimate))
  centred <- function(values) scale(values, scale = FALSE) / nrow(values)
  changes[parts$is_coded, ] <- centred(scores$people - lambda * scores$own)
  changes[!parts$is_coded, ] <- lambda * centred(scores$others)
  changes %*% scores$inverse
}

# Predict then debias: a mixed model's coefficients by people's texts, plus for each a weight times what the coder's
# codes of all texts give beyond those of people's texts. Errors and weights are of samples of clusters.
debiased_mixed <- function(formula, rows, codes, family, sample, cluster, draws, seed) {
  by <- if (is.null(cluster)) grouping_variables(formula)[[1]] else cluster
  clusters <- split(seq_len(nrow(rows)), match(rows[[by]], unique(rows[[by]])))
  if (length(clusters) < least_to_generalise) stop_with("Errors over clusters need three or more.")
  nested <- Filter(function(name) {
    all(rowSums(table(rows[[name]], rows[[by]]) > 0) <= 1)
  }, grouping_variables(formula))
  taken <- rows
  for (name in names(codes)) taken[[name]] <- as.double(rows[[codes[[name]][[1]]]])
  three_ways <- function(picked) {
    at <- unlist(clusters[picked], use.names = FALSE)
    copy <- rep(seq_along(picked), lengths(clusters[picked])) # a cluster that is drawn twice is two
    apart <- function(data) replace(data, nested, lapply(data[nested], function(group) interaction(copy, group)))
    is_coded <- sample$is_coded[at]
    weight <- ifelse(is_coded, mean(sample$probability[at]) / sample$probability[at], 0)
    fixed <- function(data, weight) {
      mixed_coefficients(formula, apart(data[at, ])[weight > 0, ], family, weight[weight > 0])
    }
    c(fixed(rows, weight), fixed(taken, weight), fixed(taken, rep(1, length(at))))
  }
  found <- three_ways(seq_along(clusters))
  k <- length(found) / 3
  sampled <- with_seed(seed, lapply(seq_len(draws), function(draw) {
    tryCatch(three_ways(sample.int(length(clusters), replace = TRUE)), error = function(problem) NULL)
  }))
  sampled <- do.call(rbind, Filter(function(values) length(values) == 3 * k, sampled))
  if (is.null(sampled) || nrow(sampled) < max(2, draws / 2)) stop_with(unsolved)
  part <- function(values, n) values[, k * (n - 1) + seq_len(k), drop = FALSE]
  beyond <- part(sampled, 3) - part(sampled, 2)
  weight <- -diag(stats::cov(part(sampled, 1), beyond)) / pmax(apply(beyond, 2, stats::var), 1e-12)
  weight <- pmin(1, pmax(0, weight))
  methods <- function(values) {
    corrected <- part(values, 1) + sweep(part(values, 3) - part(values, 2), 2, weight, "*")
    list(coder = part(values, 3), people = part(values, 1), corrected = corrected)
  }
  df <- rep(as.double(length(clusters) - 1), k)
  compared <- next_to_each_other(Map(function(estimate, values) {
    coefficient_rows(estimate[1, ], frame_of(std_error = apply(values, 2, stats::sd), df = df))
  }, methods(rbind(found)), methods(sampled)), nrow(rows), sum(sample$is_coded))
  how <- sprintf("predict then debias (lme4), %d samples of %d clusters", nrow(sampled), length(clusters))
  corrected_fit(compared, how)
}

mixed_coefficients <- function(formula, data, family, sampling_weight) {
  environment(formula) <- environment() # where lme4 looks for the weights
  lme4::fixef(suppressMessages(suppressWarnings(if (family == "binomial") {
    lme4::glmer(formula, data, stats::binomial(), weights = sampling_weight, nAGQ = 0)
  } else {
    lme4::lmer(formula, data, weights = sampling_weight)
  })))
}
