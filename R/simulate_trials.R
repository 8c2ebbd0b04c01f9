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
    # The second model shows no effect, so that examples have something to tell apart.
    of_wording <- stats::rnorm(max(trials$wording), sd = 15)
    is_longer <- trials$condition == "incompatible" & trials$model_no == 1L
    expected <- 100 + of_wording[trials$wording] + effect * is_longer
    trials$tokens <- as.integer(round(stats::rlnorm(nrow(trials), log(expected) - .4^2 / 2, .4)))
    trials$token_source <- "usage"
    # Each text is from one of three topics; the incompatible condition brings on the second, in the first model more.
    topics <- list(
      task = c("task", "sort", "label", "category", "instruct", "follow", "rule", "answer", "choose", "given"),
      bias = c("bias", "stereotype", "implicit", "fair", "harm", "assume", "society", "caution", "refuse", "concern"),
      meaning = c("mean", "usual", "common", "think", "relate", "sense", "nature", "remind", "link", "known")
    )
    share_of_bias <- .15 + .25 * (trials$condition == "incompatible") * ifelse(trials$model_no == 1L, 1, .2)
    trials$reasoning_text <- vapply(share_of_bias, function(share) {
      shares <- stats::rgamma(3, 8 * c((1 - share) / 2, share, (1 - share) / 2))
      drawn <- sample(3, 30, replace = TRUE, prob = shares / sum(shares))
      words <- vapply(drawn, function(topic) sample(topics[[topic]], 1), character(1))
      paste0("Simulated: ", paste(words, collapse = " "), ".")
    }, character(1))
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

#' Simulate trials of the interference study with known parameters
#'
#' Makes up the trials of a forced-choice IAT in the columns of the database's view `forced_choice_trials`, for
#' participants whose parameters are known: for examples, for tests, and to see what an analysis recovers. No model was
#' asked: `source` is `"simulated"`. [simulate_trials()] does the same for the study `rmiat`.
#'
#' Every word is shown to every model in both conditions. An answer is valid, and a valid one consistent, with the
#' probability of its cell, moved in log odds by the word's own intercept, which all models and conditions share (the
#' paper's equations 5 and 10). As in the study itself, the consistent option is A for half the words, the same in both
#' conditions and the other letter in the next repetition; trials are shuffled within blocks, and the congruent block
#' comes first in one test and second in the other.
#'
#' @param parameters one row per model, test and condition, such as [forced_choice_parameters()].
#' @param n_words words per group; the paper has 20, which makes 160 trials per model and test.
#' @param repetitions how often each trial is asked.
#' @param seed a whole number: the same seed gives the same trials, and R's own stream of random numbers goes on as if
#'   nothing had been drawn.
#' @param db path of a DuckDB file to write them into, as its view `forced_choice_trials` (R's duckdb package does it);
#'   `NULL` writes none.
#' @return A data frame with one row per trial, in the columns and the order of the view `forced_choice_trials`: among
#'   them `model`, `test`, `condition`, `item`, `is_valid`, `is_consistent` (`NA` unless valid), `outcome`, `position`.
#' @source Cohen & Kincaid (2026), section 2.2 and equations 4 to 10.
#' @export
#' @examples
#' trials <- simulate_forced_choice(n_words = 2)
#' head(trials[c("model", "test", "condition", "word", "chosen_letter", "outcome", "is_valid",
#'   "is_consistent")])
#' # Claude Sonnet-4 finds the incongruent career condition hard:
#' stats::aggregate(is_consistent ~ condition + test + model, simulate_forced_choice(), mean)
simulate_forced_choice <- function(parameters = forced_choice_parameters(), n_words = 20, repetitions = 1, seed = 1,
                                   db = NULL) {
  check_arguments()
  needed <- c("model", "test", "condition", "p_valid", "p_consistent", "sd_item_valid", "sd_item_consistent")
  check_columns(parameters, needed, to = "simulate trials")
  trials <- with_seed(seed, {
    groups <- list(
      gender_career = c("Male", "Female", "Career", "Family"), gender_science = c("Male", "Female", "Science", "Arts")
    )
    tests <- unique(as.character(parameters$test))
    unknown <- setdiff(tests, names(groups))
    if (length(unknown) > 0) {
      stop_with(
        sprintf("Can't simulate trials: there is no test %s.", quoted(unknown)),
        sprintf("Tests there are: %s.", toString(names(groups)))
      )
    }
    items <- do.call(rbind, lapply(tests, function(test) {
      data.frame(test = test, group = rep(groups[[test]], each = n_words), word_no = seq_len(n_words))
    }))
    items$word <- sprintf("%s %d", tolower(items$group), items$word_no)
    by_group <- paste(items$test, items$group)
    items$letter_no <- stats::ave(stats::runif(nrow(items)), by_group, FUN = rank) %% 2
    items$of_valid <- stats::rnorm(nrow(items), sd = parameters$sd_item_valid[[1]])
    items$of_consistent <- stats::rnorm(nrow(items), sd = parameters$sd_item_consistent[[1]])
    rows <- expand.grid(
      item_no = seq_len(nrow(items)), cell = seq_len(nrow(parameters)), repetition = seq_len(repetitions)
    )
    rows <- rows[items$test[rows$item_no] == parameters$test[rows$cell], ]
    planned <- cbind(parameters[rows$cell, needed], repetition = rows$repetition, items[rows$item_no, -1])
    shown_trials(answered_trials(planned))
  })
  if (!is.null(db)) write_database(trials, db, "forced_choice_trials")
  trials
}

