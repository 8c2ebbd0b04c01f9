# What must hold before topics can be fitted, each with a sentence that says what to change.

# The arguments of fit_stm(), checked, as one list.
topic_settings <- function(data, formula = "~ condition * model * test", effects = "~ condition * model",
                           text = "reasoning_text", id = "trial_id", outcome = NULL, contrast = "condition",
                           levels = NULL, topics = 4, removed_words = character(), lower_thresh = 300, max_em_its = 50,
                           seed = 1048596, preprocessing = "fast", n_examples = 5, reasoning_kind = NULL,
                           save_to = NULL, say = NULL) {
  for (package in c("stm", "tm", "SnowballC")) {
    need_package(package, "fit topics")
  }
  check_columns(data, character(), to = "fit topics")
  formulas <- lapply(list(prevalence = formula, effects = effects), function(text) {
    text <- checked_formula(text, names(data))
    if (length(text) != 2) {
      stop_with(
        sprintf("Can't fit topics with %s.", quoted(deparse1(text))),
        "The formula must begin with ~, and have no outcome."
      )
    }
    text
  })
  if (!contrast %in% all.vars(formulas$effects)) {
    stop_with(sprintf("Can't contrast \"%s\": the formula of the effects lacks it.", contrast))
  }
  covariates <- unique(c(all.vars(formulas$prevalence), all.vars(formulas$effects), contrast))
  check_columns(data, c(text, id, outcome, covariates), to = "fit topics")
  list(
    formulas = formulas, covariates = covariates, text = text, id = id, contrast = contrast,
    levels = lapply(as.list(levels), function(values) as.character(unlist(values))), topics = topic_number(topics),
    removed_words = as.character(unlist(removed_words)), lower_thresh = lower_thresh, max_em_its = max_em_its,
    seed = seed, preprocessing = preprocessing, n_examples = n_examples, save_to = save_to, say = progress_writer(say),
    is_watched = !is.null(say)
  )
}

# A path instead of a function: there anyone can read the words.
progress_writer <- function(say) {
  if (is.null(say)) {
    return(function(text) NULL)
  }
  if (is.function(say)) say else function(text) try(suppressWarnings(writeLines(text, say)), silent = TRUE)
}

topic_number <- function(topics) {
  number <- suppressWarnings(as.numeric(unlist(topics)))
  if (length(number) != 1 || is.na(number) || number != round(number) || number < 2) {
    stop_with(
      sprintf("Can't fit %s.", if (identical(number, 1)) "one topic" else sprintf("%s topics", quoted(unlist(topics)))),
      "The number of topics must be a whole number of at least 2: one topic would be all the texts there are."
    )
  }
  as.integer(number)
}

# Sorted by radix where no list is given: the reference level must not depend on the locale.
covariate_factors <- function(meta, levels) {
  for (name in names(meta)) {
    if (is.numeric(meta[[name]])) next
    values <- as.character(meta[[name]])
    listed <- if (is.null(levels[[name]])) sort(unique(values), method = "radix") else levels[[name]]
    check_listed(values, listed, name)
    meta[[name]] <- factor(values, levels = listed[listed %in% values])
    if (nlevels(meta[[name]]) < 2) {
      stop_with(
        sprintf("Can't fit topics by \"%s\": it is \"%s\" in all %d texts.", name, values[[1]], length(values)),
        "A covariate must have at least two values among the rows with a text: take it out of the formula, or add rows."
      )
    }
  }
  meta
}

check_documents <- function(texts, lower_thresh) {
  n_left <- sum(nzchar(texts))
  if (n_left == 0) {
    stop_with(sprintf("Can't fit topics: of %s, none has a word left after cleaning.", counted(length(texts), "text")))
  }
  if (n_left == 1) {
    stop_with("Can't fit topics to one document.", "There must be several texts that share words.")
  }
  if (n_left <= lower_thresh) {
    stop_with(
      sprintf("Can't fit topics to %d documents: a word must be in more than %g of them.", n_left, lower_thresh),
      "Lower the threshold: lower_thresh (in the study file: lower_thresh of the fit), say 1 % of the documents."
    )
  }
}

check_prepared <- function(prepared, settings) {
  n_words <- length(prepared$vocab)
  n_documents <- length(prepared$documents)
  if (n_documents < 2 || n_words <= settings$topics) {
    stop_with(
      sprintf(
        "Can't fit %d topics: %s and %s are left.",
        settings$topics, counted(n_documents, "document"), counted(n_words, "word")
      ),
      sprintf("There must be more words than topics, each in more than %g documents.", settings$lower_thresh)
    )
  }
  # A level may have lost its last document to the cleaning.
  covariate_factors(prepared$meta[settings$covariates], NULL)
}

# What the text of a reasoning is: the reasoning itself (raw), or a summary that its provider wrote. Words of the two
# are never put together.

# `data` without the texts of another kind than `wanted` (NULL: the raw ones, where there are any), and how many that
# were. An unknown kind is taken for raw. Data without the column `reasoning_kind` are left as they are.
texts_of_one_kind <- function(data, text = "reasoning_text", wanted = NULL) {
  if (!is.null(wanted)) one_of(wanted, c("raw", "summary"), "reasoning_kind")
  if (text != "reasoning_text" || !all(c(text, "reasoning_kind") %in% names(data))) {
    return(list(data = data, kind = NULL, n_others = 0L))
  }
  kinds <- as.character(data$reasoning_kind)
  kinds[is.na(kinds)] <- "raw"
  has_text <- !is.na(data[[text]])
  kind <- if (!is.null(wanted)) wanted else if (any(kinds[has_text] == "raw")) "raw" else "summary"
  is_other <- has_text & kinds != kind
  data[[text]][is_other] <- NA
  list(data = data, kind = kind, n_others = sum(is_other))
}

# Says it if a person can read it; as a warning, for it changes what the texts are of.
say_of_kind <- function(of_kind) {
  if (of_kind$n_others > 0) {
    others <- setdiff(c("raw", "summary"), of_kind$kind)
    warning(sprintf(
      "%s left out, which are of the kind \"%s\": a fit is of texts of one kind, here \"%s\" (reasoning_kind).",
      counted(of_kind$n_others, "text"), others, of_kind$kind
    ), call. = FALSE)
  } else if (identical(of_kind$kind, "summary")) {
    message("The texts are summaries that their providers wrote, not the reasoning itself (reasoning_kind).")
  }
}
