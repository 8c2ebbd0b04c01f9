# Families of token counts. A provider that counts in steps of k says of a count c that the number is in [c, c + k), and
# of a count of 0 that it is below k; so a family's likelihood of a count is the probability of that interval, and
# families compare with each other, and counts in steps with exact ones.

# A family of bayes_family() with, besides what it has: `step`; `parameters`, the names of what `sigma` holds in
# the functions `draw` and `log_lik`: one number (or one of each draw), or, of several parameters, a list of them by
# name; `median(predictor, sigma)`, in tokens; `log_density(y, predictor, sigma)`, at the middle of a count's step and
# per step; `draw_fitted(predictor, sigma)`, counts as they are fitted, of a family whose draws are fitted otherwise;
# `observed(counts)`, the columns that brms is given for them: count_low, count_side (brms's cens(): -1 below,
# 0 the number itself, 2 between it and count_upper), count_upper; `limits`, what the formula says of them right of the
# |; `stanvars()`, what its Stan program has next to brms's; `priors(counts, step)` of what nobody names;
# `start(counts, step)`, where Stan's parameters begin: from random values 600 tokens are too improbable to begin.
count_family <- function(name, step) {
  if (!is.numeric(step) || length(step) != 1 || !isTRUE(step >= 1) || step != round(step)) {
    stop_with("Can't fit counts: `step` must be a whole number, 1 or more.")
  }
  own <- count_families[[name]](step)
  shared <- list(
    name = name, step = step, outcome = whole_counts, link = log, inverse_link = exp, scales = character(),
    statistics = count_statistics(step), by_cell = names(count_statistics(step)), is_hurdle = FALSE,
    observed = function(counts) {
      is_narrow <- counts > 0 & log1p(step / counts) < stats::sd(log(counts + step / 2)) / 10
      observed_intervals(counts, step, is_narrow)
    },
    limits = quote(cens(count_side, count_upper)), stanvars = function() NULL, priors = log_priors, start = log_start
  )
  if (is.null(own$draw_fitted)) own$draw_fitted <- own$draw
  utils::modifyList(shared, own)
}

