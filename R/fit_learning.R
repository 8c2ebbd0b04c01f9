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
  model <- learner_diagnostics(sampled, rounds, settings, left_out_games(rounds, settings))
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
    variances = NULL,
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
  columns <- frame_of(
    exploration = character(), statistic = character(), predicted = double(), conf_low = double(), conf_high = double()
  )
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
  rows <- lapply(names(worlds), function(name) {
    found <- game_statistics(learner_replays(rounds, worlds[[name]], nrow(draws)), nrow(draws))
    found <- found[intersect(shown, names(found))]
    limits <- vapply(found, stats::quantile, double(2), c(.025, .975), na.rm = TRUE)
    frame_of(
      exploration = rep(name, length(found)), statistic = names(found),
      predicted = unname(vapply(found, mean, 0, na.rm = TRUE)), conf_low = unname(limits[1, ]),
      conf_high = unname(limits[2, ])
    )
  })
  as_plain_rows(do.call(rbind, rows))
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
