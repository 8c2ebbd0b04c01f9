#' Which policy plays like this? Candidates fitted to games
#'
#' Each way to choose among groups is fitted to all games of a group of rows by maximum likelihood, with the same
#' parameters in each game, and judged in two ways: by games that it has not seen (K-fold over games, for the rounds of
#' a game depend on each other), and by replaying the games. The best candidate may fail the replay; then none of them
#' describes the choices.
#'
#' Candidates: `random`; `greedy`, `thompson` (the chance to be the best group under Beta(1 + successes, 1 + failures))
#' and `ucb` (mean plus sqrt(2 log t / n)), each with a `lapse`, the share of choices at random; `win_stay_lose_shift`;
#' and the delta rule `learner` (`rate_up`, `rate_down`, `sharpness`), with `perseveration` for the last group, with a
#' lapse, with a `bonus` / sqrt(n + 1) for groups seldom tried, and with two rates for good and bad news. Values begin
#' at .5.
#'
#' @param data a data frame with one row per candidate of a round, as the view `allocation_candidates`: `game`, `round`,
#'   `class`, `group`, `is_chosen`, `is_success`, and for replays `p_success`, the true chance of success. Rounds
#'   without a choice change nothing; games in which they are more than a tenth are left out, with a warning.
#' @param by names of the columns of each of whose groups the candidates are fitted.
#' @param folds number of folds over games; at most as many as there are games.
#' @param seed of folds and replays, a whole number.
#' @param save_to path of an `.rds` file for the fitted candidates, or `NULL`.
#' @return The same list of data frames as [fit_lme4()]. `estimates`: the parameters of each candidate
#'   (`"learner: sharpness"`), standard errors and intervals by the delta method on the scale without limits; NA at a
#'   limit. `tables`: `candidates`, one row a policy: `n_parameters`, `log_lik`, `nats` (minus the log likelihood of a
#'   choice; log K is chance), `bic`, `elpd` (log likelihood of the games left out) with `se_elpd`, `elpd_difference` to
#'   the best with `se_difference` over games, `is_best`, `passes` (the replay; NA if it can't be played) and `verdict`;
#'   `checks`, what each replay was compared in; and `curves`, how choices settle by round in the games (`observed`) and
#'   in the replays (`predicted`, with the middle 95 %), as running means over five rounds.
#' @source Daw (2011), Trial-by-trial data analysis using computational models; Palminteri, Wyart & Koechlin (2017), on
#'   comparing and falsifying them. Wu et al. fit no model of choice.
#' @noRd
fit_policies <- function(data, by = NULL, folds = 5, seed = 1, save_to = NULL) {
  check_arguments(more = list(folds = argument_kinds$whole(2)))
  fit_one <- function(rounds) with_seed(seed, fit_policies_of(rounds, folds))
  slant_fit(fit_games(data, by, "compare policies", fit_one, save_to))
}

fit_policies_of <- function(rounds, folds) {
  if (length(rounds$games) < 2) {
    stop_with("Can't compare policies over one game: each is judged by games that it was not fitted to.")
  }
  policies <- lapply(choice_policies(), with_fixed_shares, rounds = rounds)
  fits <- lapply(policies, policy_fit, rounds = rounds)
  fold <- sample(rep_len(seq_len(min(folds, length(rounds$games))), length(rounds$games)))
  elpd <- Map(function(policy, fit) left_out_log_lik(rounds, policy, fit, fold), policies, fits)
  replays <- Map(function(policy, fit) policy_replays(rounds, policy, fit), choice_policies(), fits)
  checks <- lapply(replays, `[[`, "checks")
  candidates <- candidate_rows(rounds, fits, elpd, checks)
  best <- fits[[which(candidates$is_best)]]
  list(
    estimates = do.call(rbind, unname(Map(policy_estimates, names(fits), fits))),
    fit = list(
      n_groups = length(rounds$games), log_lik = best$log_lik, aic = 2 * best$n_parameters - 2 * best$log_lik,
      bic = bic_of(best, rounds), singular = FALSE, optimiser = "nlminb (PORT)"
    ),
    tables_of_group = list(
      candidates = candidates, checks = stacked_by_policy(checks, no_checks()),
      curves = stacked_by_policy(lapply(replays, `[[`, "curves"), no_curves())
    ),
    model = fits
  )
}

# The shares of a policy that has no parameter but its lapse are the same whatever that is: they are computed once.
with_fixed_shares <- function(policy, rounds) {
  if (!identical(names(policy$start), "lapse")) {
    return(policy)
  }
  certain <- exp(choice_log_lik(rounds, policy, list(lapse = 0)))
  policy$log_lik <- function(games, lapse) {
    log_lik <- log((1 - lapse) * certain[games, , drop = FALSE] + lapse / length(rounds$groups))
    replace(log_lik, rounds$choice[games, ] == 0, 0)
  }
  policy
}

# The logarithms of the probabilities of each game, of some games, by parameters on the scale of the search.
game_log_lik <- function(rounds, policy, searched, games = seq_along(rounds$games)) {
  lanes_log_lik(rounds, policy, rbind(unlist(searched)), games)[, 1]
}

