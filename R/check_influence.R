#' Does one prompt decide a result?
#'
#' Sets the coefficients of `fit_leave_one_out()` next to that of all rows. Cook's distance is that of the one
#' coefficient: the squared change of the estimate, in squared standard errors of the whole.
#'
#' @param data the `estimates` of `fit_leave_one_out()`.
#' @param by names of the columns that define the groups.
#' @param alpha the level of significance.
#' @return A data frame with one row per group and level left out: `left_out`; `estimate_all` and `p_all`, of all rows;
#'   `estimate` and `p_value` without it; `change`, the one less the other, in units of the outcome; `cooks_distance`;
#'   `is_influential` (Cook's distance above 4 / number of levels, the usual mark); `changes_sign`; and
#'   `changes_conclusion`: the effect is significant, or of another sign while significant, in only one of the two;
#'   `status` ("ok", "failed") and `messages`. A group without an estimate of all rows, or without any other, is one row
#'   without numbers that says so.
#' @noRd
check_influence <- function(data, by = NULL, alpha = .05) {
  check_columns(data, c(by, "term", "estimate", "std_error", "p_value"), to = "check influence")
  check_alpha(alpha)
  empty <- data.frame(
    left_out = character(), estimate_all = double(), p_all = double(), estimate = double(), p_value = double(),
    change = double(), cooks_distance = double(), is_influential = logical(), changes_sign = logical(),
    changes_conclusion = logical()
  )
  check_each_group(data, by, "term", empty, function(rows) influence_in(rows, alpha))
}

influence_in <- function(estimates, alpha) {
  all_rows <- estimates[estimates$term == "all", ]
  others <- estimates[startsWith(estimates$term, "without "), , drop = FALSE]
  if (nrow(all_rows) != 1 || nrow(others) == 0) {
    stop_with("Can't check influence: each group must have one term \"all\" and others that begin with \"without\".")
  }
  change <- others$estimate - all_rows$estimate
  cooks_distance <- (change / all_rows$std_error)^2
  data.frame(
    left_out = sub("^without ", "", others$term),
    estimate_all = all_rows$estimate, p_all = all_rows$p_value, estimate = others$estimate, p_value = others$p_value,
    change = change, cooks_distance = cooks_distance, is_influential = cooks_distance > 4 / nrow(others),
    changes_sign = sign(others$estimate) != sign(all_rows$estimate),
    changes_conclusion = conclusion(others$estimate, others$p_value, alpha) !=
      conclusion(all_rows$estimate, all_rows$p_value, alpha)
  )
}

# What one concludes of an effect: 1 and -1 are significant ones of that sign, 0 is none shown, NA is no answer.
conclusion <- function(estimate, p_value, alpha) sign(estimate) * is_significant(p_value, alpha)
