#' Topics in the reasoning, and how they go with model, condition and test
#'
#' The topic model of the RM-IAT paper (Tables S13 and S14): texts are cleaned of the stimuli and prepared as
#' `stm::textProcessor()` does it, `stm::stm()` fits the topics from a spectral start, and `stm::estimateEffect()`
#' regresses their proportions. Rows without a text take no part (o3-mini shows none). Topics have no fixed order: tell
#' them by their words.
#'
#' stm's E-step is compiled at its first use, if R has a C++ compiler: the same bits in a twentieth of the time.
#'
#' What comes from sampling (`estimates`, and the intervals of `prevalence`) is drawn after `set.seed(seed)`, as package
#' stm draws it. `contrasts` are the mean and the variance of the mixture that stm samples from, without sampling.
#'
#' @param data a data frame with one row per answer, refusals already removed: the covariates of `formula`, and the
#'   columns that `text`, `id`, `outcome` and `contrast` name.
#' @param formula the covariates of topic prevalence in the model, as text or as a one-sided formula.
#' @param effects the covariates of the regression of topic proportions: `contrast`, and `model` if there is one.
#' @param text name of the column with the reasoning as the model wrote it.
#' @param id name of a column that tells the answers apart.
#' @param outcome name of the numeric column of which Cohen's d is computed, to set next to the shift of a topic;
#'   `NULL` for none.
#' @param contrast name of the column with the two conditions.
#' @param levels a named list of levels, the reference first. A covariate without one is sorted.
#' @param topics number of topics: 2 or more.
#' @param removed_words words to delete from the texts, such as the stimuli.
#' @param reasoning_kind where `data` have a column `reasoning_kind`, which of these texts take part: `"raw"` or
#'   `"summary"`, for the two are never put together. `NULL` takes the raw ones, or summaries where there are no others;
#'   a text of unknown kind (an import) is taken for a raw one.
#' @param n_examples number of example documents for each topic.
#' @param save_to path of an `.rds` file for the fitted model (see [read_topics()]), or `NULL` to keep none.
#' @param say a function that gets, in words, what is being done; or the path of a file to write it to.
#' @param lower_thresh words in this many documents or fewer are left out.
#' @param max_em_its upper limit of steps.
#' @param seed a whole number: of the draws from the documents' posterior.
#' @param preprocessing `"fast"`, or `"tm"` for the published route; both give the same documents, words and rows.
#' @return A [slant_fit], as of [fit_lme4()] (`estimates` are the coefficients of `effects`, with terms such as
#'   `"topic 3: conditionincompatible"`; `models$all` is stm's model) with `tables`, a list of data frames:
#'   \describe{
#'     \item{topics}{`topic`, `proportion` (mean over documents), `n_dominant` (documents in which it is the largest),
#'       `semantic_coherence` and `exclusivity` (10 words, FREX weight .7).}
#'     \item{words}{`topic`, `kind` (`"frex"`, `"prob"`), `place`, `word` (a stem): 20 of each.}
#'     \item{prevalence}{`scope` (`"model"`, `"condition"`, `"test"`, `"model x condition"`), `topic`, `model`,
#'       `condition`, `test` (`NA`: not distinguished), `estimate`, `conf_low`, `conf_high` (95 %).}
#'     \item{contrasts}{second condition minus first, by `topic` and `model` (`NA`: all together): `estimate`,
#'       `std_error`, `df`, `statistic`, `p_value`, `p_holm`, `p_bh`, `conf_low`, `conf_high`.}
#'     \item{shifts}{`lm(proportion ~ contrast)` by `topic`, `model` and `test`, with `cohens_d` of the same cell.}
#'     \item{correlations}{Pearson's `r` of shift and d over cells, by `topic` and `model` (`NA`: all).}
#'     \item{examples}{the documents in which a topic is largest: `place`, `id`, `proportion`, `text`.}
#'     \item{model}{one row: numbers of topics, documents, words and steps, whether it converged, seed, file.}
#'   }
#' @source Lee & Lai (2025), Tables S13 and S14; shifts and correlations: the authors' later repository.
#' @export
#' @examplesIf requireNamespace("stm", quietly = TRUE) && requireNamespace("tm", quietly = TRUE)
#' set.seed(1)
#' trials <- expand.grid(
#'   item = 1:30, condition = c("compatible", "incompatible"), model = c("a", "b"),
#'   test = c("one", "two"),
#'   stringsAsFactors = FALSE
#' )
#' trials$trial_id <- as.character(seq_len(nrow(trials)))
#' trials$tokens <- rpois(nrow(trials), 80)
#' words <- c("biased", "fair", "groups", "names", "think", "pairing", "rules", "tasks",
#'   "stereotype", "simple")
#' trials$reasoning_text <- replicate(nrow(trials),
#'   paste(sample(words, 12, replace = TRUE), collapse = " "))
#' fit <- fit_stm(trials, topics = 2, lower_thresh = 1, max_em_its = 5)
#' fit$tables$topics
fit_stm <- function(data, formula = "~ condition * model * test", effects = "~ condition * model",
                    text = "reasoning_text", id = "trial_id", outcome = "tokens", contrast = "condition",
                    levels = NULL, topics = 4, removed_words = character(), lower_thresh = 300, max_em_its = 50,
                    seed = 1048596, preprocessing = "fast", n_examples = 5, reasoning_kind = NULL, save_to = NULL,
                    say = NULL) {
  check_arguments()
  arguments <- as.list(environment())
  settings <- do.call(topic_settings, arguments, quote = TRUE)
  tables <- NULL
  of_kind <- texts_of_one_kind(data, text, reasoning_kind)
  fit_one <- function(rows) {
    say_of_kind(of_kind)
    cells <- topic_cells(data, outcome, contrast, settings$levels)
    fit <- with_seed(settings$seed, with_treatment_contrasts(fit_topic_model(rows, settings, cells)))
    tables <<- fit$tables
    fit
  }
  # A token count is compared within a model only, so that counts of several kinds are no reason to warn.
  analysed <- of_kind$data[setdiff(names(data), "token_source")]
  fitted <- fit_each_group(analysed, NULL, c(text, id, settings$covariates), fit_one)
  slant_fit(c(fitted, list(tables = with_study_labels(tables, data))), c("stm", "tm", "SnowballC"))
}

