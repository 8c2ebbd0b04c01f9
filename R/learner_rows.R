# What the draws of a learner say, in rows: estimates, priors next to posteriors, diagnostics and verdict.

# By parameter of the Stan program, the standard deviation of its prior; those that a learner has go by its switches.
learner_priors <- function(switches) {
  priors <- list(
    mu_rate = list("normal(-0.5, 1.5), log odds", 1.5), mu_sharpness = list("normal(1.5, 1), log", 1),
    "mu_perseveration[1]" = list("normal(0, 1.5)", 1.5), "mu_lapse[1]" = list("normal(-3, 1), log odds", 1),
    "rate_difference[1]" = list("normal(0, 1), log odds", 1), "mu_bonus[1]" = list("normal(0, 1.5)", 1.5),
    "mu_generalisation[1]" = list("normal(-1, 1.5), log odds", 1.5)
  )
  needs <- c(NA, NA, "perseveration", "lapse", "two_rates", "bonus", "generalisation")
  priors[is.na(needs) | needs %in% names(switches)[switches]]
}

reported_names <- c(
  mu_rate = "rate", mu_sharpness = "sharpness", "mu_perseveration[1]" = "perseveration", "mu_lapse[1]" = "lapse",
  "rate_difference[1]" = "rate_difference", "mu_bonus[1]" = "bonus", "mu_generalisation[1]" = "generalisation"
)

widest_identified <- .8

prior_rows <- function(draws, switches) {
  priors <- learner_priors(switches)
  posterior_sd <- apply(draws[, names(priors), drop = FALSE], 2, stats::sd)
  prior_sd <- vapply(priors, `[[`, 0, 2)
  frame_of(
    term = unname(reported_names[names(priors)]), prior = vapply(unname(priors), `[[`, "", 1),
    prior_sd = unname(prior_sd), posterior_sd = unname(posterior_sd),
    is_identified = unname(posterior_sd <= widest_identified * prior_sd)
  )
}

identification_warning <- function(priors) {
  unknown <- priors$term[!priors$is_identified]
  if (length(unknown) > 0) {
    sprintf("Not identified (the posterior is hardly narrower than the prior): %s.", toString(unknown))
  }
}

replay_warning <- function(checks) {
  if (is.null(checks)) { # the rates of the games are not known, as of people's: they can't be replayed
    return(NULL)
  }
  failed <- checks[!checks$passes, , drop = FALSE]
  if (NROW(failed) > 0) {
    first <- failed[which.min(failed$p_value), ]
    sprintf(
      paste(
        "Replays of these games do not look like them: %s %.3f, replayed %.3f to %.3f%s.",
        "The parameters describe no findings."
      ),
      paste0(if (first$kind == "sd") "SD of ", first$statistic), first$observed, first$conf_low, first$conf_high,
      if (nrow(failed) > 1) sprintf(" (and %d more)", nrow(failed) - 1) else ""
    )
  }
}

# Medians, on the scales that people read: rates and shares from 0 to 1. The centre of the games, not their mean.
learner_estimates <- function(draws, rounds, switches) {
  half <- draws[, "half_difference"]
  rate <- draws[, "mu_rate"]
  sharpness <- exp(draws[, "mu_sharpness"])
  values <- c(
    if (switches[["two_rates"]]) {
      list(rate_up = stats::plogis(rate + half), rate_down = stats::plogis(rate - half),
           rate_difference = draws[, "rate_difference[1]"])
    } else {
      list(rate = stats::plogis(rate))
    },
    list(sharpness = sharpness, rate_x_sharpness = stats::plogis(rate) * sharpness),
    if (switches[["perseveration"]]) list(perseveration = draws[, "mu_perseveration[1]"]),
    if (switches[["lapse"]]) list(lapse = draws[, "lapse"]), if (switches[["bonus"]]) list(bonus = draws[, "bonus"]),
    if (switches[["generalisation"]]) list(generalisation = draws[, "generalisation"]),
    list(sd_rate = draws[, "sd_games[1]"], sd_sharpness = draws[, "sd_games[2]"]),
    if (switches[["perseveration"]]) list(sd_perseveration = draws[, "sd_games[3]"]),
    if (switches[["free_values"]]) first_value_draws(draws, rounds)
  )
  quantiles <- vapply(values, stats::quantile, double(3), c(.025, .5, .975), names = FALSE)
  estimate_rows(
    names(values), unname(quantiles[2, ]), unname(vapply(values, stats::sd, 0)), conf_low = unname(quantiles[1, ]),
    conf_high = unname(quantiles[3, ])
  )
}

