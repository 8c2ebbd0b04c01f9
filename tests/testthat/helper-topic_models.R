# Three kinds of words, used more by one model or the other: enough for topics to be found.
talk_to_prepare <- function(n = 160) {
  withr::local_seed(11)
  kinds <- list(
    c("bias", "fair", "stereotype", "harm", "group"), c("list", "label", "match", "answer", "prompt"),
    c("think", "maybe", "check", "wait", "recall"), c("flower", "sword", "music", "doctor", "office")
  )
  model <- rep(c("a", "b"), length.out = n)
  texts <- vapply(model, function(one) {
    weights <- if (one == "a") c(5, 2, 2, 1) else c(1, 3, 3, 2)
    paste(unlist(lapply(sample(4, 25, TRUE, weights), function(kind) sample(kinds[[kind]], 1))), collapse = " ")
  }, character(1))
  meta <- data.frame(
    model = model, condition = rep(c("compatible", "incompatible"), each = 2, length.out = n),
    test = rep(c("one", "two"), each = 4, length.out = n)
  )
  prepare_topics(unname(texts), meta, lower_thresh = 3)
}

fitted_topics <- function(k = 3, n = 160, prevalence = ~ condition * model, max_em_its = 8, ...) {
  prepared <- talk_to_prepare(n)
  model <- suppressWarnings(fit_topics(prepared, k = k, prevalence = prevalence, max_em_its = max_em_its, ...))
  list(prepared = prepared, model = model)
}

# So that the next call looks for compiled code again.
forget_native_code <- function() {
  functions <- environment(fit_topics)
  loaded <- get("loaded_code", functions)
  rm(list = ls(loaded), envir = loaded)
}
