#' How consistent forced choices are, and estimates corrected for it
#'
#' A choice between two profiles that is shown twice, the second time with its sides swapped, measures how consistent a
#' respondent is: the share of equal choices (`irr`), and the share of choices that are flipped by chance,
#' τ = (1 - √(2 irr - 1)) / 2, the same for all respondents. A marginal mean x of people is corrected as
#' (x - τ) / (1 - 2τ), an effect as x / (1 - 2τ), next to the uncorrected ones, never in their place. Inconsistent
#' choices of a model are not a person's slips, so that `irr` and τ are all that is said of models.
#'
#' @param data a data frame, a row a profile that was shown, two profiles a task.
#' @param outcome,repeated names of columns of 0 and 1: whether the profile was chosen, and whether it was chosen when
#'   its task was shown again with sides swapped (missing where it was not).
#' @param attributes names of the attributes; their first level (of a factor; else in the order of the alphabet) is the
#'   reference of effects.
#' @param cluster name of the column over which samples are drawn for intervals: the respondent.
#' @param of whose choices these are: `"people"`, or `"models"`.
#' @param draws how many samples of clusters are drawn.
#' @inheritParams agreement
#' @param levels a named list of the levels of `attributes`, the reference first.
#' @return A [slant_fit]. `estimates` are uncorrected. `tables$choices`: for each group the rows `irr` and `tau`
#'   (`statistic`), of people also `marginal_mean` and `amce` by `attribute` and `level`, each with `estimate`,
#'   `conf_low`, `conf_high`, `corrected`, `corrected_low`, `corrected_high` and `n` (tasks shown twice, or profiles).
#'   If half of the choices or fewer are equal there is no τ, and a message says so; if that may be, by the samples,
#'   corrected values have no interval.
#' @references Clayton, K., Horiuchi, Y., Kaufman, A. R., King, G., & Komisarchik, M. (2023). Correcting measurement
#'   error bias in conjoint survey experiments. American Journal of Political Science.
#' @seealso [marginal_means()] and [amce()], uncorrected, with the errors that the design asks for.
#' @export
#' @examples
#' set.seed(1)
#' pairs <- data.frame(respondent = rep(1:100, each = 2),
#'   size = sample(c("small", "large"), 200, TRUE))
#' pairs$chosen <- rep(rbinom(100, 1, .6), each = 2)
#' pairs$chosen[c(FALSE, TRUE)] <- 1 - pairs$chosen[c(TRUE, FALSE)]
#' is_equal <- rep(rbinom(100, 1, .8), each = 2)
#' pairs$again <- ifelse(is_equal == 1, pairs$chosen, 1 - pairs$chosen)
#' corrected_choices(pairs, attributes = "size", draws = 200)$tables$choices
corrected_choices <- function(data, outcome = "chosen", repeated = "again", attributes = character(),
                              cluster = "respondent", of = c("people", "models"), by = NULL, draws = 1000, alpha = .05,
                              seed = 1, levels = NULL) {
  check_arguments(more = list(draws = argument_kinds$whole(0)))
  of <- one_of(of, c("people", "models"), "of")
  check_columns(data, c(outcome, repeated, attributes, cluster, by), to = "correct choices")
  attributes <- if (of == "people") attributes else character()
  known <- level_lists(data, attributes, levels[intersect(names(levels), attributes)])
  shown <- c(outcome, repeated)
  data[shown] <- lapply(data[shown], function(column) ifelse(is.na(column), Inf, as.double(column))) # no missing row
  slant_fit(fit_each_group(data, by, unique(c(shown, attributes, cluster)), function(rows) {
    rows[shown] <- lapply(rows[shown], function(column) ifelse(is.finite(column), column, NA_real_))
    rows[names(known)] <- Map(function(values, listed) factor(values, listed), rows[names(known)], known)
    found <- as_plain_rows(corrected_group(rows, outcome, repeated, attributes, cluster, draws, alpha, seed))
    term <- sub("[: ]+$", "", paste0(found$statistic, ": ", found$attribute, " ", found$level))
    list(
      estimates = estimate_rows(term, found$estimate, NA_real_, conf_low = found$conf_low, conf_high = found$conf_high),
      tables_of_group = list(choices = found), variances = empty_table("variances"), model = NULL,
      fit = list(optimiser = sprintf("bootstrap over clusters: %s", cluster))
    )
  }))
}

