#' Does a study come to the same with the model's successor?
#'
#' The mean and each effect of a level in the answers of two models (or of one on two occasions) to the same prompts,
#' the difference of the two, and whether it lies within a bound of what would matter.
#'
#' Prompts are pairs: effects of the difference, new less old, are computed as each side's own ([amce()], or of versions
#' of one material against the baseline of that), so that what prompts share drops out. Errors are over the same
#' clusters. The mean generalises over the factor whose levels have properties, if the study declares one, else over
#' `cluster`. The verdict of each difference is that of [alike()]: two one-sided tests, or an interval beyond the bound;
#' `verdict_holm` is the same after Holm's correction over all differences in the result. Differences of shares that are
#' the same for every prompt (0, or 1) have the error with which the limit of a one-sided test is 3 / n from them.
#'
#' Answers on a scale may also be linked by mean and SD over the prompts that both answered (20 or more): `linked` is
#' the new effect in the old unit, so that later changes within the successor can be compared with what the old model
#' showed. Its error includes that of the ratio of SDs (of paired answers to independent prompts). A mean that is linked
#' is the old one, and says nothing: a difference of old and new is never linked. `is_linkable` says whether one unit
#' serves both: `FALSE` where answers to the same prompts correlate by less than .5 (`item_correlation`), where items
#' differ between the models beyond their error (`p_items`, of the mean over items of squared linked differences less
#' their squared error, one-sided), or where an effect differs even when linked; the last two by Holm's correction
#' together. The error of an item is that of repetitions of its prompt or, without them, of its several prompts; `NA`
#' where there are neither for 20 items.
#'
#' @inheritParams amce
#' @param data a data frame with one row per prompt (and profile): `old` and `new`, the answer on either side (the mean
#'   of repetitions, or the share that was refused), and the columns that the other arguments name; used if present:
#'   `old_error` and `new_error`, the standard errors of means of repetitions.
#' @param attributes names of the columns with levels, or `NULL`: only means are compared. What has one level is no
#'   attribute there.
#' @param material names of the columns that tell materials apart, if each level is a change of one attribute against
#'   the baseline (the first levels) of one material.
#' @param bound the smallest difference that would matter, in units of the answer: one number, or numbers by the value
#'   of the column `measure`. Without one there are intervals, and no verdict.
#' @param rates values of the column `measure` of which means alone are compared.
#' @param alpha the level of the tests.
#' @return A data frame, a row for the `mean` and each level (`term`) of each group: `old` and `new` with their 95 %
#'   intervals (`old_low` …), `difference` (new less old) with `std_error`, `df`, `conf_low`, `conf_high`, `p_value`;
#'   `bound`, `p_equivalence`, `p_beyond`, `verdict`, `verdict_holm`; `linked`, `linked_error`, `item_correlation`,
#'   `p_items`, `is_linkable`; `n_prompts`, `status`, `messages`.
#' @export
#' @examples
#' prompts <- expand.grid(group = c("a", "b"), job = c("clerk", "nurse"), item = 1:40)
#' prompts$old <- 4 + .5 * (prompts$group == "b") + sin(seq_len(nrow(prompts)))
#' prompts$new <- prompts$old + .2 * cos(3 * seq_len(nrow(prompts)))
#' compare_successor(prompts, c("group", "job"), cluster = "item",
#'   bound = .25)[c("term", "difference", "verdict")]
compare_successor <- function(data, attributes = NULL, cluster = NULL, levels = NULL, linked = list(), material = NULL,
                              by = NULL, declared = NULL, bound = NULL, rates = NULL, alpha = .05) {
  bound <- unlist(bound)
  check_arguments(more = list(bound = list(
    must_be = "numbers above 0", is_right = function(value) is.numeric(value) && all(is.finite(value) & value > 0)
  )))
  linked <- checked_pairs(linked, attributes)
  declared <- checked_declaration(declared)
  used <- unique(c("old", "new", cluster_columns(cluster), material, unlist(declared, use.names = FALSE)))
  check_columns(data, c(used, attributes), to = "compare a successor")
  empty <- columns_of(
    "term:text old old_low old_high new new_low new_high difference std_error df conf_low conf_high p_value bound",
    "p_equivalence p_beyond verdict:text n_prompts:whole linked linked_error item_correlation p_items is_linkable:flag"
  )
  found <- check_each_group(data, by, used, empty, function(rows) {
    named <- if (isTRUE(rows$measure[[1]] %in% rates)) character() else attributes
    shown <- Filter(function(name) length(unique(stats::na.omit(rows[[name]]))) > 1, named)
    rows$change <- as.double(rows$new) - as.double(rows$old)
    effects_in <- function(rows, outcome) {
      mean_and_effects(rows, outcome, shown, cluster, levels, linked, material, declared)
    }
    of <- lapply(c(old = "old", new = "new", change = "change"), effects_in, rows = rows)
    limit <- if (length(bound) > 1 || !is.null(names(bound))) bound[as.character(rows$measure[[1]])] else bound
    found <- changes_in_verdicts(of, if (length(limit) == 0) NA_real_ else unname(limit), alpha, nrow(rows))
    cbind(found, linked_effects(rows, found$term, of$new, effects_in, shown, c(cluster, material), alpha))
  })
  corrected <- function(p) stats::p.adjust(p, "holm") < alpha
  found$verdict_holm <- words_of_verdict(corrected(found$p_equivalence), corrected(found$p_beyond))
  found$verdict_holm[is.na(found$bound)] <- NA
  found
}

