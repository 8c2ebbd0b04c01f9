#' How do they learn? A hierarchical learner of games
#'
#' Each choice follows values that change with what came of earlier ones: after reward r of a group the value of the
#' group (in that class of jobs) moves by rate x (r - value). A group is chosen with the softmax of sharpness x value,
#' plus `perseveration` for the last group of the class; a share `lapse` of choices is at random. Games have rates,
#' sharpness and perseveration of their own, around those of the group of rows (a model and variant, say). Sampled by
#' Stan (inst/stan/learner.stan), compiled once on a machine.
#'
#' Rate and sharpness are hard to tell apart where learning is slow: their product is what the data know, and is among
#' the estimates. A parameter whose posterior is hardly narrower than its prior (standard deviations above .8 of the
#' prior's, on the scale of the prior) is `"not identified"`, and a warning says so.
#'
#' Whole games are replayed with their own parameters at the true chances of success; where they don't look like those
#' that were played, the parameters are no findings: a warning, and `passes` in `tables$learner`, say so.
#'
#' @inheritParams fit_policies
#' @param perseveration,lapse,two_rates,bonus,generalisation which parameters the learner has: `two_rates` for good and
#'   bad news (`rate_up`, `rate_down`); a `bonus` / sqrt(tries + 1) on groups seldom tried; `generalisation`, the share
#'   of what is learned that goes to the same group in other classes.
#' @param free_values `TRUE` if values before the first try differ between groups and classes, alike in all games;
#'   else they are .5. Games that stratify alike (a high GASI's absence) can't come out without.
#' @param people a list of numbers, such as the estimates of people's own games: `sharpness`, `perseveration`, `lapse`,
#'   `bonus`. What the indices would be with these is one more of the counterfactuals.
#' @param chains,iterations,warmup,adapt_delta,max_treedepth,seed,cores as of [fit_brms()].
#' @param folds number of folds over games for `elpd`, whole refits each; 0 for none.
#' @param save_to path of an `.rds` file for the `stanfit` of each group of rows, or `NULL`.
#' @param say a function that gets progress in words, or the path of a file to write it to.
#' @return The same list of data frames as [fit_lme4()]. `estimates`: medians as `estimate`, posterior standard
#'   deviations, 95 % intervals; rates and shares from 0 to 1, `sd_…` between games on the scale of the prior. `tables`:
#'   \describe{
#'     \item{learner}{one row a group: settings, diagnostics as of [fit_brms()], `nats` a choice (posterior mean) and
#'       `chance_nats`, `rate_sharpness_correlation`, `elpd` with `se_elpd` (if `folds`), `passes`, `verdict`.}
#'     \item{priors}{of each parameter `prior`, `prior_sd`, `posterior_sd`, `is_identified`.}
#'     \item{checks}{the replay: `statistic`, `kind`, `observed`, `predicted`, `conf_low`, `conf_high`, `p_adjusted`,
#'       `passes`.}
#'     \item{counterfactuals}{what the indices would be under this model with more or less exploration: `exploration`,
#'       `statistic`, `predicted`, `conf_low`, `conf_high`.}
#'     \item{curves}{how choices settle by round in the games and in their replays, as of `"policies"`.}
#'   }
#' @source Sutton & Barto (2018), section 2.5; Wilson & Collins (2019), Ten simple rules for the computational modeling
#'   of behavioral data. Wu et al. argue by exploration and fit no model of choice.
#' @noRd
fit_learning <- function(data, by = NULL, perseveration = TRUE, lapse = TRUE, two_rates = FALSE, bonus = FALSE,
                         generalisation = FALSE, free_values = FALSE, people = NULL, chains = 4, iterations = 2000,
                         warmup = 1000, adapt_delta = .9, max_treedepth = 10, seed = 1, cores = NULL, folds = 0,
                         save_to = NULL, say = NULL) {
  flag <- argument_kinds$flag
  check_arguments(more = list(
    perseveration = flag, lapse = flag, two_rates = flag, bonus = flag, generalisation = flag, free_values = flag,
    folds = argument_kinds$whole(0)
  ))
  people <- checked_exploration(people)
  for (package in c("rstan", "posterior")) need_package(package, "fit learners")
  settings <- sampler_settings(chains, iterations, warmup, adapt_delta, max_treedepth, seed, cores)
  settings <- c(settings, list(folds = folds, people = people, say = progress_writer(say), switches = c(
    perseveration = perseveration, lapse = lapse, two_rates = two_rates, bonus = bonus,
    generalisation = generalisation, free_values = free_values
  )))
  fit_one <- function(rounds) with_seed(seed, fit_learner(rounds, settings))
  fitted <- fit_games(data, by, "fit a learner", fit_one, save_to)
  slant_fit(fitted, c("rstan", "StanHeaders", "posterior"))
}