# The same at many points, a row each: a matrix by game and point. The points are lanes of one run through the rounds,
# which costs little more than one of them does alone. `lanes`, of lanes_of(), where they are known already.
lanes_log_lik <- function(rounds, policy, points, games = seq_along(rounds$games),
                          lanes = lanes_of(rounds, policy, games, max(1, nrow(points)))) {
  by_lane <- lapply(stats::setNames(seq_len(NCOL(points)), colnames(points)), function(i) {
    rep(points[, i], each = length(games))
  })
  reported <- reported_parameters(by_lane)
  log_lik <- if (is.null(policy$log_lik)) {
    choice_log_lik(lanes$rounds, policy, reported, lanes$past)
  } else {
    policy$log_lik(lanes$games, reported$lapse)
  }
  matrix(rowSums(log_lik), length(games))
}

# These games once for each point, with what is seen in their rounds.
lanes_of <- function(rounds, policy, games, n_points) {
  games <- rep(games, n_points)
  if (!is.null(policy$log_lik)) {
    return(list(games = games))
  }
  rounds <- chosen_games(rounds, games)
  list(rounds = rounds, past = past_of(rounds, policy$sees))
}

# Maximum likelihood: `searched`, `log_lik`, and the loss with its slopes.
policy_fit <- function(policy, rounds, games = seq_along(rounds$games), start = unlist(policy$start)) {
  if (length(start) == 0) {
    return(list(searched = NULL, n_parameters = 0L, log_lik = sum(game_log_lik(rounds, policy, NULL, games))))
  }
  of <- loss_with_slopes(rounds, policy, games)
  # A search ends early if a parameter goes to its limit, so it is begun again until that wins nothing.
  enough <- 1e-9
  at_most <- 8
  search <- function(from) stats::nlminb(from, of$loss, of$slopes, control = list(rel.tol = 1e-10))
  found <- search(start)
  for (again in seq_len(at_most)) {
    before <- found$objective
    found <- search(found$par)
    if (before - found$objective < enough) break
  }
  log_lik <- sum(game_log_lik(rounds, policy, found$par, games))
  c(list(searched = found$par, n_parameters = length(start), log_lik = log_lik), of)
}

# Minus the log likelihood and its slopes: those that the policy gives, or central differences. A weak hold far out
# keeps the search from running off where a parameter is at its limit.
loss_with_slopes <- function(rounds, policy, games, step = 1e-5, limit = 12) {
  of_one <- lanes_of(rounds, policy, games, 1)
  of_sides <- NULL
  beyond <- function(points) pmax(abs(points) - limit, 0)
  losses <- function(points, lanes) {
    rowSums(beyond(points)^2) - colSums(lanes_log_lik(rounds, policy, points, games, lanes))
  }
  by_differences <- function(searched) {
    if (is.null(of_sides)) of_sides <<- lanes_of(rounds, policy, games, 2 * length(searched))
    points <- rbind(diag(step, length(searched)), diag(-step, length(searched)))
    points <- sweep(points, 2, searched, `+`)
    colnames(points) <- names(searched)
    sides <- matrix(losses(points, of_sides), ncol = 2)
    (sides[, 1] - sides[, 2]) / (2 * step)
  }
  by_rule <- function(searched) {
    2 * sign(searched) * beyond(searched) - policy$slopes(of_one$past, searched, sizes_of(of_one$rounds))
  }
  list(
    loss = function(searched) {
      found <- unname(losses(rbind(searched), of_one))
      if (is.finite(found)) found else 1e10
    },
    slopes = function(searched) {
      slopes <- if (is.null(policy$slopes)) by_differences(searched) else by_rule(searched)
      ifelse(is.finite(slopes), slopes, 0)
    }
  )
}

# The covariance of what was searched for, NULL where the likelihood is flat in some direction.
policy_covariance <- function(fit) {
  if (fit$n_parameters == 0) {
    return(NULL)
  }
  hessian <- stats::optimHess(fit$searched, fit$loss, fit$slopes)
  if (!all(is.finite(hessian)) || min(eigen(hessian, TRUE, TRUE)$values) < 1e-4) NULL else solve(hessian)
}

# By game: fitted without the games of its fold.
left_out_log_lik <- function(rounds, policy, fit, fold) {
  elpd <- double(length(rounds$games))
  for (one in unique(fold)) {
    trained <- policy_fit(policy, rounds, which(fold != one), fit$searched)
    elpd[fold == one] <- game_log_lik(rounds, policy, trained$searched, which(fold == one))
  }
  elpd
}