first_value_draws <- function(draws, rounds) {
  cells <- expand.grid(group = rounds$groups, class = rounds$classes, stringsAsFactors = FALSE)
  names <- sprintf("first_value: %s, %s", cells$class, cells$group)
  stats::setNames(lapply(seq_along(names), function(i) first_values_of(draws)[, i]), names)
}

# One row: settings, what sampler_diagnostics() has of brms's fits, and how well choices are predicted.
learner_diagnostics <- function(sampled, rounds, settings, elpd) {
  stanfit <- sampled$stanfit
  draws <- posterior::as_draws_array(stanfit)
  varies <- apply(draws, 3, function(values) stats::sd(values) > 0)
  numbers <- lapply(chain_summary(draws[, , which(varies)])[c("rhat", "ess_bulk", "ess_tail")], as.numeric)
  nats <- -learner_log_lik(rounds, thinned(sampled$draws, 200)) / n_choices(rounds)
  is_on <- settings$switches
  data.frame(
    learner = paste(c("rate", "sharpness", names(is_on)[is_on]), collapse = ", "), chains = settings$chains,
    iterations = settings$iterations, warmup = settings$warmup, adapt_delta = settings$adapt_delta,
    max_treedepth = settings$max_treedepth, seed = settings$seed, n_games = length(rounds$games),
    n_choices = n_choices(rounds), n_draws = nrow(sampled$draws), max_rhat = worst(numbers$rhat, max),
    min_ess_bulk = worst(numbers$ess_bulk, min), min_ess_tail = worst(numbers$ess_tail, min),
    n_divergent = as.integer(rstan::get_num_divergent(stanfit)),
    n_max_treedepth = as.integer(rstan::get_num_max_treedepth(stanfit)),
    min_ebfmi = worst(rstan::get_bfmi(stanfit), min), nats = nats, chance_nats = log(length(rounds$groups)),
    rate_sharpness_correlation = stats::cor(sampled$draws[, "mu_rate"], sampled$draws[, "mu_sharpness"]),
    elpd = sum(elpd), se_elpd = if (anyNA(elpd)) NA_real_ else stats::sd(elpd) * sqrt(length(elpd)),
    compile_s = sampled$compile_s, sampling_s = sampled$sampling_s
  )
}

# The posterior mean of the log likelihood of all choices.
learner_log_lik <- function(rounds, draws) {
  n_games <- length(rounds$games)
  lanes <- chosen_games(rounds, rep(seq_len(n_games), nrow(draws)))
  sum(choice_log_lik(lanes, learner_policy(), learner_parameters(draws, n_games))) / nrow(draws)
}

# By game, the log probability of its choices under learners fitted without the games of its fold: new games have
# parameters drawn from the population. PSIS fails here, for each game has parameters of its own.
left_out_games <- function(rounds, settings) {
  n_games <- length(rounds$games)
  if (settings$folds == 0 || n_games < 2) {
    return(NA_real_)
  }
  fold <- sample(rep_len(seq_len(min(settings$folds, n_games)), n_games))
  elpd <- double(n_games)
  for (one in unique(fold)) {
    settings$say(sprintf("Fold %d of %d", one, max(fold)))
    draws <- thinned(sample_learner(chosen_games(rounds, fold != one), settings)$draws, 1000)
    elpd[fold == one] <- new_game_log_lik(chosen_games(rounds, fold == one), draws)
  }
  elpd
}

new_game_log_lik <- function(rounds, draws) {
  n_games <- length(rounds$games)
  population <- function(centre, spread) {
    matrix(centre + spread * stats::rnorm(nrow(draws) * n_games), nrow(draws))
  }
  has_perseveration <- "mu_perseveration[1]" %in% colnames(draws)
  games <- cbind(
    population(draws[, "mu_rate"], draws[, "sd_games[1]"]),
    exp(population(draws[, "mu_sharpness"], draws[, "sd_games[2]"])),
    if (has_perseveration) population(draws[, "mu_perseveration[1]"], draws[, "sd_games[3]"])
    else matrix(0, nrow(draws), n_games)
  )
  parts <- rep(c("rate", "sharpness", "perseveration"), each = n_games)
  colnames(games) <- sprintf("%s[%d]", parts, rep(seq_len(n_games), 3))
  others <- draws[, setdiff(colnames(draws), colnames(games)), drop = FALSE]
  drawn <- cbind(others, games)
  lanes <- chosen_games(rounds, rep(seq_len(n_games), nrow(draws)))
  log_lik <- rowSums(choice_log_lik(lanes, learner_policy(), learner_parameters(drawn, n_games)))
  by_draw <- matrix(log_lik, n_games)
  top <- apply(by_draw, 1, max)
  top + log(rowMeans(exp(by_draw - top)))
}
