#' Token counts as what they are: a lognormal of which only the step is known, one fit per group of rows
#'
#' A count of c from a provider that counts in steps of k means any number of [c, c + k), and a count of 0 for one
#' below k (o3-mini: 64; other models: 1). Fits `survival::survreg()` to these intervals with a lognormal, whose
#' standard errors are clustered by wording and by word (sandwich estimators of Lin & Wei, in two ways as Cameron,
#' Gelbach & Miller have them), with a t distribution of the fewest of the two less 1 as degrees of freedom; and sets
#' other families next to it. It is the quick twin of a Bayesian model with random effects of words and wordings.
#'
#' The effect is a ratio of medians: how many times as many tokens the second condition takes, whatever the first.
#'
#' **Families on the scale of counts.** Each is given the probability of the interval of every count, so that
#' likelihoods of families, and of counts in steps and exact ones, compare: the `"lognormal"`; the `"gaussian"` (of
#' which a count of 0 is all below k); the `"negative_binomial"` (of whole tokens); and two that take zeros apart,
#' with a share of zeros for each condition: `"two_part"`, whose lognormal of what is above 0 is truncated at k, so
#' that the probabilities of all counts add up to 1, and `"hurdle"`, whose lognormal is not (as
#' `brms::hurdle_lognormal()` would have it): what it says of 1 to k is lost, and its likelihood is too small where
#' that is much.
#'
#' @inheritParams effect_size
#' @param outcome name of the column with the counts, whole numbers from 0.
#' @param levels the two conditions, the reference first; or a named list that has them.
#' @param step width of a step in tokens, or the name of a column that holds it. `NULL` finds it as the greatest common
#'   divisor of all counts above 0 of a model (of the columns `source`, `study`, `study_version`, `variant`, `model` and
#'   `token_source` that `data` has); so give all rows of a model.
#' @param cluster names of one or two columns with what answers have in common, for the standard errors; `"group:item"`
#'   where the same word in two groups is two. Fewer than three of one say nothing of others, and are left out.
#' @return The same as [fit_lme4()]; `estimates` are on the log scale. `tables` holds
#'   \describe{
#'     \item{effects}{one row per group: `term`, `ratio` of medians with `ratio_low` and `ratio_high` (95 %), `p_value`,
#'       `df`, `step`, `sd_log` (of the lognormal), `median_reference` and `median_other` in tokens, `zeros_reference`
#'       and
#'       `zeros_other` (shares, 0 to 1, of counts of 0), and what the model predicts of them, `…_predicted`.}
#'     \item{families}{one row per group and family: `family`, `n_parameters`, `log_lik`, `aic`, and, of the difference
#'       to the lognormal, `aic_difference` (above 0: worse than the lognormal) and `nats` (of log
#'       likelihood a trial, below 0: worse), `is_converged`.}
#'   }
#' @source Lin & Wei (1989), Journal of the American Statistical Association 84, 1074-1078; Cameron, Gelbach & Miller
#'   (2011), Robust inference with multiway clustering, Journal of Business & Economic Statistics 29, 238-249.
#' @noRd
fit_censored <- function(data, outcome = "tokens", contrast = "condition", levels = NULL, by = NULL, step = NULL,
                         cluster = c("wording", "item"), save_to = NULL) {
  to <- "fit a censored lognormal"
  need_package("survival", to)
  cluster <- checked_clusters(as.character(unlist(cluster)))
  check_columns(data, c(outcome, contrast, cluster_columns(cluster), by), to)
  levels <- two_levels(levels_of(data, contrast, levels), contrast, to)
  data[[".step"]] <- steps_of_rows(data, outcome, step, to)
  fit_one <- function(rows) {
    check_outcome(rows, outcome)
    rows <- rows[as.character(rows[[contrast]]) %in% levels, , drop = FALSE]
    counts <- rows[[outcome]]
    is_other <- as.character(rows[[contrast]]) == levels[[2]]
    sides(counts, as.character(rows[[contrast]]), levels, contrast) # at least two rows on each
    if (any(counts < 0 | counts != round(counts))) {
      stop_with("Can't fit a censored lognormal: the outcome must be counts, whole numbers from 0.")
    }
    check_steps(counts, rows$.step)
    step <- unique(rows$.step)
    if (length(step) > 1) stop_with("Can't fit a censored lognormal: the counts of a group must have one step.")
    clusters <- clusters_of(rows, cluster, "fit a censored lognormal")
    model <- censored_lognormal(counts, step, is_other)
    estimates <- censored_estimates(model, paste0(contrast, levels[[2]]), clusters)
    parameters <- list(mean = unname(cumsum(stats::coef(model))), sd = model$scale)
    families <- compared_families(counts, step, is_other, parameters)
    list(
      estimates = estimates,
      fit = list(
        n_groups = length(unique(clusters[[1]])), log_lik = model$loglik[[2]], aic = 6 - 2 * model$loglik[[2]],
        bic = 3 * log(length(counts)) - 2 * model$loglik[[2]], singular = FALSE, optimiser = "survival::survreg"
      ),
      variances = data.frame(group = "residual", term = "log", variance = model$scale^2, n_groups = length(counts)),
      model = model,
      tables_of_group = list(
        effects = censored_effects(estimates, parameters, counts, step, is_other), families = families
      )
    )
  }
  used <- c(outcome, contrast, cluster_columns(cluster), ".step")
  slant_fit(fit_each_group(data, by, used, fit_one, save_to), "survival")
}