count_families <- list(
  lognormal = function(step) {
    list(
      brms = function() brms::lognormal(), parameters = "sigma",
      draw = function(predictor, sigma) in_steps(stats::rlnorm(length(predictor), predictor, sigma), step),
      log_lik = function(y, predictor, sigma) interval_of_lognormal(y, step, predictor, sigma),
      log_density = function(y, predictor, sigma) log(step) + stats::dlnorm(y + step / 2, predictor, sigma, log = TRUE),
      median = function(predictor, sigma) exp(predictor)
    )
  },
  shifted_lognormal = function(step) {
    list(
      brms = function() brms::shifted_lognormal(), parameters = c("sigma", "ndt"),
      draw = function(predictor, sigma) {
        in_steps(sigma$ndt + stats::rlnorm(length(predictor), predictor, sigma$sigma), step)
      },
      log_lik = function(y, predictor, sigma) {
        ends <- lapply(list(y, y + step), function(end) (log(pmax(end - sigma$ndt, 0)) - predictor) / sigma$sigma)
        ifelse(y + step > sigma$ndt, log_share_between(ends[[1]], ends[[2]]), -Inf)
      },
      log_density = function(y, predictor, sigma) {
        log(step) + stats::dlnorm(y + step / 2 - sigma$ndt, predictor, sigma$sigma, log = TRUE)
      },
      median = function(predictor, sigma) sigma$ndt + exp(predictor)
    )
  },
  gaussian = function(step) {
    list(
      brms = function() stats::gaussian(), parameters = "sigma", link = identity, inverse_link = identity,
      draw = function(predictor, sigma) in_steps(pmax(stats::rnorm(length(predictor), predictor, sigma), 0), step),
      log_lik = function(y, predictor, sigma) interval_of_gaussian(y, step, predictor, sigma),
      log_density = function(y, predictor, sigma) log(step) + stats::dnorm(y + step / 2, predictor, sigma, log = TRUE),
      median = function(predictor, sigma) predictor,
      observed = function(counts) {
        is_far <- abs(counts - mean(counts)) > 5 * stats::sd(counts)
        observed_intervals(counts, step, step < stats::sd(counts) / 10 | is_far)
      },
      priors = token_priors, start = token_start
    )
  },
  negative_binomial = function(step) {
    list(
      brms = negative_binomial_in_steps, stanvars = function() ways_below(step), parameters = "shape",
      draw = function(predictor, shape) {
        in_steps(stats::rnbinom(length(predictor), size = shape, mu = exp(predictor)), step)
      },
      # What is fitted: numbers below a step are that, those above it themselves, once `observed` has them.
      draw_fitted = function(predictor, shape) {
        drawn <- stats::rnbinom(length(predictor), size = shape, mu = exp(predictor))
        ifelse(drawn < step, 0, drawn - step %/% 2)
      },
      log_lik = function(y, predictor, shape) interval_of_negative_binomial(y, step, predictor, shape),
      log_density = function(y, predictor, shape) {
        log(step) + stats::dnbinom(y + step %/% 2, size = shape, mu = exp(predictor), log = TRUE)
      },
      median = function(predictor, shape) stats::qnbinom(.5, size = shape, mu = exp(predictor)),
      # Whole numbers: below a step is up to k - 1. Above it is the middle of the step: a gradient of all intervals
      # takes Stan 30 ms, where one of these takes 1 (2,000 counts).
      limits = quote(vint(count_side)),
      observed = function(counts) {
        low <- as.integer(ifelse(counts == 0, step - 1, counts + step %/% 2))
        data.frame(count_low = low, count_side = ifelse(counts == 0, -1L, 0L))
      }
    )
  },
  hurdle_lognormal = function(step) {
    list(
      brms = function() brms::hurdle_lognormal(), parameters = c("sigma", "hu"), is_hurdle = TRUE,
      draw = function(predictor, sigma) {
        # of upper tails, on the log scale: far out lower ones are 1
        log_above <- stats::plnorm(step, predictor, sigma$sigma, lower.tail = FALSE, log.p = TRUE)
        at <- log_above + log(stats::runif(length(predictor)))
        is_zero <- stats::runif(length(predictor)) < sigma$hu
        drawn <- stats::qlnorm(at, predictor, sigma$sigma, lower.tail = FALSE, log.p = TRUE)
        above <- pmin(drawn, .Machine$integer.max)
        ifelse(is_zero, 0, pmax(step, in_steps(above, step)))
      },
      log_lik = function(y, predictor, sigma) {
        if (y == 0) {
          return(hurdle_of(sigma$hu, predictor))
        }
        log1p(-sigma$hu) + interval_above_step(y, step, predictor, sigma$sigma)
      },
      log_density = function(y, predictor, sigma) {
        if (y == 0) {
          return(hurdle_of(sigma$hu, predictor))
        }
        log(step) + log1p(-sigma$hu) + stats::dlnorm(y + step / 2, predictor, sigma$sigma, log = TRUE)
      },
      median = function(predictor, sigma) {
        left <- pmax(.5 - sigma$hu, 0) / (1 - sigma$hu)
        log_above <- stats::plnorm(step, predictor, sigma$sigma, lower.tail = FALSE, log.p = TRUE)
        at <- log_above + log1p(-left)
        ifelse(left > 0, stats::qlnorm(at, predictor, sigma$sigma, lower.tail = FALSE, log.p = TRUE), 0)
      },
      # brms has no censored hurdle: a count is the middle of its step
      observed = function(counts) {
        data.frame(count_low = ifelse(counts == 0, 0, counts + step / 2), count_side = 0L, count_upper = 0)
      },
      priors = function(counts, step) {
        c(log_priors(counts[counts > 0], step), list(b_hu = "normal(0, 2)", Intercept_hu = "logistic(0, 1)"))
      }
    )
  }
)

# The formula as brms has it: of the interval of each count, or, of a hurdle, of zeros by the same fixed effects, too.
count_formula <- function(formula, family) {
  model <- formula
  if (family$is_hurdle) {
    model[[2]] <- quote(count_low)
    zeros <- without_random_terms(formula)
    zeros[[2]] <- quote(hu)
    return(brms::bf(model, zeros))
  }
  model[[2]] <- call("|", quote(count_low), family$limits)
  model
}

# The negative binomial of whole numbers (`vint1` 0), or of all up to a number (-1). brms's own censoring calls Stan's
# neg_binomial_2_lcdf: .3 to 30 ms a gradient of 100 zeros, and not finite far out, where this sum takes .25 ms. What
# brms does with its own families (predict(), fitted(), loo()) it does with this one, too.
negative_binomial_in_steps <- function() {
  # a fit that is written to a file takes the environments of these along: of ours all R code
  apart <- function(of_brms) `environment<-`(of_brms, baseenv())
  brms::custom_family(
    "negative_binomial_in_steps",
    dpars = c("mu", "shape"), links = c("log", "log"), lb = c(NA, 0), type = "int",
    vars = c("vint1[n]", "ways", "numbers_below"),
    log_lik = apart(function(i, prep) {
      mu <- brms::get_dpar(prep, "mu", i = i)
      shape <- brms::get_dpar(prep, "shape", i = i)
      density <- if (prep$data$vint1[[i]] == 0) stats::dnbinom else stats::pnbinom
      density(prep$data$Y[[i]], size = shape, mu = mu, log = TRUE)
    }),
    posterior_predict = apart(function(i, prep, ...) {
      mu <- brms::get_dpar(prep, "mu", i = i)
      stats::rnbinom(length(mu), size = brms::get_dpar(prep, "shape", i = i), mu = mu)
    }),
    posterior_epred = apart(function(prep) brms::get_dpar(prep, "mu"))
  )
}