answered_trials <- function(trials) {
  n <- nrow(trials)
  drawn <- function(p, of_item) stats::runif(n) < stats::plogis(stats::qlogis(p) + of_item)
  trials$is_valid <- drawn(trials$p_valid, trials$of_valid)
  is_consistent <- drawn(trials$p_consistent, trials$of_consistent)
  trials$outcome <- ifelse(trials$is_valid, "answered", ifelse(stats::runif(n) < .7, "refused", "malformed"))
  trials$is_consistent <- ifelse(trials$is_valid, is_consistent, NA)
  cell <- group_codes(trials, c("model", "test", "condition", "repetition"))
  trials$position_in_block <- as.integer(stats::ave(stats::runif(n), cell, FUN = rank))
  trials$test_no <- match(trials$test, names(example_tests()))
  is_second <- (match(trials$condition, example_conditions()) + trials$test_no + trials$repetition) %% 2
  trials$block_position <- as.integer(1 + is_second)
  trials$consistent_letter <- c("A", "B")[1 + (trials$letter_no + trials$repetition - 1) %% 2]
  other <- ifelse(trials$consistent_letter == "A", "B", "A")
  trials$chosen_letter <- ifelse(trials$is_valid, ifelse(is_consistent, trials$consistent_letter, other), NA)
  trials
}

# The columns of the view, in its order of columns and rows.
shown_trials <- function(trials) {
  labels <- c(example_models(), example_tests())
  label <- function(id) ifelse(id %in% names(labels), labels[id], id)
  first <- unname(c(gender_career = "Career", gender_science = "Science")[trials$test])
  second <- unname(c(gender_career = "Family", gender_science = "Arts")[trials$test])
  is_crossed <- trials$condition == "incongruent"
  male <- paste("Male +", ifelse(is_crossed, second, first))
  female <- paste("Female +", ifelse(is_crossed, first, second))
  is_in_male <- trials$group == "Male" | trials$group == ifelse(is_crossed, second, first)
  consistent_is_a <- trials$consistent_letter == "A"
  male_is_a <- is_in_male == consistent_is_a
  pairs <- data.frame(option_a = ifelse(male_is_a, male, female), option_b = ifelse(male_is_a, female, male))
  answers <- c(answered = "", refused = "I'd rather not sort this word.", malformed = "{\"answer\": \"A or B\"}")
  models <- unique(c(intersect(names(example_models()), trials$model), trials$model))
  shown <- data.frame(
    source = "simulated", study = "simulated", study_version = "simulated", variant = "base",
    run_id = "simulated", trial_id = "",
    model = trials$model, model_label = label(trials$model),
    model_no = match(trials$model, models),
    test = trials$test, test_label = label(trials$test),
    test_no = trials$test_no,
    condition = trials$condition, condition_label = trials$condition,
    condition_no = match(trials$condition, example_conditions()),
    participant = NA_integer_,
    item = paste0(trials$test, ": ", trials$word), word = trials$word,
    group = trials$group, tier = "made_up", wording = 1L, repetition = as.integer(trials$repetition),
    position = 0L,
    block_position = trials$block_position, position_in_block = trials$position_in_block, pairs,
    consistent_letter = trials$consistent_letter, chosen_letter = trials$chosen_letter,
    answer = ifelse(trials$is_valid, sprintf("{\"answer\": \"%s\"}", trials$chosen_letter), answers[trials$outcome]),
    outcome = trials$outcome, is_valid = trials$is_valid, is_refusal = trials$outcome == "refused",
    first_option = pairs$option_a, is_consistent = trials$is_consistent,
    p_consistent = NA_real_, option_a_logprob = NA_real_, option_b_logprob = NA_real_, logprob_kind = NA_character_,
    structured_output = FALSE, tokens = NA_integer_,
    token_source = NA_character_, latency_s = NA_real_, response_time_ms = NA_real_, is_error = NA,
    phase = NA_character_, cost_usd = 0, served_model = trials$model,
    served_model_differs = FALSE,
    domain = trials$test, domain_label = label(trials$test), domain_no = trials$test_no,
    block = trials$condition, block_label = trials$condition, block_no = match(trials$condition, example_conditions()),
    category = trials$group
  )
  in_order <- order(shown$repetition, shown$test_no, shown$block_position, shown$position_in_block)
  shown$position[in_order] <- as.integer(stats::ave(in_order, shown$model[in_order], FUN = seq_along)) - 1L
  shown <- shown[order(shown$model_no, shown$test_no, shown$position), ]
  shown$trial_id <- sprintf("simulated-%06d", seq_len(nrow(shown)))
  structure(shown, row.names = seq_len(nrow(shown)))
}

# A file that open_trials() opens; a collector's own holds much more.
write_database <- function(trials, path, view) {
  need_duckdb()
  if (file.exists(path)) {
    stop_with(sprintf("Can't write simulated trials to %s: the file already exists.", quoted(path)))
  }
  connection <- without_dbplyr_note(DBI::dbConnect(duckdb::duckdb(shared_home = FALSE), dbdir = path))
  on.exit(DBI::dbDisconnect(connection, shutdown = TRUE))
  DBI::dbWriteTable(connection, "simulated_trials", trials)
  DBI::dbExecute(connection, sprintf("CREATE VIEW %s AS SELECT * FROM simulated_trials ORDER BY trial_id", view))
}