least_to_link <- 20

# The new effects in the unit of the old answers: times the ratio of SDs, whose logarithm has the variance
# (1 - r^2) / (n - 1) over pairs of answers with the correlation r.
linked_effects <- function(rows, terms, new, effects_in, attributes, cluster, alpha) {
  none <- frame_of(
    linked = rep(NA_real_, length(terms)), linked_error = NA_real_, item_correlation = NA_real_, p_items = NA_real_,
    is_linkable = rep(NA, length(terms))
  )
  answers <- unlist(rows[c("old", "new")])
  sds <- vapply(rows[c("old", "new")], stats::sd, 0)
  if (nrow(rows) < least_to_link || all(answers >= 0 & answers <= 1) || !all(sds > 0)) { # shares have one unit
    return(none)
  }
  ratio <- sds[["old"]] / sds[["new"]]
  correlation <- stats::cor(rows$old, rows$new)
  rows$change <- rows$old - ratio * rows$new
  left <- effects_in(rows, "change")
  place <- match(terms, new$term)
  none$linked <- ifelse(terms == "mean", NA, ratio * new$estimate[place])
  error <- (1 - correlation^2) / (nrow(rows) - 1)
  none$linked_error <- sqrt((ratio * new$std_error[place])^2 + none$linked^2 * error)
  none$item_correlation <- correlation
  none$p_items <- p_of_items(rows, ratio, attributes, cluster)
  p_values <- stats::p.adjust(c(none$p_items[[1]], left$p_value[left$term != "mean"]), "holm")
  differs <- correlation < .5 || any(p_values < alpha, na.rm = TRUE)
  none$is_linkable[terms != "mean"] <- if (differs) FALSE else if (is.na(none$p_items[[1]])) NA else TRUE
  none
}

# Whether the linked answers of items differ between the models by more than their error: the square of each item's
# difference (beyond what levels explain) less the square of its error is 0 in the mean where they don't.
p_of_items <- function(rows, ratio, attributes, cluster) {
  levels <- lapply(rows[attributes], factor, exclude = NULL)
  design <- if (length(levels) == 0) matrix(1, nrow(rows)) else stats::model.matrix(~., as.data.frame(levels))
  fit <- stats::lm.fit(design, rows$change)
  unexplained <- fit$residuals * sqrt(nrow(rows) / max(1, fit$df.residual))
  square <- unexplained^2
  errors <- if (all(c("old_error", "new_error") %in% names(rows))) rows$old_error^2 + (ratio * rows$new_error)^2
  if (sum(!is.na(errors)) < least_to_link) {
    of_item <- split(unexplained, group_codes(rows, cluster_columns(cluster)))
    of_item <- of_item[lengths(of_item) > 1]
    square <- vapply(of_item, mean, 0)^2
    errors <- vapply(of_item, stats::var, 0) / lengths(of_item)
  }
  beyond <- (square - errors)[!is.na(errors)]
  if (length(beyond) < least_to_link || stats::var(beyond) == 0) {
    return(NA_real_)
  }
  stats::pt(mean(beyond) / stats::sd(beyond) * sqrt(length(beyond)), length(beyond) - 1, lower.tail = FALSE)
}

# The mean and each effect of a level in the answers (`value`) of each group.
level_effects <- function(data, by, attributes = NULL, cluster = NULL, levels = NULL, linked = list(), material = NULL,
                          declared = NULL) {
  linked <- checked_pairs(linked, attributes)
  declared <- checked_declaration(declared)
  used <- unique(c("value", cluster_columns(cluster), material, unlist(declared, use.names = FALSE)))
  empty <- columns_of("term:text estimate std_error df conf_low conf_high p_value")
  check_each_group(data, by, used, empty, function(rows) {
    shown <- Filter(function(name) length(unique(stats::na.omit(rows[[name]]))) > 1, attributes)
    mean_and_effects(rows, "value", shown, cluster, levels, linked, material, declared)[names(empty)]
  })
}

