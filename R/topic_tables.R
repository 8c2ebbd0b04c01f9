# What can be read from a fitted topic model by itself: its words, how large and how good its topics are, examples.

# The words by which a topic differs from the others (FREX) and those that are most frequent in it, stm's own lists.
topic_words <- function(model, n = 20) {
  labels <- stm::labelTopics(model, n = min(n, length(model$vocab)))
  of_kind <- function(kind) {
    words <- labels[[kind]]
    data.frame(
      topic = rep(seq_len(nrow(words)), each = ncol(words)), kind = kind,
      place = rep(seq_len(ncol(words)), times = nrow(words)), word = as.vector(t(words))
    )
  }
  rbind(of_kind("frex"), of_kind("prob"))
}

topic_quality <- function(model, prepared, n_words = 10) {
  n_words <- min(n_words, length(model$vocab))
  largest <- apply(model$theta, 1, which.max)
  data.frame(
    topic = seq_len(ncol(model$theta)), proportion = colMeans(model$theta),
    n_dominant = tabulate(largest, ncol(model$theta)),
    semantic_coherence = stm::semanticCoherence(model, prepared$documents, M = n_words),
    exclusivity = stm::exclusivity(model, M = n_words, frexw = .7)
  )
}

topic_examples <- function(model, meta, rows, settings) {
  ids <- as.character(rows[[settings$id]])
  one_topic <- function(topic) {
    # The order of rows breaks ties, so that the same data give the same examples.
    best <- utils::head(order(-model$theta[, topic]), settings$n_examples)
    row <- match(meta[[settings$id]][best], ids)
    place <- function(name) if (name %in% names(rows)) as.character(rows[[name]][row]) else NA_character_
    data.frame(
      topic = topic, place = seq_along(best), trial_id = ids[row], model = place("model"), test = place("test"),
      condition = place(settings$contrast), proportion = model$theta[best, topic], text = rows[[settings$text]][row]
    )
  }
  do.call(rbind, lapply(seq_len(ncol(model$theta)), one_topic))
}

# Cohen's d of each model and test, over all answers, also those without a text. NULL where nothing is compared.
topic_cells <- function(data, outcome, contrast, levels) {
  if (is.null(outcome) || !all(c("model", "test") %in% names(data))) {
    return(NULL)
  }
  both <- levels[[contrast]]
  if (is.null(both)) {
    both <- sort(unique(as.character(data[[contrast]])), method = "radix")
  }
  sizes <- effect_size(data[c("model", "test", contrast, outcome)], outcome, contrast, both, by = c("model", "test"))
  sizes$estimates[c("model", "test", "estimate")]
}
