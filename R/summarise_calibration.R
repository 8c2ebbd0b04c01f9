#' What the ranks of a calibration come to
#'
#' For each quantity: are its ranks uniform, does its 95 % interval hold the truth 95 times in 100, and what do the data
#' say of it?
#'
#' @param data a data frame such as the `ranks` of [calibrate()].
#' @return The `summary` of [calibrate()], which explains its columns. `n_doubtful` are those among `n` that have
#'   divergent transitions or did not converge; `shrinkage` is the mean over data sets.
#' @source Säilynoja, Bürkner & Vehtari (2022); Betancourt (2018): see [calibrate()].
#' @noRd
summarise_calibration <- function(data) {
  needed <- c("number", "quantity", "truth", "rank", "n_draws", "estimate", "std_dev", "conf_low", "conf_high")
  check_columns(data, needed, to = "sum up a calibration")
  is_failed <- is.na(data$quantity)
  rows <- data[!is_failed, , drop = FALSE]
  check_ranks(rows)
  by_quantity <- split(rows, factor(rows$quantity, unique(rows$quantity)))
  summary <- do.call(rbind, lapply(unname(by_quantity), summarised_quantity))
  summary$n_failed <- length(unique(data$number[is_failed]))
  summary$p_adjusted <- stats::p.adjust(summary$p_value, "holm")
  as_plain_rows(summary[c(
    "quantity", "model", "test", "n", "n_failed", "n_doubtful", "n_draws", "p_value", "p_adjusted", "is_in_band",
    "n_held", "coverage", "mean_z", "sd_z", "shrinkage", "mean_rank", "min_ess_bulk"
  )])
}

summarised_quantity <- function(rows) {
  n_draws <- rows$n_draws[[1]]
  z_score <- (rows$estimate - rows$truth) / rows$std_dev
  key <- function(name) if (name %in% names(rows)) as.character(rows[[name]][[1]]) else NA_character_
  p_value <- uniformity_p(rows$rank, n_draws)
  data.frame(
    quantity = rows$quantity[[1]], model = key("model"), test = key("test"), n = nrow(rows),
    n_doubtful = if ("status" %in% names(rows)) sum(rows$status != "ok") else 0L, n_draws = n_draws,
    p_value = p_value, is_in_band = p_value >= .05, n_held = sum(holds_truth(rows)), coverage = mean(holds_truth(rows)),
    mean_z = mean(z_score), sd_z = stats::sd(z_score),
    shrinkage = mean(1 - rows$std_dev^2 / stats::var(rows$truth)), mean_rank = mean(rows$rank / n_draws),
    min_ess_bulk = if ("ess_bulk" %in% names(rows)) min(rows$ess_bulk) else NA_real_
  )
}

# Ranks that can be compared: each quantity once in a data set, all among as many draws.
check_ranks <- function(rows) {
  if (nrow(rows) == 0) {
    stop_with("Can't sum up a calibration: no data set could be fitted.", "The column `messages` says why.")
  }
  if (anyDuplicated(rows[c("number", "quantity")]) > 0) {
    stop_with("Can't sum up a calibration: a data set has several rows of one quantity.", "Keep the rows of one fit.")
  }
  is_wrong <- is.na(rows$rank) | rows$rank < 0 | rows$rank > rows$n_draws | rows$rank != round(rows$rank)
  if (any(is_wrong) || length(unique(rows$n_draws)) > 1) {
    stop_with("Can't sum up a calibration: ranks must be whole numbers from 0 to `n_draws`, the same in all rows.")
  }
}