censored_lognormal <- function(counts, step, is_other) {
  cells <- list(low = replace(counts, counts == 0, NA), high = counts + step, other = +is_other)
  survival::survreg(survival::Surv(low, high, type = "interval2") ~ other, cells, dist = "lognormal")
}

censored_estimates <- function(model, term, clusters) {
  error <- clustered_error(stats::residuals(model, type = "dfbeta"), clusters)[1:2, ]
  rows <- coefficient_rows(stats::coef(model), error)
  rows$term <- c("intercept", term)
  rows
}

checked_clusters <- function(names) {
  if (!length(names) %in% 1:2) stop_with("`cluster` must name one column, or two.")
  names
}

censored_effects <- function(estimates, parameters, counts, step, is_other) {
  effect <- estimates[2, ]
  zeros <- c(mean(counts[!is_other] == 0), mean(counts[is_other] == 0))
  predicted <- stats::plnorm(step, parameters$mean, parameters$sd)
  data.frame(
    term = effect$term, ratio = exp(effect$estimate), ratio_low = exp(effect$conf_low),
    ratio_high = exp(effect$conf_high), p_value = effect$p_value, df = effect$df, step = step, sd_log = parameters$sd,
    median_reference = exp(parameters$mean[[1]]), median_other = exp(parameters$mean[[2]]),
    zeros_reference = zeros[[1]], zeros_other = zeros[[2]], zeros_reference_predicted = predicted[[1]],
    zeros_other_predicted = predicted[[2]]
  )
}

# Each family's likelihood of the same counts. Equal counts of a condition are one row with their number.
compared_families <- function(counts, step, is_other, lognormal) {
  cells <- as.data.frame(table(count = counts, other = +is_other), responseName = "n", stringsAsFactors = FALSE)
  cells <- data.frame(count = as.double(cells$count), other = as.integer(cells$other), n = cells$n)[cells$n > 0, ]
  above <- cells[cells$count > 0, ]
  log_scale <- c(lognormal$mean[[1]], diff(lognormal$mean), log(lognormal$sd))
  plain <- c(mean(counts[!is_other]), mean(counts[is_other]) - mean(counts[!is_other]), log(stats::sd(counts)))
  mean_log <- c(log(plain[[1]] + step / 2), log(sum(plain[1:2]) + step / 2) - log(plain[[1]] + step / 2), 1)
  # A share of zeros for each condition; no parameter for one without zeros, or with nothing else.
  is_zero <- counts == 0
  n <- c(sum(!is_other), sum(is_other))
  share <- c(sum(is_zero & !is_other), sum(is_zero & is_other)) / n
  varies <- share > 0 & share < 1
  zeros <- list(
    log_lik = sum((n * (share * log(share) + (1 - share) * log1p(-share)))[varies]), n_parameters = sum(varies)
  )
  untruncated <- likeliest(log_scale, above, step, interval_of_lognormal)
  truncated <- likeliest(untruncated$par, above, step, interval_above_step)
  parts <- list(
    lognormal = likeliest(log_scale, cells, step, interval_of_lognormal),
    gaussian = likeliest(plain, cells, step, interval_of_gaussian),
    negative_binomial = likeliest(mean_log, cells, step, interval_of_negative_binomial),
    two_part = truncated, hurdle = untruncated
  )
  has_zeros <- names(parts) %in% c("two_part", "hurdle")
  log_lik <- vapply(parts, `[[`, 1, "log_lik") + ifelse(has_zeros, zeros$log_lik, 0)
  n_parameters <- 3L + ifelse(has_zeros, zeros$n_parameters, 0L)
  aic <- 2 * n_parameters - 2 * log_lik
  is_converged <- vapply(parts, `[[`, TRUE, "is_converged")
  if (!all(is_converged)) warning("Not converged: ", toString(names(parts)[!is_converged]), call. = FALSE)
  data.frame(
    family = names(parts), n_parameters = n_parameters, log_lik = log_lik, aic = aic,
    aic_difference = aic - aic[[1]], nats = (log_lik - log_lik[[1]]) / length(counts), is_converged = is_converged,
    row.names = NULL
  )
}