fit_learner <- function(rounds, settings) {
  sampled <- sample_learner(rounds, settings)
  settings$say("Replaying the games")
  used <- thinned(sampled$draws, n_replays[["many"]])
  replays <- learner_checks(rounds, used)
  checks <- replays$checks
  priors <- prior_rows(sampled$draws, settings$switches)
  elpd <- left_out_games(rounds, settings)
  draws <- posterior::as_draws_array(sampled$stanfit)
  fixed <- dimnames(draws)[[3]][apply(draws, 3, stats::sd) == 0]
  nats <- -learner_log_lik(rounds, thinned(sampled$draws, 200)) / n_choices(rounds)
  is_on <- settings$switches
  model <- data.frame(
    learner = paste(c("rate", "sharpness", names(is_on)[is_on]), collapse = ", "), chains = settings$chains,
    iterations = settings$iterations, warmup = settings$warmup, adapt_delta = settings$adapt_delta,
    max_treedepth = settings$max_treedepth, seed = settings$seed, n_games = length(rounds$games),
    n_choices = n_choices(rounds), sampler_diagnostics(draws, sampled$stanfit, fixed), nats = nats,
    chance_nats = log(length(rounds$groups)),
    rate_sharpness_correlation = stats::cor(sampled$draws[, "mu_rate"], sampled$draws[, "mu_sharpness"]),
    elpd = sum(elpd), se_elpd = if (anyNA(elpd)) NA_real_ else stats::sd(elpd) * sqrt(length(elpd)),
    compile_s = sampled$compile_s, sampling_s = sampled$sampling_s
  )
  of_chains <- convergence_warnings(model)
  of_model <- c(identification_warning(priors), replay_warning(checks))
  for (doubt in c(of_chains, of_model)) warning(doubt, call. = FALSE)
  model$is_converged <- length(of_chains) == 0
  model$passes <- if (is.null(checks)) NA else all(checks$passes)
  model$verdict <- convergence_verdict(model, of_chains, of_model)
  list(
    estimates = learner_estimates(sampled$draws, rounds, settings$switches),
    # the mean over draws: no maximum, so neither an AIC nor a BIC goes with it
    fit = list(
      n_groups = length(rounds$games), log_lik = -model$nats * model$n_choices, singular = FALSE,
      optimiser = "rstan, NUTS"
    ),
    tables_of_group = list(
      learner = model, priors = priors, checks = if (is.null(checks)) no_checks() else checks,
      counterfactuals = counterfactual_rows(rounds, used, settings$people),
      curves = if (is.null(replays)) no_curves() else replays$curves
    ),
    model = sampled$stanfit
  )
}

# list(stanfit, draws), draws a matrix with a column a parameter.
sample_learner <- function(rounds, settings) {
  model <- compiled_model(readLines(shipped_file(file.path("stan", "learner.stan"))), settings$say)
  begun <- proc.time()[["elapsed"]]
  sampler <- c(settings[c("chains", "iterations", "warmup", "adapt_delta", "max_treedepth", "seed", "cores")],
               list(init = "random"))
  stanfit <- sample_chains(model, learner_data(rounds, settings$switches), "z", sampler,
                           settings$say)
  list(
    stanfit = stanfit, draws = as.matrix(stanfit), compile_s = attr(model, "compile_s"),
    sampling_s = proc.time()[["elapsed"]] - begun
  )
}

learner_data <- function(rounds, switches, prior_only = FALSE) {
  is_round <- t(rounds$class > 0)
  in_order <- function(part) t(part)[is_round]
  n_rounds <- colSums(is_round)
  ends <- cumsum(n_rounds)
  c(
    list(
      N = sum(n_rounds), J = length(rounds$games), K = length(rounds$groups), C = length(rounds$classes),
      begins = as.array(ends - n_rounds + 1), ends = as.array(ends), choice = as.integer(in_order(rounds$choice)),
      cls = as.integer(in_order(rounds$class)), reward = in_order(rounds$reward), first_value = .5,
      prior_only = as.integer(prior_only)
    ),
    stats::setNames(as.list(as.integer(switches)), paste0("has_", names(switches)))
  )
}

# Evenly spaced draws, at most `n` of them.
thinned <- function(draws, n) {
  draws[unique(round(seq(1, nrow(draws), length.out = min(n, nrow(draws))))), , drop = FALSE]
}

# The parameters of each game in each draw, as run_policy() takes them: those of the first draw, game after game, first.
learner_parameters <- function(draws, n_games) {
  by_game <- function(name) as.vector(t(draws[, sprintf("%s[%d]", name, seq_len(n_games)), drop = FALSE]))
  of_all <- function(name) rep(draws[, name], each = n_games)
  half <- of_all("half_difference")
  found <- list(
    rate_up = stats::plogis(by_game("rate") + half), rate_down = stats::plogis(by_game("rate") - half),
    sharpness = by_game("sharpness"), perseveration = by_game("perseveration"), lapse = of_all("lapse"),
    bonus = of_all("bonus"), first_values = first_values_of(draws)[rep(seq_len(nrow(draws)), each = n_games), ]
  )
  generalisation <- of_all("generalisation")
  if (any(generalisation > 0)) found$generalisation <- generalisation
  found
}

# A row a draw, and a column a group within a class, as states of games have them.
first_values_of <- function(draws) draws[, grep("^first\\[", colnames(draws)), drop = FALSE]