# What Stan needs for it. The probability of j tokens is that of none times prod((i + shape) / (i + 1), i < j) * q^j,
# with q = mu / (mu + shape); the logarithms of the products are the same for all rows.
ways_below <- function(step) {
  stan_data <- brms::stanvar(array(seq_len(step) - 1, step), "numbers_below", "vector[N_below] numbers_below;")
  functions <- "
  vector log_ways(vector numbers, real shape) {
    return append_row(0, head(cumulative_sum(log((numbers + shape) ./ (numbers + 1))), rows(numbers) - 1));
  }
  real negative_binomial_in_steps_lpmf(int y, real mu, real shape, int side, vector ways, vector numbers) {
    if (side == 0) return neg_binomial_2_lpmf(y | mu, shape);
    return log_sum_exp(ways - numbers * log1p(shape / mu)) - shape * log1p(mu / shape);
  }"
  brms::stanvar(as.integer(step), "N_below") + stan_data + brms::stanvar(scode = functions, block = "functions") +
    brms::stanvar(scode = "vector[N_below] ways = log_ways(numbers_below, shape);", block = "model")
}

hurdle_of <- function(hu, predictor) rep_len(log(hu), length(predictor))

in_steps <- function(values, step) step * floor(values / step)

whole_counts <- function(values, name) {
  if (!is.numeric(values) || !all(is.finite(values)) || any(values < 0 | values != round(values))) {
    stop_with(
      sprintf("The outcome \"%s\" must be counts, whole numbers from 0, in every row.", name),
      "Of other numbers: family = \"gaussian\" without a step."
    )
  }
  as.numeric(values)
}

# A count of 0 is less than a step. Where the step is small next to the spread of the counts, the density at its middle
# is the probability of the interval to a thousandth, at half the time; it is in Stan also where a number is so far out
# that 1 - 1e-17 is 1.
observed_intervals <- function(counts, step, is_exact) {
  side <- ifelse(counts == 0, -1L, ifelse(is_exact %in% TRUE, 0L, 2L))
  low <- ifelse(side == 0, counts + step / 2, ifelse(side == -1, step, counts))
  data.frame(count_low = low, count_side = side, count_upper = ifelse(side == 2, counts + step, low))
}

# Weakly informative: a condition that takes seven times as many tokens, words that differ by half, are two standard
# deviations out. The intercept goes by the median of the counts, to a tenth.
log_priors <- function(counts, step) {
  list(
    b = "normal(0, 1)", Intercept = sprintf("normal(%.1f, 2)", log(middle_of(counts, step))), sd = "exponential(2)",
    cor = "lkj(1)", sigma = "exponential(1)", shape = "gamma(2, 0.1)"
  )
}

token_priors <- function(counts, step) {
  spread <- round(max(step, stats::mad(counts)))
  half <- sprintf("student_t(3, 0, %.0f)", spread)
  list(
    b = sprintf("normal(0, %.0f)", spread), sd = half, cor = "lkj(1)", sigma = half,
    Intercept = sprintf("student_t(3, %.0f, %.0f)", middle_of(counts, step), spread)
  )
}

middle_of <- function(counts, step) if (length(counts) == 0) step else stats::median(counts) + step / 2

log_start <- function(counts, step) {
  logs <- log(counts[counts > 0] + step / 2)
  spread <- if (length(logs) > 1) max(stats::sd(logs), .2) else 1
  middle <- if (length(logs) > 0) mean(logs) else log(step)
  list(Intercept = middle, sigma = spread, shape = 1 / spread^2, sd = spread / 5)
}

token_start <- function(counts, step) {
  spread <- max(step, stats::sd(counts))
  list(Intercept = mean(counts) + step / 2, sigma = spread, sd = spread / 5)
}

# Of the rows of a condition: the share of zeros, of the first steps above where counts come in steps, and quantiles.
count_statistics <- function(step) {
  share_of <- function(count) {
    force(count)
    function(y) mean(y == count)
  }
  quantile_of <- function(probability) {
    force(probability)
    function(y) stats::quantile(y, probability, names = FALSE, type = 1)
  }
  c(
    list(zeros = share_of(0)), if (step > 1) list(one_step = share_of(step), two_steps = share_of(2 * step)),
    list(quantile_10 = quantile_of(.1), median = quantile_of(.5), quantile_90 = quantile_of(.9))
  )
}
