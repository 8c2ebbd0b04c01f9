#' Regressions with coded text, corrected for the coder's errors
#'
#' A model has coded all texts, people some of them, drawn at random. Codes taken as truth are biased by the coder's
#' errors, above all where these differ between conditions; people's codes alone throw most texts away. Design-based
#' supervised learning takes a prediction of people's code from the coder's for every text, and corrects it by what it
#' gets wrong in the sample. The result is right whatever the coder is like, and the more precise the better it is.
#'
#' For a text with R = 1 if people have coded it, drawn with probability \eqn{\pi}, and the estimating function m
#' of the regression: \eqn{\sum [m(g) + (R / \pi)(m(Y) - m(g))] = 0}, where g is the cross-fitted prediction of
#' the people's code Y. The variance is \eqn{J^{-1} M J^{-T} / n}, with M summed over clusters where there are any
#' (times G / (G - 1); of fewer than 40 clusters a jackknife of them). Degrees of freedom: clusters less one, or else
#' coded texts less coefficients.
#'
#' A formula with random effects, `"angry ~ condition + (1 | name)"`, is fitted by lme4, and predicts then debiases
#' (Kluger and others 2025): coefficients of people's texts, plus a weight for each times what the coder's codes of all
#' texts give beyond those of people's texts. Errors are of samples of clusters (`cluster`, or the formula's first
#' group), each fitted again; the weights make them smallest.
#'
#' @param data a data frame, one row a text.
#' @param formula the regression as text, such as `"angry ~ condition"`; with `"angry ~ 1"` the prevalence. Coded
#'   variables may be its outcome, its predictors, or both.
#' @param codes a named list: for each coded variable of the formula (a column of people's codes, missing where nobody
#'   has coded) the columns of coders' codes, which no row lacks. People's codes are numbers, 0 and 1 for a category.
#' @param family `"gaussian"` for a linear regression, `"binomial"` for a logistic one.
#' @param probability the name of the column with the probability (above 0, at most 1) with which each text was drawn
#'   for people; `NULL` if all had the same: then it is the share of texts that people have coded.
#' @param predictors names of further numeric columns that g is predicted from, besides all coders' codes.
#' @param prediction how g is made: `"linear"`, `"logit"`, or `"code"` (the first coder's code itself).
#' @param cluster the name of the column of what texts share (a name, an author), or of two; or `NULL`.
#' @param fold the name of a column of folds for the cross-fitting; `NULL`: `n_folds` are drawn, clusters whole (those
#'   of the first `cluster`).
#' @param n_folds,seed number of folds, and the seed they are drawn with.
#' @param levels a named list of levels of text columns, the reference first.
#' @param estimator `"regression"`, or of each attribute of the formula (whose outcome alone is coded) the
#'   `"marginal_means"` of its levels, the `"impact_ratio"` of each level's rate over that of all others together, or
#'   the `"amce"` of each level, as [amce()] has it: with `angry ~ gender + education * job`, effects of education and
#'   job are averaged over those levels of the other that both sides were shown with. A message names pairs of
#'   attributes of which some combinations were never shown and whose interaction the formula lacks.
#' @param labels numbers of texts: gives the standard errors for as many texts coded by people (at most all), drawn
#'   with probabilities in the same proportions (`tables$labels`).
#' @param draws of a mixed model: how many samples of clusters are drawn.
#' @inheritParams fit_lme4
#' @return A [slant_fit]. `estimates`: the corrected coefficients, in units of the outcome or log odds.
#'   `tables$corrections` has them next to those of codes taken as truth and of people alone: `method` (`"coder"`,
#'   `"people"`, `"corrected"`), `term`, `estimate`, `std_error`, `df`, `p_value`, `conf_low`, `conf_high`, `n` texts.
#'   `tables$labels`: `term`, `n_labels`, `std_error`.
#' @references Egami, N., Hinck, M., Stewart, B. & Wei, H. (2023). Using imperfect surrogates for downstream inference:
#'   design-based supervised learning for social science applications of large language models. NeurIPS.
#'
#'   Kluger, D. M., Lu, K., Zrnic, T., Wang, S. & Bates, S. (2025). Prediction-powered inference with imputed covariates
#'   and nonuniform sampling. arXiv:2501.18577.
#' @seealso [fit_ppi()], [agreement()].
#' @export
#' @examples
#' set.seed(1)
#' posts <- data.frame(condition = rep(c("a", "b"), 300), is_angry = rbinom(600, 1, .3))
#' posts$code <- ifelse(runif(600) < .15, 1 - posts$is_angry, posts$is_angry)
#' posts$angry <- ifelse(runif(600) < .3, posts$is_angry, NA) # people have read a third
#' levels <- list(condition = c("a", "b"))
#' fit_dsl(posts, "angry ~ condition", list(angry = "code"), levels = levels)$tables$corrections
fit_dsl <- function(data, formula, codes, family = c("gaussian", "binomial"), probability = NULL, predictors = NULL,
                    prediction = c("linear", "logit", "code"), cluster = NULL, fold = NULL, n_folds = 5, by = NULL,
                    levels = NULL, seed = 1, estimator = c("regression", "amce", "marginal_means", "impact_ratio"),
                    labels = NULL, draws = 200) {
  check_arguments(more = list(draws = argument_kinds$whole(2)))
  estimator <- one_of(estimator, corrected_estimators, "estimator")
  if (!is.null(labels) && (!estimator %in% c("regression", "amce") || !all(vapply(labels, is_whole, NA, 1)))) {
    stop_with("`labels` must be whole numbers of texts, of a regression or AMCEs.")
  }
  family <- one_of(family, c("gaussian", "binomial"), "family")
  prediction <- one_of(prediction, c("linear", "logit", "code"), "prediction")
  formula <- coded_formula(data, formula, codes, c(probability, predictors, cluster, fold, by))
  if (anyNA(unlist(data[probability]))) {
    stop_with(sprintf("With what probability texts were drawn (\"%s\") must be known of each.", probability))
  }
  fit_coded(data, formula, codes, by, c(probability, predictors, cluster, fold), levels, function(rows) {
    sample <- coded_sample(rows, probability)
    check_coded_levels(rows, formula, sample$is_coded)
    codes_of <- coded_clusters(rows[cluster])
    if (length(random_terms(formula)) > 0) {
      if (estimator != "regression" || !is.null(labels)) stop_with("A mixed model is a regression, without `labels`.")
      if (length(cluster) > 1) stop_with("A mixed model is corrected over one `cluster`.")
      return(debiased_mixed(formula, rows, codes, family, sample, cluster, draws, seed))
    }
    units <- if (is.null(cluster)) seq_len(nrow(rows)) else codes_of[[1]]
    drawn <- with_seed(seed, sample(rep_len(seq_len(n_folds), max(units))))
    folds <- if (is.null(fold)) drawn[units] else rows[[fold]]
    guessed <- rows
    for (name in names(codes)) {
      guessed[[name]] <- predicted_codes(rows, name, codes, predictors, prediction, sample$is_coded, folds)
    }
    people <- with_people(rows, guessed, names(codes))
    weight <- sample$is_coded / sample$probability
    n_labels <- NULL
    compared <- lapply(estimands(formula, rows, estimator, names(codes), family), function(one) {
      rows <- rows_with(rows, one$columns, sample$is_coded)
      solved <- one$of(solved_moments(
        one$formula, rows_with(guessed, one$columns), rows_with(people, one$columns), weight, family
      ))
      corrected <- coefficients_over(solved, codes_of, sum(sample$is_coded))
      if (!is.null(labels)) n_labels <<- errors_at(labels, corrected, solved, weight, sample)
      compared_methods(corrected, rows, one$formula, codes, family, weight, codes_of, one$of)
    })
    how <- sprintf("design-based supervised learning (%s)", prediction)
    corrected_fit(do.call(rbind, compared), how, estimator, if (!is.null(n_labels)) list(labels = n_labels))
  })
}