corrected_group <- function(data, outcome, again, attributes, cluster, draws, alpha, seed) {
  codes <- match(data[[cluster]], unique(data[[cluster]]))
  chosen <- as.double(data[[outcome]])
  repeated <- as.double(data[[again]])
  if (!all(c(chosen, repeated) %in% c(0, 1, NA))) stop_with("Choices must be 0, 1 or missing.")
  is_twice <- !is.na(chosen) & !is.na(repeated)
  if (!any(is_twice)) stop_with(sprintf("No choice was shown twice: `%s` is missing in all rows.", again))
  # how often each cluster is in each sample, a sample a row; the first row has each once: the data themselves
  n_clusters <- max(codes)
  weights <- rbind(rep(1, n_clusters), t(matrix(with_seed(seed, vapply(seq_len(draws), function(i) {
    as.double(tabulate(sample.int(n_clusters, replace = TRUE), n_clusters))
  }, double(n_clusters))), n_clusters)))
  sums_of <- function(values) as.vector(weights %*% rowsum(as.double(values), codes))
  irr <- sums_of(is_twice & chosen == repeated & is_twice) / sums_of(is_twice)
  tau <- ifelse(irr > .5, (1 - sqrt(pmax(0, 2 * irr - 1))) / 2, NA)
  if (is.na(tau[[1]])) {
    equal <- 100 * irr[[1]]
    said <- "%.0f %% of the choices are equal: with half or fewer there is no \u03c4, and no correction."
    message(sprintf(said, equal))
  }
  if (!is.na(tau[[1]]) && anyNA(tau)) {
    message("In some samples half of the choices or fewer are equal: \u03c4 and corrected values have no interval.")
  }
  n_twice <- sum(is_twice) / 2
  rows <- list(
    choice_row("irr", "", "", irr, NULL, n_twice, alpha), choice_row("tau", "", "", tau, NULL, n_twice, alpha)
  )
  for (name in attributes) {
    values <- data[[name]]
    levels <- if (is.factor(values)) levels(droplevels(values)) else sort(unique(as.character(values)))
    is_seen <- !is.na(chosen)
    means <- lapply(levels, function(level) {
      is_level <- is_seen & data[[name]] %in% level
      sums_of(ifelse(is_level, chosen, 0)) / sums_of(is_level)
    })
    n <- vapply(levels, function(level) sum(is_seen & data[[name]] %in% level), 1)
    rows <- c(
      rows,
      Map(function(level, x, n) {
        choice_row("marginal_mean", name, level, x, (x - tau) / (1 - 2 * tau), n, alpha)
      }, levels, means, n),
      Map(function(level, x, n) {
        choice_row("amce", name, level, x - means[[1]], (x - means[[1]]) / (1 - 2 * tau), n, alpha)
      }, levels[-1], means[-1], n[-1])
    )
  }
  do.call(rbind, unname(rows))
}

choice_row <- function(statistic, attribute, level, values, corrected, n, alpha) {
  ends <- function(values) {
    if (anyNA(values) || length(values) < 2) c(NA, NA) else stats::quantile(values[-1], c(alpha / 2, 1 - alpha / 2))
  }
  interval <- ends(values)
  of_corrected <- if (is.null(corrected)) c(NA, NA, NA) else c(corrected[[1]], ends(corrected))
  data.frame(
    statistic = statistic, attribute = attribute, level = level, estimate = values[[1]], conf_low = interval[[1]],
    conf_high = interval[[2]], corrected = of_corrected[[1]], corrected_low = of_corrected[[2]],
    corrected_high = of_corrected[[3]], n = n
  )
}
