#' Simulate trials to try things with
#'
#' Makes up trials in the columns that [open_trials()] and [read_trials()] give, so that every example and the vignette
#' run without a model, a key or a database. No model was asked: `source` is `"simulated"`, and figures and tables made
#' of these rows say so. For the whole study with simulated answers, use `collect --study rmiat --simulated` in a shell.
#'
#' Tokens follow a log-normal distribution with a part of each wording's own and a known effect of the condition, a few
#' answers are refusals, and reasoning texts are words drawn from three made-up topics whose shares depend on model and
#' condition.
#'
#' @param n_wordings number of wordings; each is asked with eight words in two conditions, for two models and two tests.
#' @param effect what the incompatible condition adds, in tokens (the compatible one has 100 on average).
#' @param seed a whole number: the same seed gives the same trials, and R's own stream of random numbers goes on as if
#'   nothing had been drawn.
#' @param db path of a DuckDB file to write them into, as its view `association_trials` (R's duckdb package does it);
#'   `NULL` writes none.
#' @return A data frame with 64 rows per wording: `source`, `study`, `study_version`, `variant`, `trial_id`, `model`,
#'   `model_label`, `model_no`, `test`, `test_no`, `test_label`, `condition`, `condition_no`, `item`, `wording`,
#'   `option_a`, `option_b`, `answer`, `is_refusal`, `is_valid`, `tokens`, `token_source`, `reasoning_text`.
#' @export
#' @examples
#' trials <- simulate_trials(n_wordings = 2)
#' head(trials[c("model", "test", "condition", "item", "wording", "answer", "tokens")])
simulate_trials <- function(n_wordings = 10, effect = 30, seed = 1, db = NULL) {
  check_arguments()
  trials <- with_seed(seed, {
    trials <- simulated_cells(n_wordings)
    trials$is_refusal <- stats::runif(nrow(trials)) < .03
    trials$is_valid <- !trials$is_refusal
    trials$answer <- ifelse(trials$is_refusal, "I'd rather not say.", trials$expected)
    trials$tokens <- simulated_tokens(trials, effect)
    trials$token_source <- "usage"
    trials$reasoning_text <- simulated_texts(trials)
    trials$trial_id <- sprintf("simulated-%05d", seq_len(nrow(trials)))
    shown <- c(
      "source", "study", "study_version", "variant", "trial_id", "model", "model_label", "model_no", "test", "test_no",
      "test_label", "condition", "condition_no", "item", "wording", "option_a", "option_b", "answer", "is_refusal",
      "is_valid",
      "tokens", "token_source", "reasoning_text"
    )
    trials[shown]
  })
  if (!is.null(db)) write_database(trials, db, "association_trials")
  trials
}

# Every combination of model, test, condition, wording and word, in the order of the database's views.
simulated_cells <- function(n_wordings) {
  tests <- data.frame(
    test = c("flowers_insects", "gender_career"), test_no = c(1L, 6L),
    test_label = c("Flowers/Insects + Pleasant/Unpleasant", "Male/Female + Career/Family"),
    option_a = c("Pleasant", "Career"), option_b = c("Unpleasant", "Family")
  )
  items <- data.frame(
    test = rep(tests$test, each = 8), is_group_a = rep(c(TRUE, FALSE), each = 4, times = 2),
    item = c(
      "aster", "clover", "lilac", "tulip", "ant", "gnat", "moth", "wasp",
      "John", "Paul", "Mike", "Steve", "Amy", "Joan", "Lisa", "Sarah"
    )
  )
  cells <- expand.grid(
    item_no = seq_len(nrow(items)), wording = seq_len(n_wordings), condition = c("compatible", "incompatible"),
    model_no = 1:2, stringsAsFactors = FALSE
  )
  trials <- cbind(cells, items[cells$item_no, ], tests[match(items$test[cells$item_no], tests$test), -1])
  is_a <- trials$is_group_a == (trials$condition == "compatible")
  trials$expected <- ifelse(is_a, trials$option_a, trials$option_b)
  trials$condition_no <- match(trials$condition, c("compatible", "incompatible"))
  trials$model <- c("simulated-a", "simulated-b")[trials$model_no]
  trials$model_label <- c("Simulated A", "Simulated B")[trials$model_no]
  fixed <- list(source = "simulated", study = "rmiat", study_version = "simulated", variant = "base")
  trials[names(fixed)] <- fixed
  in_order <- order(trials$model_no, trials$test_no, trials$condition, trials$wording, trials$item_no)
  structure(trials[in_order, ], row.names = seq_len(nrow(trials)))
}

# The second model shows no effect, so that examples have something to tell apart.
simulated_tokens <- function(trials, effect) {
  of_wording <- stats::rnorm(max(trials$wording), sd = 15)
  is_longer <- trials$condition == "incompatible" & trials$model_no == 1L
  expected <- 100 + of_wording[trials$wording] + effect * is_longer
  as.integer(round(stats::rlnorm(nrow(trials), log(expected) - .4^2 / 2, .4)))
}

# Thirty words a text, each from one of three topics; the incompatible condition brings on the second, and more so in
# the first model.
simulated_texts <- function(trials) {
  topics <- list(
    task = c("task", "sort", "label", "category", "instruct", "follow", "rule", "answer", "choose", "given"),
    bias = c("bias", "stereotype", "implicit", "fair", "harm", "assume", "society", "caution", "refuse", "concern"),
    meaning = c("mean", "usual", "common", "think", "relate", "sense", "nature", "remind", "link", "known")
  )
  share_of_bias <- .15 + .25 * (trials$condition == "incompatible") * ifelse(trials$model_no == 1L, 1, .2)
  vapply(share_of_bias, function(share) {
    shares <- stats::rgamma(3, 8 * c((1 - share) / 2, share, (1 - share) / 2))
    drawn <- sample(3, 30, replace = TRUE, prob = shares / sum(shares))
    words <- vapply(drawn, function(topic) sample(topics[[topic]], 1), character(1))
    paste0("Simulated: ", paste(words, collapse = " "), ".")
  }, character(1))
}