mean_and_effects <- function(rows, outcome, attributes, cluster, levels, linked, material, declared) {
  is_constant <- length(unique(rows[[outcome]])) == 1 # a regression has nothing to explain there
  effects <- if (length(attributes) == 0 || is_constant) {
    NULL
  } else if (length(material) > 0) {
    versions <- shown_versions(rows, attributes, levels)
    values <- list(y = as.double(rows[[outcome]]), version = versions$code, pair = group_codes(rows, material))
    means <- vapply(0:nrow(versions$keys), function(code) pair_means(values, code), double(max(values$pair)))
    terms <- level_terms_of(versions$keys)
    do.call(rbind, lapply(seq_along(terms), function(i) {
      mean_over(means[, i + 1] - means[, 1], seq_len(nrow(means)), terms[[i]])
    }))
  } else {
    made <- attribute_rows(rows, outcome, attributes, clusters_here(rows, cluster), NULL, levels, declared)
    is_pair <- vapply(linked, function(pair) all(pair %in% attributes), NA)
    do.call(rbind, lapply(parts_of_effects(made, attributes, linked[is_pair]), `[[`, "estimates"))
  }
  rbind(mean_over_prompts(rows, outcome, if (length(material) > 0) material else cluster, declared), effects)
}

# Fewer than three clusters say nothing of others; two columns with so few leave independent rows.
clusters_here <- function(rows, cluster) {
  Filter(function(name) max(group_codes(rows, cluster_columns(name))) >= least_to_generalise, cluster)
}

# The mean, over what has properties (names) where that is declared, else over the clusters.
mean_over_prompts <- function(rows, outcome, cluster, declared) {
  parents <- clusters_here(rows, unique(unlist(declared$properties)))
  over <- if (length(parents) > 0) parents[seq_len(min(2, length(parents)))] else clusters_here(rows, cluster)
  choice <- if (length(over) == 0) independent_rows(rows, "") else cluster_of_columns(rows, over, "")
  one <- factor(rep("mean", nrow(rows)))
  made <- list(
    y = as.double(rows[[outcome]]), weights = rep(1, nrow(rows)), choice = choice, cluster = choice$codes[[1]]
  )
  mean <- means_of_levels(one, made, "small_sample")$rows
  mean$statistic <- mean$estimate / mean$std_error
  mean$p_value <- 2 * stats::pt(-abs(mean$statistic), mean$df)
  if (outcome == "change") { # no share, even where it is 0 or 1 for all prompts
    half <- stats::qt(.975, mean$df) * mean$std_error
    mean[c("conf_low", "conf_high")] <- list(mean$estimate - half, mean$estimate + half)
  }
  if (outcome == "change" && length(unique(made$y)) == 1 && all(unlist(rows[c("old", "new")]) %in% 0:1)) {
    n <- max(choice$codes[[1]])
    std_error <- 3 / n / stats::qt(.95, n - 1)
    p_value <- 2 * stats::pt(-abs(made$y[[1]]) / std_error, n - 1)
    limits <- pmin(1, pmax(-1, made$y[[1]] + c(-3, 3) / n))
    mean[c("std_error", "df", "p_value", "conf_low", "conf_high")] <- c(list(std_error, n - 1, p_value), limits)
  }
  mean
}

changes_in_verdicts <- function(of, bound, alpha, n_prompts) {
  change <- of$change
  terms <- setdiff(unique(c(of$old$term, of$new$term)), change$term)
  if (length(terms) > 0) {
    message("Old and new differ by the same in all prompts: effects of levels are the same, without an error.")
    change <- rbind(change, estimate_rows(terms, 0, NA_real_))
  }
  place <- match(change$term, of$old$term)
  side <- function(name) {
    own <- of[[name]][if (name == "old") place else match(change$term, of$new$term), ]
    own$estimate[is.na(own$term)] <- 0 # of answers that are all the same
    stats::setNames(own[c("estimate", "conf_low", "conf_high")], paste0(name, c("", "_low", "_high")))
  }
  tests <- two_one_sided_tests(change$estimate, change$std_error, change$df, change$p_value, bound, alpha, "")
  away <- (abs(change$estimate) - bound) / change$std_error
  verdict <- if (is.na(bound)) NA_character_ else tests$finding
  as_plain_rows(cbind(
    frame_of(term = change$term), side("old"), side("new"), frame_of(difference = change$estimate),
    change[c("std_error", "df", "conf_low", "conf_high", "p_value")],
    tests[c("bound", "p_equivalence")],
    frame_of(
      p_beyond = pmin(1, 2 * stats::pt(away, change$df, lower.tail = FALSE)), verdict = verdict, n_prompts = n_prompts
    )
  ))
}
