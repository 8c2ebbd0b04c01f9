#' Regress topic prevalence on covariates
#'
#' What `stm::estimateEffect()` gives: for each of `n_sims` draws of the documents' topic proportions from their
#' posterior, a linear model per topic.
#'
#' @param model what [fit_topics()] returned.
#' @param meta data frame of covariates: `prepared$meta`.
#' @param formula the covariates, such as `~ condition * model`.
#' @param seed a whole number: the same seed gives the same draws.
#' @param n_sims number of draws.
#' @return An object of class `estimateEffect`, for `summary()` and `plot()` of package stm.
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE)
#' set.seed(1)
#' words <- c("bias", "fair", "group", "name", "think", "word", "rule", "task")
#' texts <- replicate(60, paste(sample(words, 12, replace = TRUE), collapse = " "))
#' prepared <- prepare_topics(texts, data.frame(condition = rep(c("a", "b"), 30)), lower_thresh = 1)
#' model <- fit_topics(prepared, k = 2, prevalence = ~condition, max_em_its = 5)
#' summary(topic_effects(model, prepared$meta, ~condition, seed = 1))
topic_effects <- function(model, meta, formula = ~ condition * model, seed = 1048596, n_sims = 25) {
  set.seed(seed)
  formula <- stats::as.formula(paste("1:", model$settings$dim$K, "~", deparse1(formula[[length(formula)]])))
  stm::estimateEffect(formula, model, metadata = meta, uncertainty = "Global", nsims = n_sims)
}
