#' Has it moved? Answers to the same prompts, occasion after occasion
#'
#' Whether a mean, or the difference of two levels, has moved since the first occasion, in intervals that may be looked
#' at after each one: the probability of a false alarm is at most `alpha` over all looks, however many, and all groups.
#'
#' A shift may begin after any occasion, so there is an interval for each beginning: the mean of the later occasions
#' less that of those before, which the error of the reference is part of (a reference taken as known gives a false
#' alarm in most series). Each is a confidence sequence of a normal mixture (Robbins 1970) for a mean before that is
#' unknown; the beginnings share `alpha` by weights that add up to 1, of which early ones have more. The beginning whose
#' interval is farthest from 0, or nearest to leaving it, is shown. The variance is that of the same prompt from one
#' occasion to the next, which one shift does not change; a prompt without an answer on an occasion counts with its own
#' mean. That is about these prompts and this model alone.
#'
#' @param data a data frame with one row per prompt and occasion: `prompt`, `occasion` (numbers; the first is the
#'   reference), `value`; used if present: `side`, 1 for prompts that show a level and -1 for those that show its
#'   reference, whose difference is watched instead of the mean; `cluster`, of prompts whose answers depend on each
#'   other (the profiles of one choice; default: none do).
#' @param by names of the columns that tell what is watched apart.
#' @param alpha the probability of a false alarm.
#' @return A data frame, one row per group and later occasion: `occasion`, `n_prompts`, `value` (the mean, or the
#'   difference, on that occasion), `first_value`; `shift` with `conf_low` and `conf_high`, `since` (the occasion with
#'   which it begins), `is_alarm`; `status`, `messages`.
#' @source Robbins (1970), <https://doi.org/10.1214/aoms/1177696786>; Howard, Ramdas, McAuliffe & Sekhon (2021).
#' @export
#' @examples
#' answers <- expand.grid(prompt = 1:100, occasion = 1:8)
#' answers$value <- sin(answers$prompt) + .5 * cos(seq_len(nrow(answers))) +
#'   .4 * (answers$occasion > 5)
#' watch_shifts(answers)[c("occasion", "shift", "conf_low", "conf_high", "since", "is_alarm")]
watch_shifts <- function(data, by = NULL, alpha = .05) {
  check_arguments()
  empty <- columns_of(
    "occasion:whole n_prompts:whole value first_value shift conf_low conf_high since:whole is_alarm:flag"
  )
  check_columns(data, c(by, "prompt", "occasion", "value"), to = "watch for shifts")
  n_groups <- max(1, length(group_rows(data, by)))
  check_each_group(data, by, c("prompt", "occasion", "value"), empty, function(rows) {
    shifts_of(rows, alpha / n_groups)
  })
}

shifts_of <- function(rows, alpha) {
  occasions <- sort(unique(rows$occasion))
  prompts <- unique(rows$prompt[rows$occasion == occasions[[1]]])
  rows <- rows[rows$prompt %in% prompts, , drop = FALSE]
  if (length(occasions) < 2) stop_with("There is one occasion: a shift needs another one.")
  values <- matrix(NA_real_, length(prompts), length(occasions))
  values[cbind(match(rows$prompt, prompts), match(rows$occasion, occasions))] <- as.double(rows$value)
  side <- if (is.null(rows$side)) rep(1, length(prompts)) else rows$side[match(prompts, rows$prompt)]
  weight <- side / c(sum(side < 0), NA, sum(side > 0))[side + 2]
  if (anyNA(weight)) stop_with("`side` must be 1 or -1.")
  cluster <- if (is.null(rows$cluster)) prompts else rows$cluster[match(prompts, rows$prompt)]
  n_answers <- colSums(!is.na(values))
  holes <- which(is.na(values), arr.ind = TRUE)
  values[holes] <- rowMeans(values, na.rm = TRUE)[holes[, 1]]
  means <- colSums(weight * values)
  steps <- rowsum(weight * (values[, -1, drop = FALSE] - values[, -ncol(values), drop = FALSE]), cluster)^2 / 2
  unit <- min(Inf, diff(sort(unique(as.vector(values)))))
  least <- if (is.finite(unit)) (unit * max(abs(weight)))^2 else 0 # one answer more or less is chance
  scale <- .2 * stats::sd(values[, 1])
  squares <- rowsum(weight^2, cluster)
  n_effective <- sum(squares)^2 / sum(squares^2)
  shown <- do.call(rbind, lapply(seq_len(length(means) - 1), function(k) {
    variance <- max(least, sum(rowMeans(steps[, seq_len(k), drop = FALSE])))
    begun_shift(means[seq_len(k + 1)], variance, scale, alpha, 2 / 3 * n_effective * k)
  }))
  cbind(
    frame_of(
      occasion = as.integer(occasions[-1]), n_prompts = as.integer(n_answers[-1]), value = means[-1],
      first_value = rep(means[[1]], length(means) - 1)
    ),
    frame_of(shift = shown[, 1], conf_low = shown[, 1] - shown[, 2], conf_high = shown[, 1] + shown[, 2],
             since = as.integer(occasions[shown[, 3]]), is_alarm = abs(shown[, 1]) > shown[, 2])
  )
}

# Among all beginnings the shift that is farthest out: c(shift, half its interval, the number of its first occasion).
begun_shift <- function(means, variance, scale, alpha, df) {
  n <- length(means)
  before <- seq_len(n - 1)
  after <- n - before
  sums <- cumsum(means)
  shift <- (sums[[n]] - sums[before]) / after - sums[before] / before
  if (variance == 0) {
    return(c(0, 0, n))
  }
  error <- variance * (1 / before + 1 / after)
  mixed <- max(scale^2, variance)
  # weights 20 / (s + 20) / (s + 21) of beginnings s = 0, 1 ... add up to 1
  level <- alpha * 20 / (before + 19) / (before + 20)
  half <- sqrt(error * (error + mixed) / mixed * (log1p(mixed / error) - 2 * log(level)))
  z <- half / sqrt(error)
  log_p <- stats::pnorm(z, lower.tail = FALSE, log.p = TRUE)
  half <- half * stats::qt(log_p, df, lower.tail = FALSE, log.p = TRUE) / z
  farthest <- which.max(abs(shift) / half)
  c(shift[[farthest]], half[[farthest]], farthest + 1)
}
