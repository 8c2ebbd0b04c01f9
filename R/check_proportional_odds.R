#' Does a level shift ratings alike at every point of the scale?
#'
#' A cumulative model has one effect for all thresholds of the scale. Each attribute in turn gets an effect for each
#' threshold (`ordinal::clm(nominal = )`). With many ratings the test finds any departure: what counts is `largest_gap`,
#' by how much the probability of a point then differs from what the model with one effect says.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per rating.
#' @param outcome name of the column with the ratings.
#' @param attributes names of the columns with groups of the ratings.
#' @param levels a list by attribute of its levels, the reference first, and of the rating, its points.
#' @return A data frame with one row per group and attribute: `attribute`; `n`; `chi_squared`, `df`, `p_value` of the
#'   likelihood ratio test; `largest_gap` (a difference of probabilities, 0 to 1) with the `level` and the `category`
#'   where it is; `status`, `messages`.
#' @source Christensen (2022), R package ordinal (`nominal_test()`).
#' @noRd
check_proportional_odds <- function(data, attributes, by = NULL, outcome = "rating", levels = NULL) {
  need_package("ordinal", "compare effects at the points of a scale")
  empty <- data.frame(
    attribute = character(), n = integer(), chi_squared = double(), df = double(), p_value = double(),
    largest_gap = double(), level = character(), category = character()
  )
  known <- listed_levels(data, attributes, levels[intersect(names(levels), attributes)])
  check_each_group(data, by, c(outcome, attributes), empty, function(rows) {
    rows <- rows[c(outcome, attributes)]
    # predictions depend on no coding, and ordinal warns of contrasts that are set
    for (name in attributes) rows[[name]] <- factor(as.character(rows[[name]]), known[[name]])
    rows[[outcome]] <- rated_points(rows[[outcome]], outcome, levels[[outcome]])
    model <- rating_model(rows, outcome, attributes)
    do.call(rbind, lapply(attributes, function(name) odds_of_attribute(name, model, rows, outcome, attributes)))
  })
}

rating_model <- function(rows, outcome, attributes, nominal = NULL) {
  one_effect <- setdiff(attributes, nominal)
  formula <- stats::reformulate(if (length(one_effect) > 0) one_effect else "1", outcome)
  environment(formula) <- list2env(list(rows = rows, model.frame = stats::model.frame), parent = baseenv())
  if (is.null(nominal)) {
    return(ordinal::clm(formula, data = rows))
  }
  each_threshold <- stats::reformulate(nominal)
  environment(each_threshold) <- environment(formula)
  # the call is kept in the model, and asked when it predicts
  eval(bquote(ordinal::clm(.(formula), nominal = .(each_threshold), data = rows)), environment(formula))
}

odds_of_attribute <- function(name, model, rows, outcome, attributes) {
  free <- rating_model(rows, outcome, attributes, name)
  chi_squared <- as.numeric(2 * (stats::logLik(free) - stats::logLik(model)))
  df <- as.double(attr(stats::logLik(free), "df") - attr(stats::logLik(model), "df"))
  gaps <- vapply(levels(rows[[name]]), function(level) {
    at <- rows[setdiff(names(rows), outcome)]
    at[[name]] <- as_constant(at[[name]], level)
    colMeans(stats::predict(free, at, type = "prob")$fit) - colMeans(stats::predict(model, at, type = "prob")$fit)
  }, double(nlevels(rows[[outcome]])))
  worst <- arrayInd(which.max(abs(gaps)), dim(gaps))
  frame_of(
    attribute = name, n = nrow(rows), chi_squared = chi_squared, df = df,
    p_value = stats::pchisq(chi_squared, df, lower.tail = FALSE), largest_gap = abs(gaps[worst]),
    level = levels(rows[[name]])[[worst[[2]]]], category = levels(rows[[outcome]])[[worst[[1]]]]
  )
}
