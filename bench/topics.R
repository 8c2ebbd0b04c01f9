# The topic model of the authors' texts, by slant and as published, in turns and in one process. From the checkout:
#
#   Rscript bench/topics.R ../shared/data/rmiat SEARCH.rds
#
# Prints one JSON object: sizes, seconds of either way, whether both gave the same, proportions. All texts are prepared
# both ways, and fitted by slant; 3,000 documents are fitted both ways, for stm() takes minutes for all. These go to
# SEARCH.rds, too, for search_prepared().
for (file in list.files("R", pattern = "\\.R$", full.names = TRUE)) source(file)
suppressPackageStartupMessages(for (package in c("stm", "tm", "SnowballC")) loadNamespace(package))

tests <- read.csv("collector/studies/rmiat/tests.csv")$test
frames <- read.csv("collector/studies/rmiat/frames.csv")
of_file <- c(
  race_original = "race_greenwald", career_family = "gender_career", math_arts = "gender_math",
  science_arts = "gender_science", mental_physical = "disease_permanence", young_old = "age_valence"
)

read_texts <- function(file, model, frame) {
  rows <- read.csv(file, encoding = "UTF-8", na.strings = character())
  name <- sub("\\.csv$", "", basename(file))
  test <- if (name %in% names(of_file)) of_file[[name]] else name
  labels <- frames[frames$frame == frame & frames$test == test, c("label_a", "label_b")]
  is_compatible <- rows$condition %in% c("Stereotype-Consistent", "Association Compatible")
  found <- data.frame(
    text = if (is.null(rows$thought)) rows$reasoning else rows$thought, model = model,
    condition = ifelse(is_compatible, "compatible", "incompatible"), test = test
  )
  found[rows$attribute %in% unlist(labels), ]
}

read_all <- function(folder) {
  models <- c("DeepSeek-R1" = "api", "Claude3.7" = "api", "GPT-OSS-20B" = "local")
  texts <- lapply(names(models), function(model) {
    files <- list.files(file.path(folder, model), pattern = "\\.csv$", full.names = TRUE)
    do.call(rbind, lapply(files, read_texts, model = model, frame = models[[model]]))
  })
  texts <- do.call(rbind, texts)
  texts$test <- factor(texts$test, levels = tests)
  texts
}

clean_as_published <- function(texts, words) {
  texts <- stringr::str_replace_all(tolower(texts), paste(tolower(words), collapse = "|"), "")
  trimws(gsub("[[:punct:]]", "", texts))
}

seconds <- function(expression) unname(system.time(expression)[["elapsed"]])

prepare_both <- function(texts, words) {
  meta <- texts[c("model", "condition", "test")]
  fast_s <- seconds(prepared <- prepare_topics(topic_texts(texts$text, words), meta))
  published_s <- seconds(published <- prepare_topics(clean_as_published(texts$text, words), meta, "tm"))
  same <- identical(prepared, published)
  list(prepared = prepared, times = list(prepare_s = fast_s, prepare_published_s = published_s, prepared_alike = same))
}

fit_all <- function(prepared) {
  fit_s <- seconds(model <- fit_topics(prepared))
  effects_s <- seconds(effects <- topic_effects(model, prepared$meta, ~ condition * model))
  list(model = model, effects = effects, times = list(fit_s = fit_s, effects_s = effects_s))
}

fit_as_published <- function(prepared) {
  fit_s <- seconds(model <- fit_topics(prepared, engine = "stm"))
  set.seed(1048596)
  effects_s <- seconds(
    effects <- stm::estimateEffect(1:4 ~ condition * model, model, prepared$meta, uncertainty = "Global")
  )
  list(model = model, effects = effects, times = list(fit_s = fit_s, effects_s = effects_s))
}

fit_both <- function(prepared) {
  fast <- fit_all(prepared)
  published <- fit_as_published(prepared)
  same <- identical(fast$model$theta, published$model$theta) &&
    identical(fast$effects$parameters, published$effects$parameters)
  c(
    stats::setNames(fast$times, c("some_fit_s", "some_effects_s")),
    stats::setNames(published$times, c("some_fit_published_s", "some_effects_published_s")), list(fitted_alike = same)
  )
}

# Every tenth or so, so that all models and tests are there; words that are left in none of them are dropped.
some_documents <- function(prepared, n) {
  chosen <- round(seq(1, length(prepared$documents), length.out = n))
  smaller <- stm::prepDocuments(
    prepared$documents[chosen], prepared$vocab, prepared$meta[chosen, ],
    lower.thresh = 0, verbose = FALSE
  )
  smaller[c("documents", "vocab", "meta")]
}

as_json <- function(values) {
  text <- vapply(values, function(value) {
    if (is.logical(value)) return(tolower(value))
    if (is.character(value)) return(dQuote(value, FALSE))
    if (length(value) == 1) format(value, digits = 15) else sprintf("[%s]", toString(format(value, digits = 15)))
  }, character(1))
  sprintf("{%s}", toString(sprintf("\"%s\": %s", names(values), text)))
}

arguments <- commandArgs(trailingOnly = TRUE)
words <- readLines(arguments[[3]])
texts <- read_all(arguments[[1]])
both <- prepare_both(texts, words)
prepared <- both$prepared
small <- some_documents(prepared, 3000)
saveRDS(list(prepared = small, prevalence = ~ condition * model * test, seed = 1048596), arguments[[2]])
invisible(native_code("topic_estep", ""))
all <- fit_all(prepared)
sizes <- list(n_texts = nrow(texts), n_documents = length(prepared$documents), n_words = length(prepared$vocab))
found <- list(engine = all$model$engine, proportions = colMeans(all$model$theta))
cat(as_json(c(sizes, both$times, all$times, fit_both(small), found)), "\n")
