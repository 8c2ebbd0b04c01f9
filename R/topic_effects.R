#' Regress topic prevalence on covariates
#'
#' What `stm::estimateEffect(uncertainty = "Global")` gives, number by number, in a tenth of the time: for each of
#' `n_draws` draws of all documents' topic proportions from their posterior, a linear model per topic.
#'
#' @param model what `fit_topics()` returned.
#' @param meta data frame of covariates: `prepared$meta`.
#' @param formula one-sided formula of the covariates, such as `~ condition * model`.
#' @param seed a whole number: the same seed gives the same draws, those of `set.seed(seed)` before stm's function. The
#'   session's own random numbers go on as if nothing had been drawn.
#' @param n_draws number of draws.
#' @return An object of class `estimateEffect`, for `summary()` and `plot()` of package stm.
#' @source Lee & Lai (2025), Table S14.
#' @noRd
topic_effects <- function(model, meta, formula = ~ condition * model, seed = 1048596, n_draws = 25) {
  need_package("stm", "regress topics")
  inside <- new.env(parent = asNamespace("stm"))
  inside$thetaPosterior <- function(model, ...) list(draw_proportions(model))
  estimate <- stm::estimateEffect
  environment(estimate) <- inside
  effects <- with_seed(
    seed,
    estimate(all_topics(formula, model), model, metadata = meta, uncertainty = "Global", nsims = n_draws)
  )
  effects$call <- match.call()
  effects
}

# stm names the topics to regress on the left: 1:4 ~ condition.
all_topics <- function(formula, model) {
  right <- formula[[length(formula)]]
  stats::as.formula(call("~", call(":", 1, model$settings$dim$K), right), env = environment(formula))
}

# One draw of all documents' proportions: stm draws document after document, which a matrix filled by columns repeats.
draw_proportions <- function(model) {
  eta <- model$eta
  mu <- model$mu$mu
  about <- if (ncol(mu) == 1) sweep(eta, 2, as.numeric(mu)) else eta - t(mu)
  factor <- chol(model$sigma - crossprod(about) / nrow(eta))
  noise <- matrix(stats::rnorm(length(eta)), ncol = nrow(eta))
  drawn <- cbind(crossprod(noise, factor) + eta, 0)
  exp(drawn - matrixStats::rowLogSumExps(drawn))
}