corrected_fit <- function(compared, how, estimator = "regression", tables = NULL) {
  statistic <- compared$estimate / compared$std_error
  of_logarithm <- c("estimate", "conf_low", "conf_high")
  if (estimator == "impact_ratio") compared[of_logarithm] <- lapply(compared[of_logarithm], exp)
  is_corrected <- compared$method == "corrected"
  estimates <- cbind(compared, statistic = statistic)[is_corrected, names(empty_table("estimates"))]
  list(
    estimates = as_plain_rows(estimates), tables_of_group = c(list(corrections = compared), tables),
    fit = list(optimiser = how), variances = empty_table("variances"), model = NULL
  )
}

# Standard errors if people had coded other numbers of texts: what a text's label adds counts 1 / pi. Where clusters
# have smaller errors than independent texts, by chance, that shrinks as they do.
errors_at <- function(labels, corrected, solved, weight, sample) {
  variance_of <- function(middle) diag(solved$inverse %*% middle %*% t(solved$inverse))
  now <- corrected$std_error^2
  independent <- variance_of(crossprod(solved$scores))
  possible <- unique(pmin(sort(as.integer(labels)), length(weight))) # of 144 texts nobody codes 500
  do.call(rbind, lapply(possible, function(n) {
    known <- sample$probability[weight != 0]
    drawn <- pmin(1, known * n / sum(sample$is_coded))
    more <- variance_of(crossprod(solved$by_label, solved$by_label * (1 / drawn - 1 / known) / known))
    variance <- now + more * pmin(1, now / independent)
    frame_of(term = corrected$term, n_labels = rep(n, nrow(corrected)), std_error = sqrt(pmax(0, variance)))
  }))
}

