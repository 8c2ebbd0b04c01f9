#' Differences of versions from a baseline, one change at a time
#'
#' Each version of a text changes one attribute of the baseline. For each material (an advertisement, say) and
#' respondent, the mean of a version's repetitions minus that of the baseline; the mean of these over materials, which
#' are what it generalises over. A placebo is a version that should change nothing: what another one adds to its
#' difference is what the change itself does.
#'
#' Sampling alone makes a mean absolute difference positive. The table therefore also has the mean absolute difference
#' after the repetitions of a version and of the baseline were shuffled within each material and respondent.
#'
#' @inheritParams marginal_means
#' @param attributes names of the columns that change; the first of their `levels` is the baseline. A row in which two
#'   of them have changed is an error.
#' @param material names of the columns that say what a version was made of.
#' @param placebo levels that should change nothing, or `NULL`.
#' @param respondent name of the column of those who answered (`"model"`), averaged within a material; or `NULL`.
#' @param bound the smallest difference that would matter, in units of the outcome, or `NULL`: nothing is called
#'   equivalent without one.
#' @param draws how often repetitions are shuffled.
#' @return A [slant_fit]. `estimates` has a row for each version (`"attribute: level"`) and one for its difference from
#'   the mean of the placebos (`"attribute: level - placebo"`, over the materials and respondents that have both): mean,
#'   standard error and 95 % t interval over materials. `tables$versions` adds `attribute`, `level`, `n_materials`,
#'   `n_pairs`, `p_adjusted` (Holm, over all rows of a group), `mean_absolute`, and the mean and the central 95 % of the
#'   mean absolute differences of shuffled repetitions, in units of the outcome; with a `bound` also `bound`,
#'   `p_equivalence` (two one-sided t tests over materials) and `finding`: `"equivalent within the bound"`, `"differs by
#'   more than the bound"` or `"not decided"`.
#' @noRd
paired_differences <- function(data, outcome, attributes, material, placebo = NULL, respondent = NULL, levels = NULL,
                               by = NULL, bound = NULL, draws = 200, seed = 1) {
  check_arguments()
  used <- c(attributes, material, respondent)
  check_columns(data, c(outcome, used, by), to = "compare versions with a baseline")
  slant_fit(fit_each_group(data, by, c(outcome, used), function(rows) {
    check_outcome(rows, outcome)
    versions <- shown_versions(rows, attributes, levels)
    values <- list(
      y = as.double(rows[[outcome]]), version = versions$code,
      material = group_codes(rows, material), pair = group_codes(rows, c(material, respondent))
    )
    with_seed(seed, version_rows(values, versions, placebo, bound, draws))
  }))
}

# Which version each row shows: list(code, 0 for the baseline; keys, a row per version), or a sentence.
shown_versions <- function(rows, attributes, levels) {
  changed <- vapply(attributes, function(name) {
    known <- as.character(unlist(levels[[name]]))
    if (length(known) == 0) known <- base::levels(as.factor(rows[[name]]))
    match(as.character(rows[[name]]), known) - 1L
  }, integer(nrow(rows)))
  changed <- matrix(changed, ncol = length(attributes))
  if (anyNA(changed)) stop_with("`levels` of an attribute lack a value that is in the rows.")
  if (any(rowSums(changed > 0) > 1)) stop_with("A version must differ from the baseline in one attribute, not in two.")
  column <- max.col(cbind(.5, changed), "first") - 1L
  level <- ifelse(column == 0, 0L, changed[cbind(seq_len(nrow(rows)), pmax(column, 1L))])
  order <- order(column, level)
  keys <- unique(cbind(column, level)[order, , drop = FALSE][column[order] > 0, , drop = FALSE])
  if (all(column > 0) || nrow(keys) == 0) stop_with("There are no rows of the baseline, or none of another version.")
  names <- vapply(seq_len(nrow(keys)), function(i) {
    as.character(rows[[attributes[keys[i, 1]]]][which(column == keys[i, 1] & level == keys[i, 2])[1]])
  }, "")
  code <- match(paste(column, level), paste(keys[, 1], keys[, 2]), nomatch = 0L)
  list(code = code, keys = frame_of(attribute = attributes[keys[, 1]], level = names))
}

