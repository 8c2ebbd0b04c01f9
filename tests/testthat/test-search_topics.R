skip_without_stm()

test_that("a search is stm's searchK, and numbers computed one at a time are the same as together", {
  trials <- made_talk(n = 40)
  prepared <- prepare_topics(trials$reasoning_text, trials[c("condition", "model")], lower_thresh = 5)
  found <- search_topics(prepared, 3:4, ~ condition * model, max_em_its = 5, seed = 7)
  utils::capture.output(expected <- stm::searchK(
    prepared$documents, prepared$vocab,
    K = 3:4, prevalence = ~ condition * model, data = prepared$meta, init.type = "Spectral", max.em.its = 5, seed = 7,
    heldout.seed = 7, verbose = FALSE
  )$results)
  expected <- as.data.frame(lapply(expected, unlist))
  ours <- c(
    "n_topics", "exclusivity", "semantic_coherence", "heldout_likelihood", "residual_dispersion", "bound",
    "lower_bound", "n_steps"
  )
  expect_equal(unname(as.list(found[ours])), unname(as.list(expected)), tolerance = 1e-9)
  alone <- lapply(4:3, function(k) search_topics(prepared, k, ~ condition * model, max_em_its = 5, seed = 7))
  expect_identical(do.call(rbind, rev(alone)), found)
})

test_that("one topic is no number to search", {
  trials <- made_talk()
  prepared <- prepare_topics(trials$reasoning_text, trials["condition"], lower_thresh = 5)
  expect_error(search_topics(prepared, 1, ~condition), "Can't fit one topic.")
})