learner_policy <- function() list(weights = learner_shares)

# The games once for each draw, played with these parameters.
learner_replays <- function(rounds, parameters, n_draws) {
  lanes <- chosen_games(rounds, rep(seq_along(rounds$games), n_draws))
  replayed_rounds(lanes, learner_policy(), parameters, noted = TRUE)
}

learner_checks <- function(rounds, draws) {
  if (!can_be_replayed(rounds)) {
    return(NULL)
  }
  compared_replays(rounds, function(numbers) {
    parameters <- learner_parameters(draws[numbers, , drop = FALSE], length(rounds$games))
    learner_replays(rounds, parameters, length(numbers))
  }, n_draws = nrow(draws), at_most = nrow(draws))
}

# What the games would be with more or less exploration, all else the same, under this model.
counterfactual_rows <- function(rounds, draws, people = NULL, n_draws = 200) {
  columns <- columns_of("exploration:text statistic:text predicted conf_low conf_high")
  if (!can_be_replayed(rounds)) {
    return(columns)
  }
  draws <- thinned(draws, n_draws)
  parameters <- learner_parameters(draws, length(rounds$games))
  worlds <- list(
    "as fitted" = parameters, "less: sharpness doubled" = within_list(parameters, sharpness = parameters$sharpness * 2),
    "more: sharpness halved" = within_list(parameters, sharpness = parameters$sharpness / 2),
    "no perseveration" = within_list(parameters, perseveration = 0),
    "at random" = within_list(parameters, sharpness = 0, perseveration = 0, bonus = 0)
  )
  if (length(people) > 0) worlds[["as people explore"]] <- utils::modifyList(parameters, people)
  shown <- c("one_minus_herfindahl", "si", "bgd", "gasi")
  as_plain_rows(do.call(rbind, lapply(names(worlds), function(name) {
    found <- game_statistics(learner_replays(rounds, worlds[[name]], nrow(draws)), nrow(draws))
    found <- found[intersect(shown, names(found))]
    limits <- vapply(found, stats::quantile, double(2), c(.025, .975), na.rm = TRUE)
    frame_of(
      exploration = name, statistic = names(found), predicted = unname(vapply(found, mean, 0, na.rm = TRUE)),
      conf_low = unname(limits[1, ]), conf_high = unname(limits[2, ])
    )
  })))
}

# What explores: the numbers of `people` that choices take, all else is the model's own.
exploring <- c("sharpness", "perseveration", "lapse", "bonus")

checked_exploration <- function(people) {
  people <- as.list(people)
  is_right <- vapply(people, function(value) is.numeric(value) && length(value) == 1 && is.finite(value), NA)
  if (length(people) > 0 && (!all(names(people) %in% exploring) || is.null(names(people)) || !all(is_right))) {
    stop_with(
      sprintf("`people` must be a list of numbers by name, of %s.", toString(exploring)),
      "As in: people = list(sharpness = 8, perseveration = -.5, lapse = .01)"
    )
  }
  people
}

within_list <- function(list, ...) utils::modifyList(list, list(...))

# What the draws of a learner say, in rows: estimates, priors next to posteriors, diagnostics and verdict.

reported_names <- c(
  mu_rate = "rate", mu_sharpness = "sharpness", "mu_perseveration[1]" = "perseveration", "mu_lapse[1]" = "lapse",
  "rate_difference[1]" = "rate_difference", "mu_bonus[1]" = "bonus", "mu_generalisation[1]" = "generalisation"
)

widest_identified <- .8

prior_rows <- function(draws, switches) {
  priors <- list(
    mu_rate = list("normal(-0.5, 1.5), log odds", 1.5), mu_sharpness = list("normal(1.5, 1), log", 1),
    "mu_perseveration[1]" = list("normal(0, 1.5)", 1.5), "mu_lapse[1]" = list("normal(-3, 1), log odds", 1),
    "rate_difference[1]" = list("normal(0, 1), log odds", 1), "mu_bonus[1]" = list("normal(0, 1.5)", 1.5),
    "mu_generalisation[1]" = list("normal(-1, 1.5), log odds", 1.5)
  )
  needs <- c(NA, NA, "perseveration", "lapse", "two_rates", "bonus", "generalisation")
  priors <- priors[is.na(needs) | needs %in% names(switches)[switches]]
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
  # the rates of people's games are not known: they can't be replayed
  failed <- if (!is.null(checks)) checks[!checks$passes, , drop = FALSE]
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
  cells <- expand.grid(group = rounds$groups, class = rounds$classes, stringsAsFactors = FALSE)
  first_values <- sprintf("first_value: %s, %s", cells$class, cells$group)
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
    if (switches[["free_values"]]) stats::setNames(asplit(unclass(first_values_of(draws)), 2), first_values)
  )
  quantiles <- vapply(values, stats::quantile, double(3), c(.025, .5, .975), names = FALSE)
  estimate_rows(
    names(values), unname(quantiles[2, ]), unname(vapply(values, stats::sd, 0)), conf_low = unname(quantiles[1, ]),
    conf_high = unname(quantiles[3, ])
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