version_rows <- function(values, versions, placebo, bound, draws) {
  if (length(unknown <- setdiff(placebo, versions$keys$level)) > 0) {
    stop_with(sprintf("`placebo` names %s, which is no version here.", quoted(unknown)))
  }
  keys <- versions$keys
  material_of <- values$material[match(seq_len(max(values$pair)), values$pair)]
  means <- vapply(0:nrow(keys), function(code) pair_means(values, code), numeric(length(material_of)))
  differences <- means[, -1, drop = FALSE] - means[, 1]
  is_placebo <- keys$level %in% placebo
  floor <- rowMeans(differences[, is_placebo, drop = FALSE])
  beyond <- differences[, !is_placebo & length(placebo) > 0, drop = FALSE] - floor
  terms <- level_terms_of(keys)
  own <- lapply(seq_along(terms), function(i) mean_over(differences[, i], material_of, terms[i]))
  from <- lapply(seq_len(ncol(beyond)), function(i) {
    mean_over(beyond[, i], material_of, paste(terms[!is_placebo][i], "placebo", sep = " - "))
  })
  estimates <- do.call(rbind, c(own, from))
  shuffled <- vapply(seq_along(terms), function(code) shuffled_absolute(values, code, draws), numeric(3))
  counted <- function(found) colSums(!is.na(found))
  empty <- rep(NA_real_, ncol(beyond))
  table <- frame_of(
    term = estimates$term, attribute = c(keys$attribute, keys$attribute[!is_placebo][seq_len(ncol(beyond))]),
    level = c(keys$level, keys$level[!is_placebo][seq_len(ncol(beyond))]),
    n_materials = as.integer(estimates$df + 1),
    n_pairs = as.integer(c(counted(differences), counted(beyond))),
    p_adjusted = stats::p.adjust(estimates$p_value, "holm"),
    mean_absolute = c(colMeans(abs(differences), na.rm = TRUE), empty),
    shuffled_mean = c(shuffled[1, ], empty), shuffled_low = c(shuffled[2, ], empty),
    shuffled_high = c(shuffled[3, ], empty)
  )
  if (!is.null(bound)) {
    tests <- two_one_sided_tests(
      estimates$estimate, estimates$std_error, estimates$df, estimates$p_value, bound, .05, "material"
    )
    table <- cbind(table, tests[c("bound", "p_equivalence", "finding")])
  }
  list(estimates = estimates, tables_of_group = list(versions = table))
}

level_terms_of <- function(keys) paste(keys$attribute, keys$level, sep = ": ")

# The mean of the repetitions of a version for each pair of material and respondent; NA where it was not shown.
pair_means <- function(values, code) {
  is_own <- values$version == code
  sums <- rowsum(cbind(values$y[is_own], 1), values$pair[is_own])
  means <- rep(NA_real_, max(values$pair))
  means[as.integer(rownames(sums))] <- sums[, 1] / sums[, 2]
  means
}

# The mean over materials, each of them the mean of its respondents.
mean_over <- function(differences, material, term) {
  is_there <- !is.na(differences)
  if (!any(is_there)) {
    warning(sprintf("\"%s\" has no material that both versions were made of.", term), call. = FALSE)
    return(estimate_rows(term, NA_real_, NA_real_))
  }
  of_materials <- as.vector(tapply(differences[is_there], material[is_there], mean))
  n <- length(of_materials)
  if (n < 2) warning(sprintf("\"%s\" rests on one material: it has no interval.", term), call. = FALSE)
  std_error <- if (n < 2) NA_real_ else stats::sd(of_materials) / sqrt(n)
  if (isTRUE(std_error == 0)) {
    warning(sprintf("\"%s\" is the same for all materials: it has no interval.", term), call. = FALSE)
    std_error <- NA_real_
  }
  tested_rows(term, mean(of_materials), std_error, n - 1)
}

# The mean absolute difference if a version's repetitions are those of the baseline: mean and central 95 % of draws.
shuffled_absolute <- function(values, code, draws) {
  both <- intersect(values$pair[values$version == code], values$pair[values$version == 0])
  rows <- which(values$version %in% c(0, code) & values$pair %in% both)
  rows <- rows[order(values$pair[rows])]
  pair <- match(values$pair[rows], unique(values$pair[rows]))
  y <- values$y[rows]
  n <- tabulate(pair)
  n_own <- tabulate(pair[values$version[rows] == code], length(n))
  place <- sequence(n)
  is_own <- place <= n_own[pair]
  found <- vapply(seq_len(draws), function(draw) {
    drawn <- y[order(pair, stats::runif(length(y)))]
    own <- rowsum(drawn * is_own, pair)[, 1] / n_own
    mean(abs(own - rowsum(drawn * !is_own, pair)[, 1] / (n - n_own)))
  }, 1)
  c(mean(found), stats::quantile(found, c(.025, .975), names = FALSE))
}
