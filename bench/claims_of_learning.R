# Claims about the hierarchical learner of games that take many minutes, one function each; bench/truth.R runs them, and
# only in `--long`. Each says first how many minutes it will take, by its first data set.

switches_of_claims <- c(
  perseveration = TRUE, lapse = TRUE, two_rates = FALSE, bonus = FALSE, generalisation = FALSE, free_values = FALSE
)

claimed_sampler <- function(seed, switches = switches_of_claims) {
  list(
    chains = 2, iterations = 500, warmup = 250, adapt_delta = .9, max_treedepth = 10, seed = seed, cores = 1,
    switches = switches, say = function(text) NULL
  )
}

# Truths of the population from the priors of inst/stan/learner.stan, and games of 40 rounds played with them.
drawn_learner <- function(n_games, truth = NULL) {
  drawn <- c(
    mu_rate = stats::rnorm(1, -.5, 1.5), mu_sharpness = stats::rnorm(1, 1.5, 1),
    "mu_perseveration[1]" = stats::rnorm(1, 0, 1.5), "mu_lapse[1]" = stats::rnorm(1, -3, 1),
    stats::setNames(abs(stats::rnorm(3)), sprintf("sd_games[%d]", 1:3))
  )
  if (!is.null(truth)) drawn[names(truth)] <- truth
  of_games <- function(centre, spread) drawn[[centre]] + drawn[[spread]] * stats::rnorm(n_games)
  rate <- stats::plogis(of_games("mu_rate", "sd_games[1]"))
  parameters <- list(
    rate_up = rate, rate_down = rate, sharpness = exp(of_games("mu_sharpness", "sd_games[2]")),
    perseveration = of_games("mu_perseveration[1]", "sd_games[3]"), lapse = stats::plogis(drawn[["mu_lapse[1]"]])
  )
  games <- replayed_rounds(empty_games(n_games, 40), learner_policy(), parameters)
  list(truth = drawn, games = games, log_lik = sum(choice_log_lik(games, learner_policy(), parameters)))
}

# The ranks of the truths of one data set among 99 draws, and of the log likelihood, which sees what ranks can't.
learner_ranks <- function(number, n_games = 10, n_draws = 99) {
  known <- with_seed(9000 + number, drawn_learner(n_games))
  stanfit <- suppressWarnings(sample_learner(known$games, claimed_sampler(number))$stanfit)
  draws <- as.matrix(stanfit)
  kept <- thinned(draws, n_draws)
  log_lik <- vapply(seq_len(n_draws), function(i) {
    learner_log_lik(known$games, kept[i, , drop = FALSE])
  }, 0)
  values <- cbind(kept[, names(known$truth)], log_lik = log_lik)
  truth <- c(known$truth, log_lik = known$log_lik)
  limits <- apply(cbind(draws[, names(known$truth)]), 2, stats::quantile, c(.025, .975))
  of_log_lik <- stats::quantile(log_lik, c(.025, .975))
  divergent <- rstan::get_num_divergent(stanfit)
  data.frame(
    number = number, quantity = names(truth), truth = unname(truth), n_draws = n_draws,
    rank = unname(colSums(sweep(values, 2, truth, `<`))), estimate = unname(colMeans(values)),
    std_dev = unname(apply(values, 2, stats::sd)), conf_low = unname(c(limits[1, ], of_log_lik[[1]])),
    conf_high = unname(c(limits[2, ], of_log_lik[[2]])), status = if (divergent > 0) "warned" else "ok"
  )
}

# The rows of `one(number)`; what all of it will take is said once the first is there.
with_minutes <- function(n, one, what) {
  begun <- proc.time()
  first <- one(1)
  used <- sum((proc.time() - begun)[c("user.self", "sys.self", "user.child", "sys.child")])
  message(sprintf("%s: %d data sets take about %.0f minutes of processor.", what, n, n * used / 60))
  c(list(first), lapply(seq_len(n)[-1], one))
}

claims_of_learning <- list(
  calibrated_learner = function(n) {
    compiled_model(readLines(shipped_file(file.path("stan", "learner.stan"))))
    ranks <- do.call(rbind, with_minutes(n, learner_ranks, "Calibrating the learner"))
    summary <- summarise_calibration(ranks)
    claim <- "95 % intervals of a learner of 10 games hold the truth"
    of_quantities <- lapply(split(ranks, factor(ranks$quantity, unique(ranks$quantity))), function(one) {
      held(claim, one$quantity[[1]], one$conf_low <= one$truth & one$truth <= one$conf_high, .93, .97)
    })
    do.call(rbind, c(unname(of_quantities), list(
      held("ranks of a learner are uniform (p by Holm above .05)", "all quantities", summary$p_adjusted > .05, 1, 1),
      printed("its fits have no divergent transition", "10 games", ranks$status[!duplicated(ranks$number)] == "ok")
    )))
  },
  # Held-out games: the learner with the perseveration that the games were played with, against the one without.
  learner_by_folds = function(n) {
    n <- max(2, n %/% 10)
    compared <- with_minutes(n, function(number) {
      strong <- c("mu_perseveration[1]" = 1.5, mu_rate = -.5, mu_sharpness = 1, "mu_lapse[1]" = -4)
      known <- with_seed(9500 + number, drawn_learner(10, strong))
      elpd <- lapply(c(TRUE, FALSE), function(has) {
        switches <- replace(switches_of_claims, "perseveration", has)
        settings <- c(claimed_sampler(number, switches), list(folds = 5))
        with_seed(number, suppressWarnings(left_out_games(known$games, settings)))
      })
      sum(elpd[[1]]) > sum(elpd[[2]])
    }, "Folds of the learner")
    held("K-fold over games prefers the learner that played", "10 games, perseveration 1.5", unlist(compared), .8, 1)
  }
)
long_claims <- c(long_claims, claims_of_learning)