# The parameters (mean of the reference, difference, log of the spread) that make these counts likeliest. In two rounds,
# from parameters in units of their own size: a mean of 800 tokens and a log spread of 5 are one problem.
likeliest <- function(start, cells, step, log_probability) {
  unlikeliness <- function(parameters) {
    each <- log_probability(cells$count, step, parameters[[1]] + parameters[[2]] * cells$other, exp(parameters[[3]]))
    total <- -sum(cells$n * each)
    if (is.finite(total)) total else 1e12
  }
  found <- list(par = start)
  for (round in 1:2) {
    scale <- pmax(abs(found$par), c(1, abs(found$par[[1]]) / 10 + .1, 1))
    found <- stats::optim(
      found$par, unlikeliness,
      method = "BFGS", control = list(maxit = 500, parscale = scale, reltol = 1e-12)
    )
  }
  list(par = found$par, log_lik = -found$value, is_converged = found$convergence == 0 && found$value < 1e12)
}

interval_of_lognormal <- function(count, step, mean, sd) {
  log_share_between((log(count) - mean) / sd, (log(count + step) - mean) / sd) # log(0) is all below the step
}

interval_above_step <- function(count, step, mean, sd) {
  interval_of_lognormal(count, step, mean, sd) -
    stats::pnorm((log(step) - mean) / sd, lower.tail = FALSE, log.p = TRUE)
}

interval_of_gaussian <- function(count, step, mean, sd) {
  log_share_between((replace(count, count == 0, -Inf) - mean) / sd, (count + step - mean) / sd)
}

interval_of_negative_binomial <- function(count, step, mean, size) {
  if (length(step) == 1 && step == 1) {
    return(stats::dnbinom(count, size = size, mu = exp(mean), log = TRUE))
  }
  mu <- exp(mean)
  # the tail on whose side the step lies: far out the other one is 1 on both ends
  is_above <- count > mu
  tail <- function(upper) {
    ifelse(is_above, stats::pnbinom(upper, size = size, mu = mu, lower.tail = FALSE, log.p = TRUE),
      stats::pnbinom(upper, size = size, mu = mu, log.p = TRUE)
    )
  }
  below <- tail(count - 1)
  upto <- tail(count + step - 1)
  found <- log_difference(pmax(below, upto), pmin(below, upto))
  is_lost <- !is.finite(found) | abs(below - upto) < 1e-8
  if (any(is_lost)) {
    arguments <- data.frame(count, step, mu, size, row.names = NULL)[is_lost, ] # one row a value
    found[is_lost] <- do.call(mapply, c(list(log_sum_of_negative_binomial), unname(arguments)))
  }
  found
}

# Number by number, for where tails end.
log_sum_of_negative_binomial <- function(count, step, mu, size) {
  each <- stats::dnbinom(count + seq_len(step) - 1, size = size, mu = mu, log = TRUE)
  largest <- max(each)
  if (is.finite(largest)) largest + log(sum(exp(each - largest))) else largest
}

# log(P(low <= z < high)) of a standard normal, also where both are far out on one side, or next to each other.
log_share_between <- function(low, high) {
  is_above <- low > 0
  from <- stats::pnorm(ifelse(is_above, -high, low), log.p = TRUE)
  to <- stats::pnorm(ifelse(is_above, -low, high), log.p = TRUE)
  middle <- (low + high) / 2
  width <- high - low
  is_narrow <- is.finite(middle) & width > 0 & width * pmax(1, abs(middle)) < 1e-5
  ifelse(is_narrow, stats::dnorm(middle, log = TRUE) + log(width), log_difference(to, from))
}

# log(exp(larger) - exp(smaller)), exact where they are close and where they are far apart; rounding must not make a
# share negative. Maechler (2012), Accurately computing log(1 - exp(-|a|)).
log_difference <- function(larger, smaller) {
  gap <- pmin(smaller - larger, 0)
  gap[is.nan(gap)] <- -Inf # both are log(0)
  larger + ifelse(gap > -log(2), log(-expm1(gap)), log1p(-exp(gap)))
}