# What fit_dsl() and fit_ppi() share: factors, one fit for each group of rows, of which people's codes may be missing.
fit_coded <- function(data, formula, codes, by, columns, levels, fit_one) {
  shown <- setdiff(all.vars(formula), names(codes))
  levels <- level_lists(data, shown, levels[intersect(names(levels), shown)])
  people <- paste0(names(codes), ".people") # a missing one is no missing row
  data[people] <- lapply(data[names(codes)], function(column) ifelse(is.na(column), Inf, as.double(column)))
  used <- unique(c(shown, unlist(codes), columns, people))
  slant_fit(fit_each_group(data, by, used, function(rows) {
    rows[names(codes)] <- lapply(rows[people], function(column) ifelse(is.finite(column), column, NA_real_))
    fit_one(with_factors(rows, character(), levels))
  }))
}

coded_formula <- function(data, formula, codes, columns) {
  if (!is.list(codes) && !is.character(codes) || length(codes) == 0 || is.null(names(codes))) {
    stop_with("`codes` must name a coded variable and its coders' columns, as in list(angry = \"code_of_model\").")
  }
  check_columns(data, character(), to = "correct for a coder's errors")
  formula <- checked_formula(formula, names(data))
  check_columns(data, c(all.vars(formula), names(codes), unlist(codes), columns), to = "correct for a coder's errors")
  if (length(unused <- setdiff(names(codes), all.vars(formula))) > 0) {
    stop_with(sprintf("`codes` names %s, which the formula doesn't have.", quoted(unused)))
  }
  for (name in c(names(codes), unlist(codes))) {
    if (!is.numeric(data[[name]]) && !is.logical(data[[name]])) {
      stop_with(
        sprintf("Codes must be numbers, and \"%s\" is not.", name),
        sprintf("Of categories, make a column of 0 and 1 for each: as.numeric(%s == \"CODE\").", name)
      )
    }
  }
  formula
}

# Which rows people have coded, and with what probability each was drawn.
coded_sample <- function(rows, probability, coded = rows[grep("\\.people$", names(rows))]) {
  is_coded <- rowSums(!sapply(coded, is.finite)) == 0
  n <- sum(is_coded)
  if (n == 0) {
    stop_with(
      "People have coded no text that was drawn at random: nothing can be corrected.",
      "Draw some (collect sample), and have them coded. Texts that were chosen otherwise don't speak for others."
    )
  }
  if (n < fewest_coded) {
    stop_with(
      sprintf("People have coded %d texts here, and intervals hold from %d.", n, fewest_coded),
      "Have more of them coded, drawn at random from all."
    )
  }
  for (name in names(coded)[vapply(coded, function(column) length(unique(column[is_coded])) < 2, NA)]) {
    coded <- quoted(sub("\\.people$", "", name))
    stop_with(sprintf("People gave all texts one code of %s: there is nothing to correct.", coded))
  }
  if (is.null(probability)) {
    message("People's texts are taken for a simple random sample; name the `probability` of each if it is not.")
    return(list(is_coded = is_coded, probability = rep(mean(is_coded), nrow(rows))))
  }
  drawn <- rows[[probability]]
  if (any(drawn <= 0 | drawn > 1)) {
    stop_with(sprintf(
      "Probabilities (\"%s\") must be above 0 and at most 1: a text that nobody could draw can't be spoken for.",
      probability
    ))
  }
  list(is_coded = is_coded, probability = drawn)
}

