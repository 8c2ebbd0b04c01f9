#' Regress topic prevalence on covariates
#'
#' What `stm::estimateEffect(uncertainty = "Global")` gives, number by number, in a tenth of the time: for each of
#' `n_sims` draws of all documents' topic proportions from their posterior, a linear model per topic.
#'
#' @param model what [fit_topics()] returned.
#' @param meta data frame of covariates: `prepared$meta`.
#' @param formula one-sided formula of the covariates, such as `~ condition * model`.
#' @param seed a whole number: the same seed gives the same draws, those of `set.seed(seed)` before stm's function. The
#'   session's own random numbers go on as if nothing had been drawn.
#' @param n_sims number of draws.
#' @return An object of class `estimateEffect`, for `summary()` and `plot()` of package stm.
#' @source Lee & Lai (2025), Table S14.
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE) && requireNamespace("tm", quietly = TRUE)
#' set.seed(1)
#' words <- c("bias", "fair", "group", "name", "think", "word", "rule", "task")
#' texts <- replicate(60, paste(sample(words, 12, replace = TRUE), collapse = " "))
#' prepared <- prepare_topics(texts, data.frame(condition = rep(c("a", "b"), 30)), lower_thresh = 1)
#' model <- fit_topics(prepared, k = 2, prevalence = ~condition, max_em_its = 5, engine = "stm")
#' summary(topic_effects(model, prepared$meta, ~condition, seed = 1))
topic_effects <- function(model, meta, formula = ~ condition * model, seed = 1048596, n_sims = 25) {
  need_package("stm", "regress topics")
  inside <- new.env(parent = asNamespace("stm"))
  inside$thetaPosterior <- function(model, ...) list(draw_proportions(model))
  estimate <- stm::estimateEffect
  environment(estimate) <- inside
  found <- with_seed(
    seed,
    estimate(all_topics(formula, model), model, metadata = meta, uncertainty = "Global", nsims = n_sims)
  )
  found$call <- match.call()
  found
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
