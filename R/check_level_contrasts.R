#' Which levels differ, in one row a pair?
#'
#' Differences between the marginal means of all pairs of levels, uncorrected: those of the variant `null`, whose levels
#' were dealt to prompts at random, say what is found if there is nothing.
#'
#' @inheritParams check_separation
#' @param data a data frame with one row per profile.
#' @param outcome name of the column with the answer, a number.
#' @param attributes names of the columns with the levels that were shown.
#' @param cluster,levels,declared see [marginal_means()].
#' @return A data frame with one row per group and pair: `attribute`, `first`, `second`, `n` (answers of the group),
#'   `estimate` (the mean difference, second less first), `std_error`, `p_value`, `sd` (of all answers of the group);
#'   `status`, `messages`.
#' @noRd
check_level_contrasts <- function(data, attributes, by = NULL, outcome = "measured", cluster = NULL, levels = NULL,
                                  declared = NULL) {
  declared <- checked_declaration(declared)
  needed <- unique(c(cluster_columns(cluster), unlist(declared, use.names = FALSE)))
  check_columns(data, needed, to = "compare levels")
  empty <- data.frame(
    attribute = character(), first = character(), second = character(), n = integer(), estimate = double(),
    std_error = double(), p_value = double(), sd = double()
  )
  check_each_group(data, by, unique(c(outcome, attributes, needed)), empty, function(rows) {
    used <- attribute_rows(rows, outcome, attributes, cluster, NULL, levels, declared)
    values <- rows[[outcome]][!is.na(rows[[outcome]])]
    parts <- lapply(attributes, function(name) {
      pairs <- pairs_of(name, NULL, rows_of(used, name))
      n <- nrow(pairs$contrasts)
      frame_of(
        attribute = rep(name, n), first = pairs$contrasts$first, second = pairs$contrasts$second,
        n = rep(length(values), n), estimate = pairs$estimates$estimate, std_error = pairs$estimates$std_error,
        p_value = pairs$estimates$p_value, sd = rep(stats::sd(as.numeric(values)), n)
      )
    })
    as_plain_rows(do.call(rbind, parts))
  })
}