# People alone, and so the correction, say nothing of a level of which they have seen no text.
check_coded_levels <- function(rows, formula, is_coded) {
  for (name in Filter(function(name) is.factor(rows[[name]]), all.vars(without_random_terms(formula)))) {
    seen <- tabulate(rows[[name]][is_coded], nlevels(rows[[name]]))
    if (any(seen == 0 & tabulate(rows[[name]], nlevels(rows[[name]])) > 0)) {
      stop_with(
        sprintf("People have coded no text of %s = %s.", name, quoted(levels(rows[[name]])[[which(seen == 0)[[1]]]])),
        sprintf("Draw texts of each level: collect sample --by %s", name)
      )
    }
  }
}

# From here on intervals hold in simulations (claim `coded_texts` of bench/truth.R).
fewest_coded <- 40L

# A people's code for every row, predicted by what was seen in other folds.
predicted_codes <- function(rows, name, codes, predictors, prediction, is_coded, folds) {
  if (prediction == "code") {
    return(as.double(rows[[codes[[name]][[1]]]]))
  }
  x <- cbind(1, vapply(unique(c(unlist(codes), predictors)), function(of) as.double(rows[[of]]), double(nrow(rows))))
  found <- double(nrow(rows))
  for (fold in unique(folds)) {
    seen <- is_coded & folds != fold
    if (!any(seen)) stop_with("In all but one fold people have coded nothing: take fewer folds, or have more coded.")
    of <- if (prediction == "logit") stats::binomial() else stats::gaussian()
    model <- suppressWarnings(stats::glm.fit(x[seen, , drop = FALSE], rows[[name]][seen], family = of))
    slopes <- ifelse(is.na(model$coefficients), 0, model$coefficients)
    found[folds == fold] <- of$linkinv(drop(x[folds == fold, , drop = FALSE] %*% slopes))
  }
  found
}

# Rows with people's codes where there are any; elsewhere they have no weight.
with_people <- function(rows, guessed, coded) {
  for (name in coded) rows[[name]] <- ifelse(is.na(rows[[name]]), guessed[[name]], rows[[name]])
  rows
}

# The solution of the estimating equations: list(estimate, inverse of the Jacobian, scores a row, by_label: what each
# labelled row's label changes of them, solve_without). `guessed` counts others - weight, `people` weight; without
# `guessed`, people's codes alone.
solved_moments <- function(formula, guessed, people, weight, family, others = 1) {
  labelled <- which(weight != 0)
  part_of <- function(rows, places, weights) {
    rows <- rows[all.vars(formula)]
    rows <- if (is.null(places)) rows else rows[places, , drop = FALSE]
    frame <- stats::model.frame(formula, rows, na.action = stats::na.pass)
    list(
      x = stats::model.matrix(formula, frame), y = as.double(frame[[1]]), weight = weights,
      places = if (is.null(places)) seq_along(weight) else places
    )
  }
  of_people <- if (length(labelled) > 0) part_of(people, labelled, weight[labelled])
  of_guessed <- if (!is.null(guessed)) part_of(guessed, NULL, rep_len(others, length(weight)) - weight)
  parts <- Filter(Negate(is.null), list(of_guessed, of_people))
  is_linear <- family != "binomial"
  inverse_link <- if (is_linear) identity else stats::plogis
  residuals_of <- function(part, estimate) part$y - inverse_link(drop(part$x %*% estimate))
  slope_of <- function(part, estimate) {
    slope <- if (is_linear) 1 else stats::dlogis(drop(part$x %*% estimate))
    crossprod(part$x, part$x * (part$weight * slope))
  }
  solve_on <- function(parts) {
    estimate <- double(ncol(parts[[1]]$x))
    slope <- NULL
    for (step in 1:50) {
      if (!is_linear || step == 1) slope <- Reduce(`+`, lapply(parts, slope_of, estimate))
      gradient <- Reduce(`+`, lapply(parts, function(part) {
        crossprod(part$x, part$weight * residuals_of(part, estimate))
      }))
      change <- tryCatch(drop(solve(slope, gradient)), error = function(problem) NULL)
      if (is.null(change) || !all(is.finite(change))) stop_with(unsolved)
      estimate <- estimate + change
      if (max(abs(change)) < 1e-12 * max(1, abs(estimate))) break
    }
    if (step == 50) stop_with(unsolved)
    list(estimate = estimate, inverse = solve(slope))
  }
  solved <- solve_on(parts)
  residuals <- lapply(parts, residuals_of, solved$estimate)
  scores <- Map(function(part, residual) part$x * (part$weight * residual), parts, residuals)
  all_scores <- scores[[1]]
  by_label <- NULL
  if (length(parts) == 2) {
    all_scores[labelled, ] <- all_scores[labelled, ] + scores[[2]]
    by_label <- of_people$x * residuals[[2]] - (of_guessed$x * residuals[[1]])[labelled, , drop = FALSE]
  }
  names(solved$estimate) <- colnames(parts[[1]]$x)
  c(solved, list(scores = all_scores, by_label = by_label, without = function(is_out) {
    solve_on(lapply(parts, function(part) {
      is_in <- !is_out[part$places]
      list(x = part$x[is_in, , drop = FALSE], y = part$y[is_in], weight = part$weight[is_in])
    }))$estimate
  }))
}