# Replays with parameters drawn from what is known of them: `checks` and `curves`; NULL where the true chances of
# success are not known.
policy_replays <- function(rounds, policy, fit) {
  if (!can_be_replayed(rounds)) {
    return(NULL)
  }
  n_games <- length(rounds$games)
  covariance <- policy_covariance(fit)
  spread <- if (is.null(covariance)) matrix(0, fit$n_parameters, fit$n_parameters) else t(chol(covariance))
  compared_replays(rounds, function(numbers) {
    n <- length(numbers)
    parameters <- if (fit$n_parameters > 0) {
      drawn <- fit$searched + spread %*% matrix(stats::rnorm(n * fit$n_parameters), fit$n_parameters)
      drawn <- stats::setNames(asplit(drawn, 1), names(fit$searched))
      reported_parameters(lapply(drawn, function(values) rep(as.vector(values), each = n_games)))
    }
    replayed_rounds(chosen_games(rounds, rep(seq_len(n_games), n)), policy, parameters, noted = TRUE)
  })
}

bic_of <- function(fit, rounds) fit$n_parameters * log(n_choices(rounds)) - 2 * fit$log_lik

candidate_rows <- function(rounds, fits, elpd, checks) {
  total <- vapply(elpd, sum, 0)
  best <- which.max(total)
  over_games <- function(values) stats::sd(values) * sqrt(length(values))
  passes <- vapply(checks, function(check) if (is.null(check)) NA else all(check$passes), NA)
  rows <- data.frame(
    policy = names(fits), n_parameters = vapply(fits, `[[`, 1L, "n_parameters"),
    log_lik = vapply(fits, `[[`, 0, "log_lik"), bic = vapply(fits, bic_of, 0, rounds = rounds), elpd = total,
    se_elpd = vapply(elpd, over_games, 0), elpd_difference = total - total[[best]],
    se_difference = vapply(elpd, function(own) over_games(own - elpd[[best]]), 0),
    is_best = seq_along(fits) == best, passes = passes, row.names = NULL
  )
  rows$nats <- -rows$log_lik / n_choices(rounds)
  # A candidate that predicts best and does not play like the games explains nothing (Sivula et al. 2020).
  is_near <- rows$elpd_difference > -pmax(2 * rows$se_difference, 4) | rows$is_best
  of_others <- if (any(rows$passes %in% TRUE)) "" else " No candidate passes its replay: parameters are no findings."
  said <- ifelse(
    rows$is_best, "It predicts games that it has not seen best",
    ifelse(is_near, "It predicts about as well as the best", "It predicts worse than the best")
  )
  replayed <- ifelse(
    is.na(rows$passes), "; it could not be replayed.",
    ifelse(rows$passes, ", and its replays look like the games.", "; its replays do not look like the games.")
  )
  rows$verdict <- paste0(said, replayed, of_others)
  rows[c("policy", "n_parameters", "log_lik", "nats", "bic", "elpd", "se_elpd", "elpd_difference", "se_difference",
         "is_best", "passes", "verdict")]
}

stacked_by_policy <- function(rows, none) {
  rows <- Filter(Negate(is.null), rows)
  if (length(rows) == 0) {
    return(cbind(frame_of(policy = character()), none))
  }
  as_plain_rows(do.call(rbind, Map(function(name, of_policy) cbind(policy = name, of_policy), names(rows), rows)))
}

# The parameters of a candidate as reported; none of a policy without. On the scale without limits (log odds of rates
# and shares, the logarithm of the sharpness) each is a sum of what was searched for; intervals are made there, so
# that they end within the limits. At a limit there is no error.
policy_estimates <- function(name, fit) {
  if (fit$n_parameters == 0) {
    return(NULL)
  }
  covariance <- policy_covariance(fit)
  estimate <- unlist(reported_parameters(as.list(fit$searched)))
  reported <- names(estimate)
  searched <- names(fit$searched)
  parts <- outer(sub("^rate_(up|down)$", "rate", reported), searched, `==`) + 0
  halves <- c(rate_up = .5, rate_down = -.5)[reported]
  parts[!is.na(halves), searched == "rate_difference"] <- halves[!is.na(halves)]
  free <- as.vector(parts %*% fit$searched)
  error <- rep(NA_real_, length(estimate))
  if (!is.null(covariance)) error <- sqrt(pmax(0, diag(parts %*% covariance %*% t(parts))))
  error[as.vector((parts != 0) %*% (abs(fit$searched) > nearly_at_limit)) > 0] <- NA_real_
  bound <- stats::qnorm(.975) * error
  is_single <- names(estimate) == "rate_down" & !"rate_difference" %in% names(fit$searched)
  names <- sub("^rate_up$", if (any(is_single)) "rate" else "rate_up", names(estimate))
  slope <- ifelse(names(estimate) %in% as_they_are, 1, estimate * (1 - estimate))
  slope <- ifelse(names(estimate) == "sharpness", estimate, slope)
  rows <- estimate_rows(
    paste0(name, ": ", names), unname(estimate), unname(error * slope),
    conf_low = as_reported(free - bound, names(estimate)), conf_high = as_reported(free + bound, names(estimate))
  )
  rows[!is_single, ]
}

nearly_at_limit <- 11

as_they_are <- c("perseveration", "bonus")

as_reported <- function(free, names) {
  unname(ifelse(names == "sharpness", exp(free), ifelse(names %in% as_they_are, free, stats::plogis(free))))
}
