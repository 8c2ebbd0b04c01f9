#' Fit a structural topic model
#'
#' `stm::stm()` with spectral initialisation, as in the RM-IAT paper.
#'
#' @param prepared what [prepare_topics()] returned.
#' @param k number of topics.
#' @param prevalence formula of the covariates of topic prevalence; their names are columns of `prepared$meta`.
#' @param max_em_its upper limit of steps.
#' @param seed a whole number.
#' @param engine `"fast"`, or `"stm"` for stm's own code.
#' @return An object of class `STM`, for all functions of package stm.
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE)
#' set.seed(1)
#' words <- c("bias", "fair", "group", "name", "think", "word", "rule", "task")
#' texts <- replicate(60, paste(sample(words, 12, replace = TRUE), collapse = " "))
#' prepared <- prepare_topics(texts, data.frame(condition = rep(c("a", "b"), 30)), lower_thresh = 1)
#' fit_topics(prepared, k = 2, prevalence = ~condition, max_em_its = 5)
fit_topics <- function(prepared, k = 4, prevalence = ~ condition * model * test, max_em_its = 50, seed = 1048596,
                       engine = c("fast", "stm")) {
  engine <- match.arg(engine)
  stm::stm(
    prepared$documents, prepared$vocab, K = k, prevalence = prevalence, data = prepared$meta, init.type = "Spectral",
    max.em.its = max_em_its, seed = seed, verbose = FALSE
  )
}