unsolved <- paste(
  "The corrected equations have no solution here: a term does not vary apart from the others,",
  "or too few of its texts were coded by people."
)

coefficients_over <- function(solved, clusters, n_coded) {
  n_terms <- length(solved$estimate)
  if (is.null(clusters)) {
    error <- sqrt(diag(solved$inverse %*% crossprod(solved$scores) %*% t(solved$inverse)))
    df <- as.double(max(1, n_coded - max(n_terms, solved$n_coefficients)))
    return(coefficient_rows(solved$estimate, frame_of(std_error = error, df = rep(df, n_terms))))
  }
  n <- lengths(lapply(clusters, unique))
  if (any(n < least_to_generalise)) stop_with("Errors over clusters need three or more.")
  changes <- solved$scores %*% t(solved$inverse)
  variance <- variance_over(clusters, function(codes) {
    each <- unique(codes)
    n <- length(each)
    if (n >= fewest_clusters) {
      return(clustered_error(changes, list(codes))$std_error^2)
    }
    message(sprintf("%d clusters are fewer than %d: errors are of fits without each in turn.", n, fewest_clusters))
    without <- vapply(each, function(one) solved$without(codes == one), solved$estimate)
    rowSums((matrix(without, n_terms) - solved$estimate)^2) * (n - 1) / n
  })
  coefficient_rows(solved$estimate, frame_of(std_error = sqrt(variance), df = rep(capped_df(n), n_terms)))
}

coded_clusters <- function(columns) {
  if (length(columns) > 0) lapply(columns, function(values) match(values, unique(values)))
}

# The same regression by codes taken as truth and by people alone, next to the corrected one.
compared_methods <- function(corrected, rows, formula, codes, family, weight, clusters, of = identity) {
  taken <- rows
  for (name in names(codes)) taken[[name]] <- as.double(rows[[codes[[name]][[1]]]])
  coder <- coefficients_over(
    of(solved_moments(formula, taken, taken, 0 * weight, family)), clusters, nrow(rows)
  )
  is_coded <- weight > 0
  of_people <- coded_clusters(lapply(clusters, `[`, is_coded))
  people <- coefficients_over(
    of(solved_moments(formula, NULL, rows[is_coded, , drop = FALSE], weight[is_coded], family)), of_people,
    sum(is_coded)
  )
  next_to_each_other(list(coder = coder, people = people, corrected = corrected), nrow(rows), sum(is_coded))
}

next_to_each_other <- function(tables, n_texts, n_coded) {
  shown <- c("term", "estimate", "std_error", "df", "p_value", "conf_low", "conf_high")
  n <- c(n_texts, n_coded, n_texts)
  found <- do.call(rbind, Map(function(method, table, n) {
    cbind(frame_of(method = rep(method, nrow(table))), table[shown], n = n)
  }, names(tables), tables, n))
  as_plain_rows(found)
}
