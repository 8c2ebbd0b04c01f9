#' Compare numbers of topics
#'
#' What `stm::searchK()` computes for each number of topics: a model is fitted to the documents without half of the
#' words of every tenth of them, and asked for these. The same seed leaves out the same words for every number, so that
#' they can be computed one at a time, in any order and in several processes.
#'
#' @param prepared what `prepare_topics()` returned.
#' @param k numbers of topics, each at least 2.
#' @param max_em_its upper limit of steps; stm's own is 500.
#' @param seed a whole number, of the words left out and of the fit.
#' @param cores number of cores for one fit; numbers of topics are better spread over processes.
#' @inheritParams fit_topics
#' @return A data frame with one row per number of topics: `n_topics`, `heldout_likelihood` (mean log likelihood of a
#'   word that was left out), `residual_dispersion`, `semantic_coherence` and `exclusivity` (means over topics),
#'   `bound`, `lower_bound` (`bound + lfactorial(n_topics)`), `n_steps`, `n_documents`, `n_words`.
#' @noRd
search_topics <- function(prepared, k = 3:10, prevalence = ~ condition * model * test, max_em_its = 500,
                          seed = 1048596, cores = 1) {
  need_package("stm", "fit topics")
  heldout <- with_seed(seed, stm::make.heldout(prepared$documents, prepared$vocab, seed = seed))
  rows <- lapply(k, function(number) {
    topics <- topic_number(number)
    with_gaps <- list(documents = heldout$documents, vocab = heldout$vocab, meta = prepared$meta)
    model <- fit_topics(
      with_gaps,
      k = topics, prevalence = prevalence, max_em_its = max_em_its, seed = seed, cores = cores
    )
    with_seed(seed, search_row(model, heldout))
  })
  do.call(rbind, rows)
}

search_row <- function(model, heldout) {
  n_words <- min(10, length(heldout$vocab))
  n_topics <- model$settings$dim$K
  bound <- max(model$convergence$bound)
  data.frame(
    n_topics = n_topics, heldout_likelihood = stm::eval.heldout(model, heldout$missing)$expected.heldout,
    residual_dispersion = stm::checkResiduals(model, heldout$documents)$dispersion,
    semantic_coherence = mean(stm::semanticCoherence(model, heldout$documents, M = n_words)),
    exclusivity = mean(stm::exclusivity(model, M = n_words, frexw = .7)), bound = bound,
    lower_bound = bound + lfactorial(n_topics), n_steps = length(model$convergence$bound),
    n_documents = length(heldout$documents), n_words = length(heldout$vocab)
  )
}

# Cleaning takes as long as fitting, so it is done once, for all numbers of topics: the prepared documents go to `file`.
# `arguments` are those of fit_stm().
prepare_search <- function(data, arguments, file) {
  arguments <- Filter(Negate(is.null), as.list(arguments))
  settings <- do.call(topic_settings, c(list(data = as_columns(data)), arguments), quote = TRUE)
  of_kind <- texts_of_one_kind(as_columns(data), settings$text, arguments$reasoning_kind)
  say_of_kind(of_kind)
  data <- of_kind$data
  used <- c(settings$text, settings$id, settings$covariates)
  rows <- data[stats::complete.cases(data[used]), , drop = FALSE]
  prepared <- with_treatment_contrasts(prepared_topics(rows, settings))
  saveRDS(list(prepared = prepared, prevalence = settings$formulas$prevalence, seed = settings$seed), file)
  data.frame(n_documents = length(prepared$documents), n_words = length(prepared$vocab))
}

search_prepared <- function(file, k, max_em_its) {
  search <- readRDS(file)
  row <- with_treatment_contrasts(
    search_topics(search$prepared, k, search$prevalence, max_em_its, search$seed)
  )
  row$seed <- search$seed
  list(row = row, versions = versions_of(c("stm", "tm", "SnowballC")))
}
