#' Fit a structural topic model
#'
#' `stm::stm()` with spectral initialisation, as in the RM-IAT paper. The engine `"fast"` leaves all to package stm but
#' one function, its E-step, which compiled code computes on several cores (`inst/native/topic_estep.cpp`): the same
#' optimiser, sums in the same order, and so the same bits as stm if R uses the reference BLAS, in about a twentieth
#' of the processor time. It is compiled at its first use, for which R needs a C++ compiler, and kept in
#' `R_user_dir("slant", "cache")`. Without a compiler stm's own code does it, and a message says so.
#'
#' @param prepared what `prepare_topics()` returned.
#' @param k number of topics, at least 2.
#' @param prevalence one-sided formula of the covariates of topic prevalence; their names are columns of
#'   `prepared$meta`.
#' @param max_em_its upper limit of steps.
#' @param seed a whole number. Spectral initialisation doesn't draw; it is kept with the result.
#' @param engine `"fast"`, or `"stm"` for stm's own code throughout.
#' @param cores number of cores for `"fast"`; `NULL` for all there are. It changes no bit of the result.
#' @param say `NULL`, or a function that gets each step's number.
#' @return An object of class `STM`, for all functions of package stm, with one element more, `engine`: the one that
#'   fitted it. Its `time` is in seconds.
#' @noRd
fit_topics <- function(prepared, k = 4, prevalence = ~ condition * model * test, max_em_its = 50, seed = 1048596,
                       engine = c("fast", "stm"), cores = NULL, say = NULL) {
  need_package("stm", "fit topics")
  engine <- match.arg(engine)
  k <- topic_number(k)
  if (length(prepared$documents) < 2 || length(prepared$vocab) <= k) {
    stop_with(
      sprintf(
        "Can't fit %d topics to %s and %s.", k, counted(length(prepared$documents), "document"),
        counted(length(prepared$vocab), "word")
      ),
      "There must be several documents, and more words than topics: see `lower_thresh`."
    )
  }
  native <- if (engine == "fast") native_code("topic_estep", "fitting takes about twenty times as long")
  stm <- if (is.null(native) && is.null(say)) stm::stm else stm_with_own_estep(native, cores, say)
  model <- with_seed(seed, stm( # stm() calls set.seed()
    prepared$documents, prepared$vocab,
    K = k, prevalence = prevalence, data = prepared$meta, init.type = "Spectral", max.em.its = max_em_its,
    seed = seed, verbose = FALSE
  ))
  model$engine <- if (is.null(native)) "stm" else "fast"
  model
}

# stm(), and its loop over steps, in an environment where they find our E-step instead of their own. The package itself
# stays as it is.
stm_with_own_estep <- function(native, cores, say) {
  inside <- new.env(parent = asNamespace("stm"))
  step <- 0
  own_estep <- if (is.null(native)) get("estep", asNamespace("stm")) else fast_estep(native, cores)
  inside$estep <- function(...) {
    step <<- step + 1
    if (!is.null(say)) say(step)
    own_estep(...)
  }
  for (name in c("stm.control", "stm")) {
    copied <- get(name, asNamespace("stm"))
    environment(copied) <- inside
    inside[[name]] <- copied
  }
  inside$stm
}

# A function with the arguments and the value of stm's estep(), for models without content covariates.
fast_estep <- function(native, cores) {
  threads <- if (is.null(cores)) 0L else as.integer(cores)
  function(documents, beta.index, update.mu, beta, lambda.old, mu, sigma, verbose) { # nolint: object_name_linter.
    factor <- try(chol.default(sigma), silent = TRUE)
    # As in stm: a sigma that isn't positive definite still has a determinant.
    is_definite <- !inherits(factor, "try-error")
    entropy <- if (is_definite) sum(log(diag(factor))) else .5 * determinant(sigma, logarithm = TRUE)$modulus[1]
    precision <- if (is_definite) chol2inv(factor) else solve(sigma)
    step <- .Call(native, documents, mu + 0, beta[[1]], lambda.old + 0, precision, entropy, threads)
    if (step$not_finite > 0) {
      stop_with(
        sprintf("Can't fit topics: the likelihood of document %d is not finite.", step$not_finite),
        "Leave out rare words (a higher `lower_thresh`), or fit fewer topics."
      )
    }
    list(sigma = step$sigma, beta = list(step$beta), bound = step$bound, lambda = step$lambda)
  }
}

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
  do.call(rbind, lapply(k, function(number) {
    topics <- topic_number(number)
    with_gaps <- list(documents = heldout$documents, vocab = heldout$vocab, meta = prepared$meta)
    model <- fit_topics(
      with_gaps,
      k = topics, prevalence = prevalence, max_em_its = max_em_its, seed = seed, cores = cores
    )
    with_seed(seed, search_row(model, heldout))
  }))
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