fit_topic_model <- function(rows, settings, cells) {
  force(cells) # what is wrong with them is said before minutes are spent
  prepared <- prepared_topics(rows, settings)
  documents <- format(length(prepared$documents), big.mark = ",")
  say_step <- function(step) {
    settings$say(sprintf(
      "Fitting %d topics to %s documents: step %d of at most %g", settings$topics, documents, step, settings$max_em_its
    ))
  }
  say_step(0)
  model <- fit_topics(
    prepared,
    k = settings$topics, prevalence = settings$formulas$prevalence, max_em_its = settings$max_em_its,
    seed = settings$seed, say = if (settings$is_watched) say_step
  )
  settings$say("Regressing topic proportions on model, condition and test")
  effects <- topic_effects(model, prepared$meta, settings$formulas$effects, seed = settings$seed)
  tables <- c(
    list(
      model = data.frame(
        n_topics = model$settings$dim$K, n_documents = length(prepared$documents), n_words = length(prepared$vocab),
        n_steps = length(model$convergence$bound), is_converged = isTRUE(model$convergence$converged),
        bound = utils::tail(model$convergence$bound, 1), seed = as.integer(settings$seed)
      ),
      topics = topic_quality(model, prepared)
    ),
    list(words = topic_words(model)), topic_regressions(model, effects, prepared$meta, settings),
    topic_shifts(model, prepared$meta, settings$contrast, cells),
    list(examples = topic_examples(model, prepared$meta, rows, settings))
  )
  saved <- save_topics(model, prepared, tables, settings)
  tables$model <- cbind(tables$model, saved)
  list(
    estimates = effect_coefficients(effects, settings$seed), tables = tables, model = model,
    fit = list(
      n_groups = model$settings$dim$K, log_lik = tables$model$bound, singular = FALSE, optimiser = "stm, spectral"
    )
  )
}

# Computes `expression` with factors coded as treatment contrasts, whatever R's options say.
with_treatment_contrasts <- function(expression) {
  old <- options(contrasts = c("contr.treatment", "contr.poly"))
  on.exit(options(old))
  expression
}

# The documents, with the covariates as factors; stops with a sentence where no model can be fitted to them.
prepared_topics <- function(rows, settings) {
  meta <- covariate_factors(rows[settings$covariates], settings$levels)
  known <- levels(meta[[settings$contrast]])
  if (length(known) != 2) {
    stop_with(
      sprintf("Can't contrast \"%s\": it has %d values, but a contrast is of two.", settings$contrast, length(known)),
      sprintf("They are: %s. Leave out the rows of all but two.", quoted(known))
    )
  }
  meta[[settings$id]] <- as.character(rows[[settings$id]])
  settings$say(sprintf("Cleaning %s texts", format(nrow(rows), big.mark = ",")))
  texts <- topic_texts(rows[[settings$text]], settings$removed_words)
  check_documents(texts, settings$lower_thresh)
  prepared <- prepare_topics(texts, meta, settings$preprocessing, lower_thresh = settings$lower_thresh)
  check_prepared(prepared, settings)
  prepared
}
